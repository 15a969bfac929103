// SPDX-License-Identifier: GPL-2.0-or-later
/* unpack.c - decompresses and unpacks chunks of a journal (unpack.h). */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "jvm/journal.h"
#include "jvm/journal_read.h"

enum { WINDOW_BYTES = 2 * JOURNAL_LZ_BACK + JOURNAL_MAX_CHUNK, NIBBLE = 15 };

struct node {
	uint64_t kind_pc;
	uint32_t a, b;
	uint32_t parent;
	uint16_t depth, nr_natives;	/* its own included */
};

struct segment {
	size_t at, len;			/* in segment_bytes */
};

struct last {
	uint32_t len;
	uint8_t bytes[JOURNAL_DELTA_MOST];
};

struct unpack {
	uint8_t *window;		/* WINDOW_BYTES */
	size_t window_len;
	struct node *nodes;
	size_t nr_nodes, alloc_nodes;
	struct segment *segments;
	size_t nr_segments, alloc_segments;
	struct buf segment_bytes;
	struct buf out, records;	/* of this chunk */
	uint64_t last_ns, last_pc;
	uint32_t last_tid;
	struct last last[JVM_NR_REC_TYPES];
};

struct unpack *unpack_new(void)
{
	struct unpack *u = xcalloc(1, sizeof(*u));

	u->window = xmalloc(WINDOW_BYTES);
	unpack_forget(u);
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	free(u->window);
	free(u->nodes);
	free(u->segments);
	buf_release(&u->segment_bytes);
	buf_release(&u->out);
	buf_release(&u->records);
	free(u);
}

/* Node 0 is not a level: it stands for what called the outermost ones. */
void unpack_forget(struct unpack *u)
{
	u->window_len = u->nr_nodes = u->nr_segments = 0;
	buf_reset(&u->segment_bytes);
	*VEC_ADD(u->nodes, u->nr_nodes, u->alloc_nodes) = (struct node){ .parent = 0 };
}

/* --- bytes --- */

/* Make room for len bytes at the end of the window, which keeps what can be referred to. */
static uint8_t *unpack_make_room(struct unpack *u, size_t len)
{
	if (len > WINDOW_BYTES - u->window_len) {
		memmove(u->window, u->window + u->window_len - JOURNAL_LZ_BACK, JOURNAL_LZ_BACK);
		u->window_len = JOURNAL_LZ_BACK;
	}
	return u->window + u->window_len;
}

void unpack_keep(struct unpack *u, const void *data, size_t len)
{
	if (len)
		memcpy(unpack_make_room(u, len), data, len);
	u->window_len += len;
}

/* Return the length of which a half of the first byte is the beginning. */
static size_t unpack_length(struct span *s, uint32_t half)
{
	uint64_t more = half == NIBBLE ? span_varint(s) : 0;

	s->bad |= more > JOURNAL_MAX_CHUNK;
	return s->bad ? 0 : half + (size_t)more;
}

/* Unpack one sequence, at most up to end; return false if it is invalid. */
static bool unpack_sequence(struct unpack *u, struct span *s, size_t end)
{
	const uint8_t head = span_u8(s);
	size_t literals = unpack_length(s, head >> 4), match = unpack_length(s, head & NIBBLE), i;
	const uint8_t *from = span_bytes(s, literals);
	uint8_t *to = u->window + u->window_len;
	uint64_t back;

	if (!from || literals > end - u->window_len)
		return false;
	memcpy(to, from, literals);
	u->window_len += literals;
	if (!match)
		return true;
	match += JOURNAL_LZ_LEAST - 1;
	back = span_varint(s);
	if (s->bad || !back || back > u->window_len || match > end - u->window_len)
		return false;
	to = u->window + u->window_len;
	for (i = 0; i < match; i++)		/* it may go on into itself */
		to[i] = *(to + i - back);
	u->window_len += match;
	return true;
}

bool unpack_lz(struct unpack *u, const void *data, size_t len, struct unpacked *out)
{
	struct span s = span_init(data, len);
	const size_t raw = span_u32(&s);
	size_t at;

	if (s.bad || !raw || raw > JOURNAL_MAX_CHUNK ||
	    raw / JOURNAL_LZ_RATIO > len + sizeof(struct journal_chunk))
		return false;
	unpack_make_room(u, raw);
	at = u->window_len;
	while (span_left(&s))
		if (!unpack_sequence(u, &s, at + raw))
			return false;
	if (u->window_len != at + raw)
		return false;
	buf_reset(&u->out);
	buf_add(&u->out, u->window + at, raw);	/* aligned */
	*out = (struct unpacked){ (const uint8_t *)u->out.data, raw };
	return true;
}

