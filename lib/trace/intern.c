// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * intern.c - the writer's side of interned stacks.
 *
 * Two tables: frames (open addressing over the frame array) and nodes (a map from
 * (parent, frame)).  The writer never looks at a node again, so nodes live in the map only.
 *
 * Consecutive stacks of a program share most of their outer frames.  The stack interned before is
 * kept, and frames are compared to it from the outside: only from the first difference on
 * are the tables asked.
 */
#include "base/mem.h"
#include "trace/intern.h"

static uint64_t frame_hash(const struct frame *f)
{
	uint64_t h = f->b * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)f->a << 32 | f->kind) * 0xc2b2ae3d27d4eb4full;
	h ^= ((uint64_t)f->c << 32 | f->d) * 0x165667b19e3779f9ull;
	return hash_u64(h);
}

static bool frame_equal(const struct frame *x, const struct frame *y)
{
	return x->b == y->b && x->a == y->a && x->kind == y->kind && x->c == y->c && x->d == y->d;
}

void intern_init(struct intern *in)
{
	memset(in, 0, sizeof(*in));
	intern_reset(in);
}

void intern_release(struct intern *in)
{
	free(in->frames);
	free(in->slots);
	map_release(&in->nodes);
	free(in->last);
	free(in->last_nodes);
	buf_release(&in->new_frames);
	buf_release(&in->new_nodes);
	memset(in, 0, sizeof(*in));
}

void intern_reset(struct intern *in)
{
	if (!in->frames) {
		in->alloc_frames = 1024;
		in->frames = xcalloc(in->alloc_frames, sizeof(*in->frames));
		in->alloc_slots = 4096;
		in->slots = xmalloc(in->alloc_slots * sizeof(*in->slots));
	}
	memset(in->slots, 0, in->alloc_slots * sizeof(*in->slots));
	map_reset(&in->nodes);
	in->nr_frames = 1;
	in->nr_nodes = 1;
	in->nr_last = 0;
	intern_taken(in);
}

void intern_taken(struct intern *in)
{
	buf_reset(&in->new_frames);
	buf_reset(&in->new_nodes);
	in->first_new_frame = in->nr_frames;
	in->first_new_node = in->nr_nodes;
	in->nr_new_runs = 0;
	memset(in->last_b, 0, sizeof(in->last_b));
}

size_t intern_bytes(const struct intern *in)
{
	return in->nr_frames * (sizeof(*in->frames) + 2 * sizeof(*in->slots)) +
	       in->nr_nodes * 2 * sizeof(*in->nodes.slots);
}

static void grow_slots(struct intern *in)
{
	size_t i, at, mask;

	free(in->slots);
	in->alloc_slots *= 2;
	in->slots = xcalloc(in->alloc_slots, sizeof(*in->slots));
	mask = in->alloc_slots - 1;
	for (i = 1; i < in->nr_frames; i++) {
		for (at = frame_hash(&in->frames[i]) & mask; in->slots[at]; at = (at + 1) & mask)
			;
		in->slots[at] = i;
	}
}

static void encode_frame(struct intern *in, const struct frame *f)
{
	uint64_t *last = &in->last_b[f->kind < FRAME_NR ? f->kind : 0];
	int64_t diff = f->b - *last;

	*last = f->b;
	buf_varint(&in->new_frames, f->kind);
	buf_varint(&in->new_frames, f->a);
	buf_varint(&in->new_frames, (uint64_t)diff << 1 ^ (uint64_t)(diff >> 63));
	buf_varint(&in->new_frames, f->c);
	buf_varint(&in->new_frames, f->d);
}

static uint32_t intern_frame(struct intern *in, const struct frame *f)
{
	size_t mask = in->alloc_slots - 1;
	size_t at = frame_hash(f) & mask;

	for (; in->slots[at]; at = (at + 1) & mask)
		if (frame_equal(&in->frames[in->slots[at]], f))
			return in->slots[at];
	in->slots[at] = in->nr_frames;
	VEC_GROW(in->frames, in->nr_frames, in->alloc_frames);
	in->frames[in->nr_frames++] = *f;
	encode_frame(in, f);
	if (in->on_frame)
		in->on_frame(in->ctx, f);
	if (in->nr_frames * 2 > in->alloc_slots)
		grow_slots(in);
	return in->nr_frames - 1;
}

uint32_t intern_stack(struct intern *in, const struct frame *frames, size_t nr)
{
	size_t i = 0;
	uint32_t node = 0;
	bool fresh = false;

	if (nr > in->alloc_last) {
		in->alloc_last = nr * 2;
		in->last = xrealloc(in->last, in->alloc_last * sizeof(*in->last));
		in->last_nodes = xrealloc(in->last_nodes, in->alloc_last * sizeof(*in->last_nodes));
	}
	while (i < nr && i < in->nr_last && frame_equal(&frames[i], &in->last[i]))
		i++;
	if (i)
		node = in->last_nodes[i - 1];
	for (; i < nr; i++) {
		uint32_t frame = intern_frame(in, &frames[i]);
		uint32_t *place;

		place = map_put(&in->nodes, (uint64_t)node << 32 | frame);
		if (*place == MAP_NONE) {
			*place = in->nr_nodes++;
			if (!fresh) {
				/* All further frames make new nodes too: one run. */
				buf_varint(&in->new_nodes, *place - node);
				buf_varint(&in->new_nodes, nr - i);
				in->nr_new_runs++;
				fresh = true;
			}
			buf_varint(&in->new_nodes, frame);
		}
		node = *place;
		in->last[i] = frames[i];
		in->last_nodes[i] = node;
	}
	in->nr_last = nr;
	return node;
}
