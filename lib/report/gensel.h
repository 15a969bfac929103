/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gensel.h - which events of a call trace "report --gen" shows: by kind, time, thread, and by the
 * functions in whose calls they happen.
 */
#ifndef REPORT_GENSEL_H
#define REPORT_GENSEL_H

#include "model/calls.h"
#include "report/report.h"

/* Kinds beside those of calls: a thread loses a CPU, and gets one. */
enum { GEN_OFF = CALL_EVENT_NR, GEN_ON, GEN_NR };

struct gen_event {
	uint64_t time_ns, seq;
	uint64_t delta[FLOW_MAX_METRICS];
	uint32_t tree;		/* of a dispatch: the trace's number of the thread */
	uint32_t kind;		/* enum call_event_kind, GEN_OFF or GEN_ON */
	uint32_t consumer;	/* of a dispatch: gen_dispatch() */
};

static inline uint32_t gen_dispatch(uint16_t cpu, uint8_t state)
{
	return (uint32_t)state << 16 | cpu;
}

struct gen_opts {
	struct opt_list events;	/* kinds; empty: all */
};

struct gen_select {
	struct calls *c;
	const struct report_opts *o;
	bool kinds[GEN_NR];
	uint8_t want;		/* what a path of open calls must have: a symbol, a module */
	uint8_t *matches;	/* [consumer]: which of those it has; KNOWN: it was looked up */
	size_t nr_matches;
	struct map thread_of, tree_of;	/* trace's numbers -> index */
	struct gen_thread {
		uint32_t process, thread;	/* consumers of the model */
		bool selected;
		uint32_t nr_open[2];	/* calls of a symbol, and of a module, that is wanted */
	} *threads;
	size_t nr_threads, alloc_threads;
	struct gen_tree {
		uint32_t thread;	/* index */
		uint32_t *open;		/* consumers of its open calls, outermost first; only with want */
		size_t nr_open, alloc_open;
	} *trees;
	size_t nr_trees, alloc_trees;
};

/* When all trees are in c. -EINVAL: an event is named that there is not. */
int gen_select_init(struct gen_select *s, struct calls *c, const struct report_opts *o, struct err *e);
void gen_select_release(struct gen_select *s);
/* NULL: nothing of this thread is shown, whatever happens in it. By the number of a tree, or of a thread. */
const struct gen_thread *gen_select_thread(const struct gen_select *s, const struct gen_event *x);
/* Before they are in order: false when the event is not needed, not even to know what is open. */
bool gen_select_needs(const struct gen_select *s, const struct gen_event *x);
/* Is it to be shown? Asked of each event that is needed, in order of time. */
bool gen_select_shows(struct gen_select *s, const struct gen_event *x);

#endif