/* --- items --- */

static uint64_t span_signed(struct span *s)
{
	uint64_t v = span_varint(s);

	return v >> 1 ^ -(v & 1);
}

static bool take_node(struct unpack *u, struct span *s)
{
	const uint64_t back = span_varint(s);
	const uint8_t kind = span_u8(s);
	struct node n = { .kind_pc = (uint64_t)kind << JVM_FRAME_PC_BITS };
	const struct node *parent;

	if (s->bad || !back || back > u->nr_nodes || u->nr_nodes >= JOURNAL_NODES)
		return false;
	n.parent = (uint32_t)(u->nr_nodes - back);
	parent = &u->nodes[n.parent];
	n.depth = parent->depth + 1;
	n.nr_natives = parent->nr_natives + (kind == JVM_NATIVE);
	if (n.depth > JVM_MAX_DEPTH || n.nr_natives > JVM_MAX_SEGMENTS)
		return false;
	if (kind != JVM_NATIVE) {
		u->last_pc = (u->last_pc + span_signed(s)) & ((1ull << JVM_FRAME_PC_BITS) - 1);
		n.kind_pc |= u->last_pc;
		n.a = (uint32_t)span_varint(s);
		n.b = (uint32_t)span_varint(s);
	}
	*VEC_ADD(u->nodes, u->nr_nodes, u->alloc_nodes) = n;
	return !s->bad;
}

/* Read a segment with its stack; *pc: where it is. Returns NULL if the data ends before. */
static const void *segment_bytes(struct span *s, size_t *len, uint64_t *pc)
{
	struct jvm_rec_segment seg;
	const uint8_t *from = s->p;
	const void *head = span_bytes(s, sizeof(seg));

	if (!head)
		return NULL;
	memcpy(&seg, head, sizeof(seg));
	*pc = seg.pc;
	*len = sizeof(seg) + (((size_t)seg.len + 7) & ~(size_t)7);
	return span_bytes(s, *len - sizeof(seg)) ? from : NULL;
}

static bool take_segment(struct unpack *u, struct span *s)
{
	size_t len = 0;
	uint64_t pc;
	const void *p = segment_bytes(s, &len, &pc);

	if (!p || u->nr_segments >= JOURNAL_SEGMENTS || len > JOURNAL_SEGMENT_BYTES - u->segment_bytes.len)
		return false;
	*VEC_ADD(u->segments, u->nr_segments, u->alloc_segments) =
		(struct segment){ u->segment_bytes.len, len };
	buf_add(&u->segment_bytes, p, len);
	return true;
}

/* Appends the next segment of a sample to the records. */
static bool add_segment(struct unpack *u, struct span *s, size_t most, uint64_t *pc)
{
	const uint64_t back = span_varint(s);
	struct span known;
	const void *p;
	size_t len = 0;

	if (s->bad || back > u->nr_segments)
		return false;
	if (back) {
		const struct segment *seg = &u->segments[u->nr_segments - back];

		known = span_init(u->segment_bytes.data + seg->at, seg->len);
		s = &known;
	}
	p = segment_bytes(s, &len, pc);
	if (!p || u->records.len > most || len > most - u->records.len)
		return false;
	buf_add(&u->records, p, len);
	return true;
}

static struct jvm_rec_frame *frame_at(struct unpack *u, size_t record, size_t i)
{
	return (struct jvm_rec_frame *)(u->records.data + record + sizeof(struct jvm_rec_sample)) + i;
}

/* Append the frames of a stack to the records, innermost first, and then its segments. */
static bool unpack_add_stack(struct unpack *u, struct span *s, uint32_t node, size_t record, size_t most)
{
	uint32_t depth = 0, nr = 0, n;
	uint64_t pc = 0;

	for (n = node; n; n = u->nodes[n].parent) {
		const struct node *m = &u->nodes[n];
		const struct jvm_rec_frame f = { m->kind_pc, { m->a }, { m->b } };

		buf_add(&u->records, &f, sizeof(f));
	}
	for (n = node; n; n = u->nodes[n].parent, depth++) {
		struct jvm_rec_frame *f;

		if (u->nodes[n].kind_pc >> JVM_FRAME_PC_BITS != JVM_NATIVE)
			continue;
		if (!add_segment(u, s, most, &pc))
			return false;
		f = frame_at(u, record, depth);
		f->kind_pc |= pc & ((1ull << JVM_FRAME_PC_BITS) - 1);
		f->segment = nr++;
	}
	return true;
}

