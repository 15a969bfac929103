/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - from the call trees of a trace to a model: process and thread are the two top levels, as
 * in a model of samples; n counts calls, and base is what was consumed in each context itself.
 */
#ifndef MODEL_CALLS_H
#define MODEL_CALLS_H

#include "model/profile.h"
#include "trace/numbers.h"

struct call_tree_data {
	struct rec_call_tree r;
	struct numbers numbers;		/* the trace's of nodes -> index */
	struct call_node *nodes;	/* [index]; 0 is the thread, 1 all that no record defines */
	uint64_t *values;		/* [index][1 + metrics]: calls, base */
	size_t nr_nodes, alloc_nodes;
};

enum { CALLS_NR_EXTRA = 2 };	/* dispatches, interrupts */

/* What a trace says of calls. */
struct calls {
	struct profile *p;
	unsigned int nr_metrics;	/* of the trace; 0: calls alone */
	/* of replay: behind those, what dispatches and interrupts tell of each event */
	unsigned int nr_extra;
	int column_of[CALL_MAX_METRICS];	/* in the model, -1: not wanted */
	bool calls_are_consumed;	/* the only metric */
	bool with_samples;		/* the model has columns for them, too */
	struct map tree_of;		/* number -> index */
	struct call_tree_data *trees;
	size_t nr_trees, alloc_trees;
	struct map consumer_of;		/* the trace's number -> index */
	struct frame *frames;		/* [index] */
	uint32_t *consumers;		/* [index]: in the model, 0 not resolved yet */
	size_t nr_consumers, alloc_frames, alloc_consumers;
	uint32_t damaged;		/* the consumer of what makes no sense */
};

/* -EINVAL: a metric is asked that the trace has not. */
int calls_init(struct calls *c, struct profile *p, struct err *e);
void calls_release(struct calls *c);
/* Trees and consumers, but no values and events; ctx is the struct calls. */
extern const struct trace_sink calls_sink;
/* In the model; a function is what its first instruction belongs to. */
uint32_t calls_consumer(struct calls *c, uint32_t consumer);
/* The process and the thread of a tree, in the model. */
void calls_thread(struct calls *c, uint32_t tree, uint32_t *process, uint32_t *thread);
/* The node of that thread. */
uint32_t calls_root(struct calls *c, uint32_t tree);
/*
 * Adds to a node of the model what a context has: calls, and values as the trace has them, [nr_metrics
 * + nr_extra].
 */
void calls_add(struct calls *c, uint32_t node, uint64_t nr_calls, const uint64_t *values);

/*
 * p->names is filled; builds p->m, with the samples grafted when any of their metrics is wanted. As
 * calls_init().
 */
int calls_read(struct profile *p, struct trace_reader *t, struct err *e);

/*
 * callcheck.c: the CPU time charged to the calls of each thread against the kernel's. A trace without
 * it passes.
 */
/* how far they may be apart: the sum of both */
enum { CALLS_CHECK_PERCENT = 5, CALLS_CHECK_NS = 10000000 };

struct calls_check {
	uint64_t nr_checked, nr_bad;	/* threads, or processes with virtual threads */
	char first[160];		/* of the bad ones */
};
int calls_check(struct trace_reader *t, struct calls_check *out, struct err *e);

/* graft.c: samples in a tree of calls. */
struct graft {
	struct map consumer_of;		/* function -> consumer in the contexts */
	struct map by_own_name;		/* the same by a name without scope and parameters; 0: of several */
	struct map roots_of;		/* thread of the trace -> the last of its trees in roots */
	struct graft_root {
		uint64_t start_ns, end_ns;
		uint32_t node;		/* of the thread */
		uint32_t next;
	} *roots;
	size_t nr_roots, alloc_roots;
	size_t nr_contexts;		/* nodes above are of samples */
	uint64_t max_depth;		/* of open calls that were told apart; 0: not known */
	uint32_t pruned;
	struct graft_level {
		uint32_t level, consumer;
	} *path;			/* below the innermost context */
	size_t nr_path, alloc_path;
};

/* When all calls are in the model, before the first sample. */
void graft_init(struct graft *g, struct calls *c);
void graft_release(struct graft *g);
/* The root in g->roots for a sample of that thread; MAP_NONE: none of its calls were counted. */
uint32_t graft_root(const struct graft *g, uint32_t thread, uint64_t time_ns);
/*
 * Where a sample of these nr stack nodes of ep, innermost first, belongs below root. *missing: it passes a
 * counted function in a context that the tree has not.
 */
uint32_t graft_node(struct profile *p, uint32_t root, const uint32_t *stacks, size_t nr,
		    const struct stack_epoch *ep, uint64_t time_ns, bool *missing);

/* calibrate.c: takes from the finished model what counting the calls cost, by the trace's own figures. */
void calls_calibrate(struct profile *p, struct model_source *src);

/* replay.c: the same from the events of the trace, not from its trees. */
int replay_read(struct calls *c, struct trace_reader *t, struct err *e);

#endif
