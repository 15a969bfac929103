/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calltree.h - trees of calls become that of the model: process and thread are the two top levels, as
 * in a model of samples; n counts calls, and base is what was consumed in each context itself.
 */
#ifndef MODEL_CALLTREE_H
#define MODEL_CALLTREE_H

#include "model/calls.h"
#include "model/columns.h"

struct filter;

struct calltree_seen {
	uint64_t *thrown;		/* [node of the model]: exits by exceptions; owned by the caller */
	size_t nr_thrown, alloc_thrown;
	uint8_t *sites;			/* calls_sites(), if there are any; owned by the caller */
	size_t nr_sites;
	uint64_t nr_calls;		/* before the selection by time */
	uint64_t last_ns;		/* time of the last record */
};

struct calltree_opts {
	const struct call_columns *columns;
	const struct window *window;
	/* where calls.has_labels: only those with these, NULL: all; and a level below threads, NULL: none */
	const struct opt_list *labels;
	const char *by_label;
	struct filter *filter;		/* of threads; NULL: all */
	int thrown;			/* the trace's metric of exits by exceptions; -1: not wanted */
};

/* Read the trees of the trace. */
int calltree_read(struct calls *c, struct trace_reader *t, const struct calltree_opts *o,
		  struct calltree_seen *seen, struct err *e);
/* Remove the contexts that have nothing in any metric. */
void calltree_drop_empty(struct model *m);

/*
 * replay.c: read from the events of the trace, not from its trees; o is used for columns and time. -ENODATA:
 * it has none.
 */
int replay_read(struct calls *c, struct trace_reader *t, const struct calltree_opts *o,
		struct calltree_seen *seen, struct err *e);

#endif
