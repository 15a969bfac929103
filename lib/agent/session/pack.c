// SPDX-License-Identifier: MIT
/* pack.c - packs the records of rings into items of a journal (pack.h). */
#include "agent/ring.h"
#include "agent/session/pack.h"
#include "agent/sys.h"
#include "base/mix.h"

enum {
	NR_SLOTS = 2 * JOURNAL_NODES, NR_PLACES = 2 * JOURNAL_SEGMENTS,
	MOST_LEVELS = 4096,		/* of one sample: deeper ones are written as they are */
	/* longer ones, too: a reader is not to make much of little (JOURNAL_EXPANDS) */
	MOST_BYTES = 128 << 10,
};

/* bits of a return address; on arm64 a signature may be above them */
static const uint64_t address_bits = (1ull << 48) - 1;

bool pack_init(struct pack *p)
{
	p->nodes = p->nodes ? p->nodes : sys_pages(JOURNAL_NODES * sizeof(*p->nodes));
	p->slots = p->slots ? p->slots : sys_pages(NR_SLOTS * sizeof(*p->slots));
	p->segments = p->segments ? p->segments : sys_pages(NR_PLACES * sizeof(*p->segments));
	p->scratch = p->scratch ? p->scratch : sys_pages(MOST_BYTES);
	if (!p->nodes || !p->slots || !p->segments || !p->scratch)
		return false;
	pack_forget(p);
	return true;
}

void pack_forget(struct pack *p)
{
	if (p->nr_nodes)
		memset(p->slots, 0, NR_SLOTS * sizeof(*p->slots));
	if (p->nr_segments)
		memset(p->segments, 0, NR_PLACES * sizeof(*p->segments));
	p->nr_nodes = p->nr_segments = p->segment_bytes = 0;
	pack_begin(p);
}

void pack_begin(struct pack *p)
{
	uint32_t i;

	p->last_ns = p->last_pc = 0;
	p->last_tid = 0;
	for (i = 0; i < ARRAY_SIZE(p->last); i++)
		p->last[i].len = 0;
}

bool pack_is_full(const struct pack *p)
{
	return p->nr_nodes >= JOURNAL_NODES - MOST_LEVELS - 1 ||
	       p->nr_segments >= JOURNAL_SEGMENTS - JVM_MAX_SEGMENTS ||
	       p->segment_bytes >= JOURNAL_SEGMENT_BYTES - MOST_BYTES;
}

/* --- levels of stacks --- */

static uint8_t *put_node(struct pack *p, const struct pack_node *n, uint8_t *out)
{
	const uint64_t pc = n->kind_pc & ((1ull << JVM_FRAME_PC_BITS) - 1);
	const uint8_t kind = n->kind_pc >> JVM_FRAME_PC_BITS;

	*out++ = JOURNAL_NODE;
	out = varint_put(out, p->nr_nodes - n->parent);
	*out++ = kind;
	if (kind == JVM_NATIVE)
		return out;
	out = varint_put_signed(out, pc - p->last_pc);
	out = varint_put(out, n->a);
	out = varint_put(out, n->b);
	p->last_pc = pc;
	return out;
}

/* Return the number of a level, writing it if it is new. */
static uint32_t node_number(struct pack *p, const struct pack_node *n, uint8_t **out)
{
	uint32_t at = (uint32_t)mix64(n->kind_pc ^ mix64((uint64_t)n->parent << 32 | n->b) ^ n->a);

	for (;; at++) {
		uint32_t *slot = &p->slots[at % NR_SLOTS];
		const struct pack_node *m = &p->nodes[*slot];

		if (!*slot) {
			*slot = ++p->nr_nodes;
			p->nodes[*slot] = *n;
			*out = put_node(p, n, *out);
			return *slot;
		}
		if (m->kind_pc == n->kind_pc && m->a == n->a && m->b == n->b && m->parent == n->parent)
			return *slot;
	}
}

static uint32_t stack_number(struct pack *p, const struct jvm_rec_frame *frames, uint32_t nr, uint8_t **out)
{
	struct pack_node n = { .parent = 0 };

	while (nr--) {
		const struct jvm_rec_frame *f = &frames[nr];

		n.kind_pc = f->kind_pc;
		n.a = f->method;
		n.b = f->compile_id;
		if (f->kind_pc >> JVM_FRAME_PC_BITS == JVM_NATIVE) {
			n.kind_pc = (uint64_t)JVM_NATIVE << JVM_FRAME_PC_BITS;
			n.a = n.b = 0;
		}
		n.parent = node_number(p, &n, out);
	}
	return n.parent;
}

/* --- native stacks --- */

static size_t segment_len(const struct jvm_rec_segment *s)
{
	return sizeof(*s) + ALIGN8(s->len);
}

static uint8_t *put_bytes(uint8_t *out, const void *from, size_t len)
{
	memcpy(out, from, len);
	return out + len;
}

static bool is_code(const struct pack *p, uint64_t at)
{
	uint32_t lo = 0, hi = p->nr_code;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->code[mid].lo <= at)
			lo = mid;
		else
			hi = mid;
	}
	return at >= p->code[lo].lo && at < p->code[lo].hi;
}

/* Return a copy of a segment, without the words of its stack that do not matter. */
static const struct jvm_rec_segment *without_data(struct pack *p, const struct jvm_rec_segment *from)
{
	struct jvm_rec_segment *s = (void *)p->scratch;
	uint64_t *words = (uint64_t *)(s + 1), v;
	uint32_t i;

	memcpy(s, from, segment_len(from));
	for (i = 0; p->nr_code && i < s->len / 8; i++) {
		v = words[i] & address_bits;
		if (v - s->sp > s->len && !is_code(p, v))
			words[i] = 0;
	}
	return s;
}