static bool unpack_take_sample(struct unpack *u, struct span *s, size_t most)
{
	const size_t at = u->records.len;
	const uint8_t has = span_u8(s);
	struct jvm_rec_sample r = { .h.type = JVM_REC_SAMPLE };
	uint64_t back;
	uint32_t node, size;

	r.flags = (uint32_t)span_varint(s);
	r.event = (uint32_t)span_varint(s);
	u->last_ns += span_signed(s);
	r.time_ns = u->last_ns;
	back = span_varint(s);
	if (has & JOURNAL_TID)
		u->last_tid = (uint32_t)span_varint(s);
	r.tid = u->last_tid;
	r.vthread = has & JOURNAL_VTHREAD ? span_varint(s) : 0;
	r.value = has & JOURNAL_VALUE ? span_varint(s) : 0;
	r.leaf = has & JOURNAL_LEAF ? (uint32_t)span_varint(s) : 0;
	r.id = has & JOURNAL_ID ? (uint32_t)span_varint(s) : 0;
	if (s->bad || back >= u->nr_nodes || r.flags & JVM_SAMPLE_WALL)
		return false;
	node = (uint32_t)(u->nr_nodes - 1 - back);
	r.nr_frames = u->nodes[node].depth;
	r.nr_segments = u->nodes[node].nr_natives;
	buf_add(&u->records, &r, sizeof(r));
	if (!unpack_add_stack(u, s, node, at, most))
		return false;
	size = (uint32_t)(u->records.len - at);
	memcpy(u->records.data + at + offsetof(struct jvm_rec_sample, h.size), &size, sizeof(size));
	return true;
}

static bool take_delta(struct unpack *u, struct span *s)
{
	const uint8_t type = span_u8(s);
	struct last *last;
	uint8_t bits = 0;
	uint32_t i;

	if (s->bad || type >= ARRAY_SIZE(u->last) || !u->last[type].len)
		return false;
	last = &u->last[type];
	for (i = sizeof(struct jvm_rec); i < last->len; i++) {
		bits = i % 8 ? bits : span_u8(s);
		if (bits >> i % 8 & 1)
			last->bytes[i] = span_u8(s);
	}
	buf_add(&u->records, last->bytes, last->len);
	return !s->bad;
}

/* Take a record; the length in its header is checked again when records are parsed. */
static bool take_plain(struct unpack *u, struct span *s)
{
	struct jvm_rec h;
	const uint8_t *from = s->p;
	const void *p = span_bytes(s, sizeof(h));

	if (!p)
		return false;
	memcpy(&h, p, sizeof(h));
	if (h.size < sizeof(h) || h.size & 7 || !span_bytes(s, h.size - sizeof(h)))
		return false;
	buf_add(&u->records, from, h.size);
	if (h.type < ARRAY_SIZE(u->last) && h.size <= sizeof(u->last[0].bytes)) {
		u->last[h.type].len = h.size;
		memcpy(u->last[h.type].bytes, from, h.size);
	}
	return true;
}

static bool take_item(struct unpack *u, struct span *s, size_t most)
{
	switch (span_u8(s)) {
	case JOURNAL_PLAIN:
		return take_plain(u, s);
	case JOURNAL_DELTA:
		return take_delta(u, s);
	case JOURNAL_NODE:
		return take_node(u, s);
	case JOURNAL_SEGMENT:
		return take_segment(u, s);
	case JOURNAL_SAMPLE:
		return unpack_take_sample(u, s, most);
	}
	return false;
}

bool unpack_items(struct unpack *u, const void *data, size_t len, size_t stored, struct unpacked *out)
{
	struct span s = span_init(data, len);
	const size_t most = MIN((size_t)JOURNAL_MAX_CHUNK, stored * JOURNAL_EXPANDS);
	size_t i;

	buf_reset(&u->records);
	u->last_ns = u->last_pc = 0;
	u->last_tid = 0;
	for (i = 0; i < ARRAY_SIZE(u->last); i++)
		u->last[i].len = 0;
	while (span_left(&s))
		if (!take_item(u, &s, most) || u->records.len > most)
			return false;
	*out = (struct unpacked){ (const uint8_t *)u->records.data, u->records.len };
	return true;
}
