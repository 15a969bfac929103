/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - from a trace to a model: process and thread are the two top levels, then the frames
 * outermost first, inlined ones in their places; a mark stands where outer frames are missing.
 * n counts samples, at the innermost context of each; base is the sum of their weights.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include "model/names.h"
#include "model/select.h"
#include "model/source.h"

/* Stacks next to each other are looked up together: one cache line. */
enum { PROFILE_BLOCK = 16 };

struct profile_opts {
	struct resolve_opts names;
	const struct opt_list *metrics;	/* NULL or empty: what calls consumed, and the first event */
	const struct opt_list *cpus;	/* NULL or empty: all */
	uint64_t from_ns, to_ns;	/* since the start, or SELECT_FROM_ZERO; to 0: no end */
	bool fold_plt;			/* instruction traces: linkage stubs are part of their callers */
	bool replay;			/* trees from the events of a call trace */
	bool calibrate;			/* exact calls without what counting them cost */
	bool deltas;			/* and that as metrics of its own, where there is room */
	bool needs_deltas;		/* without room nothing is calibrated */
	bool samples;			/* and not the calls, where the trace has them */
	bool prefer_samples;		/* the same, where it has samples */
	bool no_samples;		/* nor samples beside calls */
};

struct graft;

struct profile {
	struct model *m;
	struct profile_opts o;
	struct names names;
	int column_of[64];		/* event -> metric, -1: not wanted */
	uint32_t nr_events;
	uint64_t nr_of_event[64];	/* samples seen */
	uint64_t start_ns, first_ns, last_ns;
	uint64_t reset_ns;		/* what is older was dropped, by "arcprof ctl reset" */
	/* samples of the first event (or calls) seen; samples of events the trace does not name */
	uint64_t nr_read, nr_unknown;
	struct graft *graft;		/* samples go into a tree of calls; NULL: they are alone */
	uint64_t nr_missing;		/* of them, those in contexts that the tree has not */
	uint8_t *cpu_wanted;
	size_t nr_cpus_wanted;
	struct profile_thread {
		uint32_t number, node;
		bool counted;		/* its calls are in the tree */
	} *threads;			/* [dense index] */
	size_t nr_threads, alloc_threads;
	struct map thread_of;
	/* Of the current epoch. */
	uint32_t epoch;
	struct profile_frame {
		uint32_t first, nr1;	/* names.levels[first..first + nr1 - 1); nr1 0: not resolved yet */
	} *resolved;			/* [frame]; beside each other, as this is read for each node */
	size_t nr_resolved;
	struct profile_memo {
		uint32_t thread;	/* dense index + 1; 0: none yet */
		uint32_t node;
		uint32_t n;		/* samples of column 0 and usual weight, not added to the node yet */
		uint32_t level;		/* of its frame, the innermost, + 1; 0: none */
	} *memo;			/* [stack]: of the first thread that had it */
	size_t nr_memo;
	uint64_t usual_weight;		/* of column 0 */
	/* (thread, stack / PROFILE_BLOCK) -> index of a block, for the other threads */
	struct map others;
	uint32_t *blocks;		/* [block][stack % PROFILE_BLOCK]: node */
	size_t nr_blocks, alloc_blocks;
	uint64_t *weight;		/* [level]: samples that ended there, and a little for each stack */
	size_t nr_weight;
	const char **refused;
	size_t nr_refused, alloc_refused;
	uint32_t *chain;
	size_t nr_chain, alloc_chain;
};

/*
 * Initialises m; a trace with call trees gives those, an instruction trace what itrace_model()
 * says, any other its samples.  Samples beside calls are grafted into their trees, and counted by a metric of
 * their own: a call is no sample.
 *
 * Fills *src, whose strings live as long as the profile (the file is
 * read twice: names, then samples).  0 also when the trace is damaged.
 */
int profile_read(struct profile *p, struct model *m, struct model_source *src, struct trace_reader *t,
		 const struct profile_opts *o, struct err *e);
void profile_release(struct profile *p);
/* For graft.c: what a frame is; and that a level counts so much for the kind of its function. */
const struct profile_frame *profile_resolve(struct profile *p, uint32_t frame, const struct stack_epoch *ep,
				       uint64_t time_ns);
void profile_weigh(struct profile *p, uint32_t level, uint64_t weight);

/* The Z vector's "event.N" with what after it; NULL: it has none. */
const char *profile_event_label(const struct profile *p, uint32_t event, const char *what);
/* -EINVAL when a model cannot have so many metrics; nr_events are of samples. */
int profile_too_many(size_t nr, size_t nr_events, struct err *e);
int profile_choose_cpus(struct profile *p, struct err *e);

/* The same in steps, for what has no file: names_sink into p->names, start, samples, finish. */
void profile_init(struct profile *p, struct model *m, const struct profile_opts *o);
/* Reads the names of all; -ENODATA: o->from_ns is SELECT_FROM_ZERO, and the trace has no zero point. */
int profile_names(struct profile *p, struct trace_reader *t, struct err *e);
int profile_start(struct profile *p, struct err *e);
int profile_samples(void *p, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep);
void profile_finish(struct profile *p, struct model_source *src);

#endif
