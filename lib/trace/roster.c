// SPDX-License-Identifier: GPL-2.0-or-later
/* roster.c - see roster.h. All numbers are varints. */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/roster.h"

enum { FRAME_BYTES = 5 };	/* at least, of a frame */

void roster_put_context(struct buf *b, const struct frame *frames, uint32_t nr_frames, uint32_t nr_objects)
{
	uint32_t i;

	buf_varint(b, nr_frames);
	for (i = 0; i < nr_frames; i++) {
		const struct frame_words w = frame_words(&frames[i]);

		buf_varint(b, w.kind);
		buf_varint(b, w.a);
		buf_varint(b, w.b);
		buf_varint(b, w.c);
		buf_varint(b, w.d);
	}
	buf_varint(b, nr_objects);
}

void roster_put_object(struct buf *b, uint32_t number, uint64_t size)
{
	buf_varint(b, number);
	buf_varint(b, size);
}

void roster_walk(struct roster_walk *w, const uint8_t *objects, size_t len)
{
	*w = (struct roster_walk){ .in = span_init(objects, len) };
}

static uint32_t roster_word(struct span *s)
{
	uint64_t v = span_varint(s);

	s->bad |= v > UINT32_MAX;
	return (uint32_t)v;
}

static void next_context(struct roster_walk *w)
{
	uint64_t nr = span_varint(&w->in);
	uint32_t i;

	w->in.bad |= nr > span_left(&w->in) / FRAME_BYTES;
	if (w->in.bad)
		return;
	w->nr_contexts++;
	w->nr_frames = nr;
	w->frames = xrealloc(w->frames, (nr + 1) * sizeof(*w->frames));
	for (i = 0; i < nr; i++) {
		struct frame_words f;

		f.kind = roster_word(&w->in);
		f.a = roster_word(&w->in);
		f.b = span_varint(&w->in);
		f.c = roster_word(&w->in);
		f.d = roster_word(&w->in);
		w->frames[i] = frame_from_words(&f);
	}
	w->left = span_varint(&w->in);
}

bool roster_next(struct roster_walk *w, struct roster_object *o)
{
	while (!w->left && span_left(&w->in) && !w->in.bad)
		next_context(w);
	if (w->in.bad || !w->left)
		return false;
	w->left--;
	o->number = roster_word(&w->in);
	o->size = span_varint(&w->in);
	return !w->in.bad;
}

void roster_walk_release(struct roster_walk *w)
{
	free(w->frames);
	w->frames = NULL;
}
