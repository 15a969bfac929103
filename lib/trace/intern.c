// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * intern.c - the writer's side of interned stacks.
 *
 * A node is known by the hash of all frames from the outermost to its own, 96 bits of two
 * independent lanes: with all the nodes an epoch can have, the odds that any two are mistaken
 * for each other are below 10^-14.  So one pass over a stack gives the keys of all its nodes, and
 * as every prefix of a known stack is known, the deepest known one is found with a few looks at
 * the table, most often one or two.  Only the frames of new nodes are looked up themselves.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "trace/intern.h"

/* Return the bytes of a frame, eight at a time: i is 0 to 2. */
static uint64_t frame_word(const struct frame *f, size_t i)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)f + i * sizeof(v), sizeof(v));
	return v;
}

static uint64_t frame_hash(const struct frame *f)
{
	return mix64(frame_word(f, 0) * 0xc2b2ae3d27d4eb4full ^ frame_word(f, 1) * 0x9e3779b97f4a7c15ull ^
			frame_word(f, 2) * 0x165667b19e3779f9ull);
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
	free(in->nodes);
	free(in->prefixes);
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
		in->alloc_nodes = 4096;
		in->nodes = xmalloc(in->alloc_nodes * sizeof(*in->nodes));
	}
	memset(in->slots, 0, in->alloc_slots * sizeof(*in->slots));
	memset(in->nodes, 0, in->alloc_nodes * sizeof(*in->nodes));
	in->nr_frames = 1;
	in->nr_nodes = 1;
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
	       in->nr_nodes * 2 * sizeof(*in->nodes);
}

static void intern_grow_slots(struct intern *in)
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
	const struct frame_words w = frame_words(f);
	uint64_t *last = &in->last_b[w.kind];
	int64_t diff = w.b - *last;

	*last = w.b;
	buf_varint(&in->new_frames, w.kind);
	buf_varint(&in->new_frames, w.a);
	buf_varint(&in->new_frames, (uint64_t)diff << 1 ^ (uint64_t)(diff >> 63));
	buf_varint(&in->new_frames, w.c);
	buf_varint(&in->new_frames, w.d);
}

static uint32_t intern_frame(struct intern *in, const struct frame *f)
{
	size_t mask = in->alloc_slots - 1;
	size_t at = frame_hash(f) & mask;

	for (; in->slots[at]; at = (at + 1) & mask)
		if (frame_equal(&in->frames[in->slots[at]], f))
			return in->slots[at];
	in->slots[at] = in->nr_frames;
	*VEC_ADD(in->frames, in->nr_frames, in->alloc_frames) = *f;
	encode_frame(in, f);
	if (in->on_frame)
		in->on_frame(in->ctx, f);
	if (in->nr_frames * 2 > in->alloc_slots)
		intern_grow_slots(in);
	return in->nr_frames - 1;
}

/* Return the two lanes of a frame, to be chained. */
static struct prefix frame_lanes(const struct frame *f)
{
	uint64_t k = frame_word(f, 0), b = frame_word(f, 1), c = frame_word(f, 2);
	uint64_t x = (b ^ c * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull;
	uint64_t y = (b + k * 0xa0761d6478bd642full) * 0xe7037ed1a0b428dbull;

	x ^= x >> 32;
	y ^= y >> 29;
	return (struct prefix){ x + k * 0xc2b2ae3d27d4eb4full, y ^ c * 0x165667b19e3779f9ull };
}

/* Hash all but the first nr_same, whose hashes are known. */
static void hash_prefixes(struct intern *in, const struct frame *frames, size_t nr, size_t nr_same)
{
	struct prefix p = { 0x243f6a8885a308d3ull, 0x13198a2e03707344ull };
	size_t i;

	if (nr > in->alloc_prefixes) {
		in->alloc_prefixes = nr * 2;
		in->prefixes = xrealloc(in->prefixes, in->alloc_prefixes * sizeof(*in->prefixes));
	}
	if (nr_same)
		p = in->prefixes[nr_same - 1];
	for (i = nr_same; i < nr; i++) {
		struct prefix f = frame_lanes(&frames[i]);

		p.h1 = ((p.h1 << 29 | p.h1 >> 35) ^ f.h1) * 0xff51afd7ed558ccdull;
		p.h2 = ((p.h2 << 31 | p.h2 >> 33) + f.h2) * 0xc4ceb9fe1a85ec53ull;
		in->prefixes[i] = p;
	}
	in->nr_prefixes = nr;
}

static struct intern_node *find_node(const struct intern *in, uint64_t h1, uint32_t h2)
{
	size_t mask = in->alloc_nodes - 1;
	size_t at = (h1 ^ h1 >> 32) & mask;

	while (in->nodes[at].node && (in->nodes[at].h1 != h1 || in->nodes[at].h2 != h2))
		at = (at + 1) & mask;
	return &in->nodes[at];
}

static uint32_t node_of(const struct intern *in, size_t i)
{
	return find_node(in, in->prefixes[i].h1, in->prefixes[i].h2 >> 32)->node;
}

static uint32_t new_node(struct intern *in, size_t i)
{
	struct intern_node *n;

	if (((size_t)in->nr_nodes + 1) * 2 > in->alloc_nodes) {
		struct intern_node *old = in->nodes;
		size_t k, nr = in->alloc_nodes;

		in->alloc_nodes *= 2;
		in->nodes = xcalloc(in->alloc_nodes, sizeof(*in->nodes));
		for (k = 0; k < nr; k++)
			if (old[k].node)
				*find_node(in, old[k].h1, old[k].h2) = old[k];
		free(old);
	}
	n = find_node(in, in->prefixes[i].h1, in->prefixes[i].h2 >> 32);
	*n = (struct intern_node){ in->prefixes[i].h1, in->prefixes[i].h2 >> 32, in->nr_nodes };
	return in->nr_nodes++;
}

/* Return how many of the outer frames are known as a stack, with its node in *node. */
static size_t known_prefix(const struct intern *in, size_t nr, uint32_t *node)
{
	size_t lo = 0, hi = nr + 1, step = 0;	/* known: lo; not known: hi */
	uint32_t n;

	*node = 0;
	while (hi - lo > 1) {
		/* Search from the inside in growing steps; once something is known, by halves. */
		size_t mid = lo ? (lo + hi) / 2 : hi > step + 1 ? hi - 1 - step : 1;

		step = step ? step * 2 : 1;
		n = node_of(in, mid - 1);
		if (n) {
			lo = mid;
			*node = n;
		} else {
			hi = mid;
		}
	}
	return lo;
}

uint32_t intern_stack(struct intern *in, const struct frame *frames, size_t nr, size_t nr_same)
{
	uint32_t node;
	size_t i;

	hash_prefixes(in, frames, nr, MIN(MIN(nr_same, nr), in->nr_prefixes));
	i = known_prefix(in, nr, &node);
	if (i == nr)
		return node;
	buf_varint(&in->new_nodes, in->nr_nodes - node);
	buf_varint(&in->new_nodes, nr - i);
	in->nr_new_runs++;
	for (; i < nr; i++) {
		buf_varint(&in->new_nodes, intern_frame(in, &frames[i]));
		node = new_node(in, i);
	}
	return node;
}
