/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callflow.h - exact call trees of a recording: creates the memory in which processes keep them, and
 * writes its contents to the trace.
 */
#ifndef COLLECT_CALLFLOW_H
#define COLLECT_CALLFLOW_H

#include "calibrate/table.h"
#include "callflow/layout.h"
#include "collect/calls/slowcalls.h"
#include "collect/engine/modules.h"
#include "collect/engine/tasks.h"
#include "collect/parts/sources.h"
#include "jvm/server.h"

struct callflow_opts {
	bool on;
	struct callflow_layout layout;	/* of each process; rules are borrowed */
	const char *names[CALLFLOW_MAX_METRICS], *units[CALLFLOW_MAX_METRICS];
	/*
	 * The costs of each metric in the form of calibrate/table.h, "" for none: native functions first,
	 * then JVMs. Only those have tiers, if the recording knows them (CALLFLOW_TIERS); the first is then
	 * of calls whose tier is not known.
	 */
	struct callflow_costs {
		char jvm[CALIBRATION_NAME];	/* calibration_jvm() */
		char costs[CALIBRATION_NR_TIERS][CALLFLOW_MAX_METRICS][160];
	} calibration[1 + CALIBRATION_JVMS];
	uint32_t nr_calibrated_jvms;
	/* why there are no costs of native functions, and of Java methods; "": nothing was measured */
	char uncalibrated[2][320];
	/* The other environment in which these were measured; "": this one. */
	char measured_in[2][CALIBRATION_NAME];
	uint64_t snapshot_ns;		/* interval of snapshots; 0: as often as they cost nearly nothing */
	struct slow_rules *slow;	/* of the events, only these; borrowed; NULL: all */
};

/* The counts of a process for a tree beside its nodes. */
struct callflow_counts {
	uint64_t kernel_cpu_ns, popped, inserted, over_range, folded, folded_recursion, thrown, missed;
	uint64_t mounts, lost_events;
};

struct callflow_result {
	uint64_t nr_procs, nr_trees, nr_nodes, nr_calls;
	uint64_t nr_folded;		/* calls in [pruned] */
	uint64_t lost_calls;		/* of threads that found no room */
	uint64_t refused_threads[CALLFLOW_MAX_METRICS];	/* for which the metric was unavailable */
	uint64_t slow_threads;		/* whose CPU time took a system call each */
	uint64_t merged_threads;	/* that went on with the tree of one that had ended */
	uint64_t nr_events;
	uint64_t lost_events, told_events;	/* not in the trace's count yet; in it */
	uint64_t nr_damaged;		/* invalid nodes and threads */
};

struct callflows {
	const struct callflow_opts *o;
	struct callflow_result *res;
	struct trace_writer *w;
	struct tasks *tasks;
	struct modules *modules;
	struct sources *sources;		/* numbers classes of objects; set after callflows_init() */
	struct callflow_proc *procs;
	uint32_t nr_trees, nr_consumers;	/* numbers given out */
	uint64_t tsc, ns;			/* the same moment */
	uint64_t ratio;				/* of events: one for all of a recording; 0 not known yet */
	uint64_t written_ns;			/* time of the last snapshot */
	uint64_t rest_ns;			/* least time to the next one that nobody asked for */
	uint64_t look_ns;			/* when to look at threads' CPU time again */
	bool shut;				/* what trees count now is not recorded */
	bool turns;				/* and there may be such times */
	uint64_t turn_ns;			/* when the last change began, */
	uint64_t cuts_ns, nr_cuts;		/* how long after it trees were cut, in total, and how many */
	/* of a recording in several: the current file, from 1, and when it began; 0: there is one */
	uint32_t file;
	uint64_t file_ns;
	uint32_t *consumer_file;		/* [consumer]: the last file that has it */
	size_t nr_consumer_file, alloc_consumer_file;
};

/*
 * Make an area in shared memory with that layout; return its descriptor and, in *out, its mapping, both for
 * the caller to release; -1 without memory.
 */
int callflow_make_area(const struct callflow_layout *l, struct callflow_area **out, uint64_t *bytes);

void callflows_init(struct callflows *f, const struct callflow_opts *o, struct tasks *t, struct modules *m,
		    struct trace_writer *w, struct callflow_result *res);
void callflows_release(struct callflows *f);

/* Write labels of what the trees count. */
void callflows_labels(const struct callflows *f);
/*
 * Make an area for process p; return its descriptor, for the caller to close, or -1. The first call waits
 * some milliseconds, to measure the speed of the time stamp counter.
 */
int callflows_new(struct callflows *f, struct jvm *jvm, struct proc *p, uint64_t *bytes);
/* Return whether the rules want the function at addr of the process counted. */
bool callflows_function(struct callflows *f, struct jvm *jvm, uint64_t addr);
/* Note the name of a method of the process. */
void callflows_method(struct callflows *f, struct jvm *jvm, const struct jvm_method *m);
/* Write the rest of a process's area, and release it. */
void callflows_end(struct callflows *f, struct jvm *jvm);
/* Write the available events; must be called often. */
void callflows_drain(struct callflows *f);
/*
 * Write a snapshot if one is due: what was added since the last one. Without an interval one is due every
 * two seconds, so that a killed recorder loses only the last calls. Large snapshots are rarer: they take
 * at most a hundredth of the time, and 64 KiB of the file a second.
 */
void callflows_snapshot(struct callflows *f);
/* Write a snapshot now. */
void callflows_store(struct callflows *f);
/*
 * Begin or end recording what trees count; they count on meanwhile. So each part of what they count is in the
 * trace or not, to the call, and what an open call consumes as far as it passed while they were recorded.
 * Return the mean of the moments at which trees were cut.
 */
uint64_t callflows_turn(struct callflows *f, bool on);

/*
 * Must be called if the recording will have several files: what each needs of names and contexts is written
 * to each.
 */
void callflows_in_files(struct callflows *f);
/* Write a snapshot, and what else the ending file has of calls. */
void callflows_end_file(struct callflows *f);
/* Label how many calls were slow in the file, when labels are its own. */
void callflows_label_file(struct callflows *f);
/* Begin another file at that time, after callflows_end_file(): what is stored from now on is in it. */
void callflows_next_file(struct callflows *f, uint64_t now_ns);

/* The totals of the trees, stored or not. */
struct callflow_count {
	uint64_t nr_calls, nr_contexts, nr_threads;
};
void callflows_count(const struct callflows *f, struct callflow_count *n);
/* Write the rest of all areas at the end of the recording. */
void callflows_finish(struct callflows *f);

#endif
