/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - a model of the latest part of a recording that goes on.  What names things is kept from part
 * to part; the tree has the samples of one part only.
 */
#ifndef MODEL_LIVE_H
#define MODEL_LIVE_H

#include "model/columns.h"

struct samples;

struct live {
	struct model model;		/* its tree: of the latest part, finished */
	struct names names;
	struct trace_reader *reader;	/* NULL: nothing came yet */
	struct event_columns columns;
	struct samples *samples;	/* NULL: nothing came yet */
};

void live_init(struct live *l);
void live_release(struct live *l);
/*
 * Take the next part of the trace, as its writer made it, with the names of everything that its samples hit;
 * borrowed for the call. The previous tree is released; consumers and their numbers stay.
 */
int live_take(struct live *l, const void *data, size_t len, struct err *e);
/* Pass the tree to the caller; the model gets an empty one. */
void live_take_flow(struct live *l, struct flow *f);

#endif
