/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roster.h - the objects of a record "roster": for each context where sampled objects were allocated its
 * frames, and the number and size of each of them.
 */
#ifndef TRACE_ROSTER_H
#define TRACE_ROSTER_H

#include "base/buf.h"
#include "base/span.h"
#include "trace/frame.h"

/* Append a context, outermost frame first, with the class as the last, and how many objects follow. */
void roster_put_context(struct buf *b, const struct frame *frames, uint32_t nr_frames, uint32_t nr_objects);
void roster_put_object(struct buf *b, uint32_t number, uint64_t size);

struct roster_walk {
	struct span in;
	struct frame *frames;		/* of the context */
	uint32_t nr_frames, nr_contexts;
	uint64_t left;			/* objects of it */
};

struct roster_object {
	uint32_t number;		/* as the agent counts samples, from 1 */
	uint64_t size;			/* bytes */
};

void roster_walk(struct roster_walk *w, const uint8_t *objects, size_t len);
/*
 * Read the next object; return false after the last, or if what follows is damaged (w->in.bad). A new
 * context raises nr_contexts.
 */
bool roster_next(struct roster_walk *w, struct roster_object *o);
void roster_walk_release(struct roster_walk *w);

#endif