/* Return the number of a segment, writing it if it is new. */
static uint32_t segment_number(struct pack *p, const struct jvm_rec_segment *s, uint8_t **out)
{
	const uint64_t hash = jvm_root_hash(s, s + 1, ALIGN8(s->len)) ^ mix64(s->end);
	uint32_t at = (uint32_t)mix64(hash);
	struct pack_segment *place;

	for (;; at++) {
		place = &p->segments[at % NR_PLACES];
		if (!place->number)
			break;
		if (place->hash == hash)
			return place->number;
	}
	*place = (struct pack_segment){ hash, ++p->nr_segments };
	p->segment_bytes += segment_len(s);
	*(*out)++ = JOURNAL_SEGMENT;
	*out = put_bytes(*out, s, segment_len(s));
	return place->number;
}

static bool is_interrupted(const struct jvm_rec_segment *s)
{
	return s->flags & JVM_SEG_EXACT;
}

/* --- samples --- */

/*
 * Return whether the record can be packed: each native frame must have a segment of its own, in their order.
 */
static bool is_packable(const struct jvm_rec_sample *r, uint32_t len)
{
	const struct jvm_rec_frame *f = (const void *)(r + 1);
	uint32_t nr = 0, i;

	if (r->flags & JVM_SAMPLE_WALL || r->nr_frames > MOST_LEVELS || len > MOST_BYTES)
		return false;
	for (i = 0; i < r->nr_frames; i++)
		if (f[i].kind_pc >> JVM_FRAME_PC_BITS == JVM_NATIVE && f[i].segment != nr++)
			return false;
	return nr == r->nr_segments;
}

static uint8_t *put_record_head(struct pack *p, const struct jvm_rec_sample *r, uint32_t node, uint8_t *out)
{
	const uint8_t has = (r->tid != p->last_tid ? JOURNAL_TID : 0) | (r->vthread ? JOURNAL_VTHREAD : 0) |
			    (r->value ? JOURNAL_VALUE : 0) | (r->leaf ? JOURNAL_LEAF : 0) |
			    (r->id ? JOURNAL_ID : 0);
	const struct {
		uint8_t bit;
		uint64_t v;
	} fields[] = {
		{ JOURNAL_TID, r->tid }, { JOURNAL_VTHREAD, r->vthread }, { JOURNAL_VALUE, r->value },
		{ JOURNAL_LEAF, r->leaf }, { JOURNAL_ID, r->id },
	};
	size_t i;

	*out++ = JOURNAL_SAMPLE;
	*out++ = has;
	out = varint_put(out, r->flags);
	out = varint_put(out, r->event);
	out = varint_put_signed(out, r->time_ns - p->last_ns);
	out = varint_put(out, p->nr_nodes - node);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (has & fields[i].bit)
			out = varint_put(out, fields[i].v);
	p->last_ns = r->time_ns;
	p->last_tid = r->tid;
	return out;
}

static uint8_t *put_packed_sample(struct pack *p, const struct jvm_rec_sample *r, uint8_t *out)
{
	const struct jvm_rec_frame *frames = (const void *)(r + 1);
	const struct jvm_rec_segment *first = (const void *)(frames + r->nr_frames), *s = first;
	uint32_t numbers[JVM_MAX_SEGMENTS], i, node;

	node = stack_number(p, frames, r->nr_frames, &out);
	for (i = 0; i < r->nr_segments; i++) {
		numbers[i] = is_interrupted(s) ? 0 : segment_number(p, without_data(p, s), &out);
		s = (const void *)((const char *)s + segment_len(s));
	}
	out = put_record_head(p, r, node, out);
	for (i = 0, s = first; i < r->nr_segments; i++) {
		out = varint_put(out, numbers[i] ? p->nr_segments - numbers[i] + 1 : 0);
		if (!numbers[i])
			out = put_bytes(out, without_data(p, s), segment_len(s));
		s = (const void *)((const char *)s + segment_len(s));
	}
	return out;
}

/* --- others --- */

/* Write the differences to the last record; the headers are equal. */
static uint8_t *put_delta(const char *rec, const struct pack_last *last, uint32_t type, uint8_t *out)
{
	uint8_t *bits = NULL;
	uint32_t i;

	*out++ = JOURNAL_DELTA;
	*out++ = (uint8_t)type;
	for (i = sizeof(struct jvm_rec); i < last->len; i++) {
		if (i % 8 == 0) {
			bits = out++;
			*bits = 0;
		}
		if (rec[i] != last->bytes[i]) {
			*bits |= (uint8_t)(1 << i % 8);
			*out++ = (uint8_t)rec[i];
		}
	}
	return out;
}

static uint8_t *put_plain(const char *rec, uint32_t len, uint32_t type, uint8_t *out)
{
	const struct jvm_rec h = { len, type };

	*out++ = JOURNAL_PLAIN;
	out = put_bytes(out, &h, sizeof(h));
	return put_bytes(out, rec + sizeof(h), len - sizeof(h));
}

uint8_t *pack_record(struct pack *p, const void *rec, uint32_t len, uint32_t type, uint8_t *out)
{
	struct pack_last *last = type < ARRAY_SIZE(p->last) ? &p->last[type] : NULL;

	if (type == JVM_REC_SAMPLE && is_packable(rec, len))
		return put_packed_sample(p, rec, out);
	if (!last || type == JVM_REC_SAMPLE || len > sizeof(last->bytes))
		return put_plain(rec, len, type, out);
	if (last->len == len)
		out = put_delta(rec, last, type, out);
	else
		out = put_plain(rec, len, type, out);
	last->len = len;
	memcpy(last->bytes, rec, len);
	return out;
}
