/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - from the call trees of a trace to a model: process and thread are the two top levels, as
 * in a model of samples; n counts calls, and base is what was consumed in each context itself.
 */
#ifndef REPORT_CALLS_H
#define REPORT_CALLS_H

#include "report/profile.h"

struct call_tree_data {
	struct rec_call_tree r;
	struct call_node *nodes;	/* [number]; 0 is the thread */
	uint64_t *values;		/* [number][1 + metrics]: calls, base */
	size_t nr_nodes, alloc_nodes;	/* nr_nodes: one more than the highest number */
};

/* What a trace says of calls. */
struct calls {
	struct profile *p;
	unsigned int nr_metrics;	/* 0: calls alone */
	struct map tree_of;		/* number -> index */
	struct call_tree_data *trees;
	size_t nr_trees, alloc_trees;
	struct frame *frames;		/* [consumer] */
	uint32_t *consumers;		/* [consumer]: in the model, 0 not resolved yet */
	size_t nr_frames, nr_consumers;
	uint32_t damaged;		/* the consumer of what makes no sense */
};

void calls_init(struct calls *c, struct profile *p);
void calls_release(struct calls *c);
/* Trees and consumers, but no values and events; ctx is the struct calls. */
extern const struct trace_sink calls_sink;
/* In the model; a function is what its first instruction belongs to. */
uint32_t calls_consumer(struct calls *c, uint32_t consumer);
/* The process and the thread of a tree, in the model. */
void calls_thread(struct calls *c, uint32_t tree, uint32_t *process, uint32_t *thread);

/* p->names is filled; builds p->m.  -EINVAL: a metric is asked that the trace has not. */
int calls_read(struct profile *p, struct trace_reader *t, struct err *e);

/* calibrate.c: takes from the finished model what counting the calls cost, by the trace's own figures. */
void calls_calibrate(struct profile *p, struct report_source *src);

/* replay.c: the same from the events of the trace, not from its trees. */
int replay_read(struct calls *c, struct trace_reader *t, struct err *e);
/* gen.c: prints the events, in order of time. -ENODATA: there are none. */
int gen_print(struct profile *p, struct trace_reader *t, FILE *out, uint64_t limit, struct err *e);

#endif
