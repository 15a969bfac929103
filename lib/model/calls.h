/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - reads the calls of a trace: keeps whose they are and what is called, and gives the trees and
 * events to whoever wants them. Sampled entries and returns of native functions (probed.h) are events, too.
 */
#ifndef MODEL_CALLS_H
#define MODEL_CALLS_H

#include "model/names.h"
#include "model/probed.h"
#include "trace/calls.h"

struct call_function {
	struct frame frame;
	uint32_t consumer;		/* in the model; 0: not resolved yet */
	bool is_label;			/* what a thread did while it had these: */
	uint32_t labels;		/* as threadlabels_at() has them */
};

struct calls {
	struct names *names;
	struct map tree_of;		/* number of the trace -> index */
	struct rec_call_tree *trees;
	size_t nr_trees, alloc_trees;
	struct map function_of;		/* number of the trace -> index */
	struct call_function *functions;
	size_t nr_functions, alloc_functions;
	struct map thread_of;		/* number of a thread with trees of its own -> index */
	size_t nr_threads;
	bool complete;			/* all trees and functions are known */
	bool has_labels;		/* some thread had labels while its calls were counted */
	uint32_t damaged;		/* the consumer of what makes no sense */
	struct probed probed;
};

/*
 * The receivers of records, in the order of the file; tree is an index. Non-zero ends the pass. Records
 * without a receiver (NULL) are not read.
 */
struct calls_sink {
	int (*nodes)(void *ctx, uint32_t tree, const struct rec_call_nodes *r);
	int (*values)(void *ctx, uint32_t tree, const struct rec_call_values *r);
	int (*events)(void *ctx, uint32_t tree, const struct rec_call_events *r);
	int (*sched)(void *ctx, const struct rec_sched *r, size_t nr);
};

/* Prepare; x must be read. */
void calls_init(struct calls *c, struct names *x);
void calls_release(struct calls *c);
/*
 * Read the trace once; the first time this also learns the trees and functions, and may be without a sink.
 * Returns what ended it.
 */
int calls_read(struct calls *c, struct trace_reader *t, const struct calls_sink *sink, void *ctx,
	       struct err *e);

/* Return the model's consumer for a number of the trace: a function is that of its first instruction. */
uint32_t calls_consumer(struct calls *c, uint32_t function);
/* Return whether it stands for calls that were merged. */
bool calls_is_pruned(const struct calls *c, uint32_t function);
/* Return [consumer of the model], of the *nr that there are yet: 1 for a call site. The caller frees it. */
uint8_t *calls_sites(const struct calls *c, size_t *nr);
/* Return the labels that a function stands for, NULL for none. */
const struct call_function *calls_label(const struct calls *c, uint32_t function);
/* Get the process and the thread of a tree, in the model. */
void calls_thread(struct calls *c, uint32_t tree, uint32_t *process, uint32_t *thread);
/* Return the node of that thread. */
uint32_t calls_root(struct calls *c, uint32_t tree);

#endif
