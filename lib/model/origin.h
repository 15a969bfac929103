/* SPDX-License-Identifier: GPL-2.0-or-later */
/* origin.h - where a model came from, for the first lines of a report. */
#ifndef MODEL_ORIGIN_H
#define MODEL_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blend;
struct names;

/* one of the recordings in a merged trace */
struct recording {
	uint64_t start_ns;		/* CLOCK_REALTIME; 0: not known */
	uint64_t duration_ns;		/* 0: not known */
	uint64_t lost;			/* samples */
	const char *host, *command;	/* NULL: not known */
};

/* A metric that was not recorded all the time. */
struct origin_share {
	const char *metric;
	uint64_t on_ns;			/* so long it was, of the origin's duration */
	bool is_calls;			/* all metrics of exact calls */
};

struct origin_fact {
	const char *key;
	double value;
};

/* An event's amount by another count than that of samples, and what these have of it. */
struct origin_account {
	const char *metric;		/* of the event */
	const char *what, *unit;	/* "CPU time", "ns" */
	uint64_t counted, sampled;
	uint64_t weight;		/* of a sample; 0: not known */
	const char *why;		/* not all is sampled; NULL: not known */
};

enum { ORIGIN_MAX_ACCOUNTS = 8 };

/* The source of the model; its creator owns the strings. */
struct origin {
	const char *command, *host, *machine;	/* NULL: not known */
	uint64_t start_ns;		/* CLOCK_REALTIME; 0: not known */
	uint64_t duration_ns;		/* 0: not known */
	uint64_t lost;			/* samples that are not in the model */
	uint64_t stopped_ns;		/* after the beginning: the trace was full; 0: it was not */
	uint64_t nr_after;		/* so much came then */
	uint64_t throttled;		/* times the kernel held the event back */
	uint64_t skipped;		/* hits without a sample: the samples after them have their weight */
	struct origin_account accounts[ORIGIN_MAX_ACCOUNTS];	/* in order of the events */
	size_t nr_accounts;
	/* threads that had a CPU, by the account of CPU time, without arcprof's own; 0: not known */
	uint64_t nr_lived;
	bool more_lived;		/* and some that it knows as a sum alone */
	uint64_t nr_local_modules;	/* named by this machine's files, not by the trace */
	double rate_hz;			/* samples of the first event shown, per second of CPU time; 0:
					 * not known */
	const char *rate_mode;		/* "user", "kernel": of the time in that code; NULL: of all */
	bool tick_bound;		/* of CPU timers: at most one sample a tick */
	uint64_t period;		/* of the first event shown; 0: not known */
	const char *period_event, *period_unit;	/* that event; what the period counts, NULL: events */
	/* virtual threads of which is known what they did while no thread carried them; 0: of none */
	uint64_t nr_virtual, virtual_ns, mounted_ns;	/* their number, lives, and what they were carried */
	uint32_t nr_cpus;
	bool is_trace;			/* not a text input */
	const char *hprof;		/* options of HPROF with which it was recorded; NULL: others */
	const char *imported;		/* the other program's format; NULL: arcprof recorded it */
	const char *unknown;		/* what that does not say, separated by ", "; NULL: nothing */
	bool modes_unknown;		/* nor whether a sample was taken in user mode or in the kernel */
	const char *const *notes;	/* what else must be known of it */
	size_t nr_notes;
	const struct origin_fact *facts;	/* what notes say in numbers, for programs */
	size_t nr_facts;
	const struct origin_share *shares;
	size_t nr_shares;
	const struct recording *parts;	/* that were merged, by their start */
	size_t nr_parts;		/* 0: this is a recording itself */
	const char *merged_by;		/* "add", "subtract" or "minimum" */
	uint64_t below_zero;		/* values after subtraction, which are in metrics "minus-..." */
	const struct blend *blend;	/* calls and samples are of two recordings; NULL: of one */
	const char *const *deadlocks;	/* that were noticed in JVMs */
	size_t nr_deadlocks;
	const struct name_trigger *triggers;	/* why it was kept, by time */
	size_t nr_triggers;
	uint64_t begin_ns;		/* CLOCK_MONOTONIC, of what their times are shown after */
	const char *const *refused;	/* what was requested and not recorded, and why */
	size_t nr_refused;
	const char *const *outside;	/* JVMs whose stacks the recorder has walked itself, and why */
	size_t nr_outside;
	const char *not_shown;		/* samples of other events, which were not requested; NULL: none */
	/* what else was recorded: events of JVMs and marks, with commas (NULL: none), labels, dispatches */
	const char *jvm_events;
	bool has_labels, has_dispatches;
	const char *calibration;	/* of exact calls: what was done, or why not; NULL for others */
	uint64_t over_corrected;	/* contexts and metrics that were left with nothing */
	uint64_t nr_left_out;		/* samples, by the filter with which the trace was read */
	uint64_t own_ns;		/* of the metric wall, left out: arcprof's own threads, */
	uint32_t nr_own;		/* so many */
	/* what a filter left out while it was recorded */
	const struct name_filter *filters;
	size_t nr_filters;
	uint64_t nr_missing;		/* samples in calls that the tree of calls does not have */
	/* samples of the first event, before the selection by time and CPU; 0: n */
	uint64_t nr_read;
	const struct name_module *modules;	/* of the trace, with their build-ids */
	size_t nr_modules;
	const struct name_thread *threads;	/* with the groups that Java has them in */
	size_t nr_threads;
};

/* Return when a metric, or all of exact calls, was recorded; NULL: all the time. */
const struct origin_share *origin_share(const struct origin *origin, const char *metric, bool is_calls);

/*
 * Fills in the labels that all kinds of traces have; x->text gets strings that are not verbatim in them.
 * first_ns and last_ns (CLOCK_MONOTONIC) are used if the trace was truncated.
 */
void origin_fill(struct origin *origin, struct names *x, uint64_t first_ns, uint64_t last_ns);
/* Return whether an imported profile says that: "times", "sample counts", "lost samples". */
bool origin_knows(const struct origin *origin, const char *what);
/* Fill in what was sampled or counted. */
void origin_fill_recorded(struct origin *origin, struct names *x, uint32_t event);

#endif
