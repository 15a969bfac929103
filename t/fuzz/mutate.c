// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mutate.c - a trace taken apart into chunks, records and fields, changed, and put together again.
 *
 * Fields are those of lib/trace's own description of its records, so a new kind of record needs nothing here.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "mutate.h"
#include "trace/codec.h"
#include "trace/schema.h"
#include "trace/walk.h"

struct field {				/* of a record's body, in order */
	enum { NUMBER, BYTES, GROUP, ELEMENT, ELEMENT_END, GROUP_END } what;
	enum schema_type type;		/* of NUMBER, and its bytes */
	uint8_t len;
	uint64_t v;			/* of NUMBER; of GROUP: the field that counts its elements */
	struct buf bytes;
};

struct record {
	uint16_t major;
	uint16_t type;
	uint32_t minor;
	uint64_t time_ns;
	struct buf body;
};

struct chunk {
	struct trf_chunk h;
	struct record *recs;
	size_t nr_recs, alloc_recs;
};

struct file {
	struct trf_header h;
	struct chunk *chunks;
	size_t nr_chunks, alloc_chunks;
};

static uint64_t state;

static uint64_t rnd(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (state >> 11) % below : 0;
}

/* ---- apart ---- */

static void take_records(struct chunk *c, const uint8_t *raw)
{
	struct span s = span_init(raw, c->h.raw_len);
	struct walk_record r = { 0 };

	while (walk_record(&s, raw, &r) > 0) {
		struct record *to;

		VEC_GROW(c->recs, c->nr_recs, c->alloc_recs);
		to = &c->recs[c->nr_recs++];
		*to = (struct record){ r.major, r.type, r.minor, r.time_ns, BUF_INIT };
		buf_add(&to->body, r.body.p, span_left(&r.body));
	}
}

static bool take_apart(struct file *f, const uint8_t *data, size_t len)
{
	struct walk_chunk c;
	struct walk *w;
	struct err e;

	memset(f, 0, sizeof(*f));
	if (walk_open_memory(&w, data, len, &e))
		return false;
	f->h = *walk_header(w);
	while (walk_next(w, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(w, &c);

		VEC_GROW(f->chunks, f->nr_chunks, f->alloc_chunks);
		f->chunks[f->nr_chunks] = (struct chunk){ .h = c.h };
		if (raw)
			take_records(&f->chunks[f->nr_chunks], raw);
		f->nr_chunks++;
	}
	walk_close(w);
	return f->nr_chunks;
}

static void release_record(struct record *r)
{
	buf_release(&r->body);
}

static void release_chunk(struct chunk *c)
{
	size_t i;

	for (i = 0; i < c->nr_recs; i++)
		release_record(&c->recs[i]);
	free(c->recs);
}

static void release(struct file *f)
{
	size_t i;

	for (i = 0; i < f->nr_chunks; i++)
		release_chunk(&f->chunks[i]);
	free(f->chunks);
}

/* ---- fields ---- */

struct fields {
	struct field *list;
	size_t nr, alloc;
	const struct schema_kind *kind;
	size_t latest[SCHEMA_MAX_FIELDS];	/* where a field of the kind is in the list, + 1 */
};

static struct field *add_field(struct fields *x, struct field f)
{
	VEC_GROW(x->list, x->nr, x->alloc);
	x->list[x->nr] = f;
	return &x->list[x->nr++];
}

static void on_number(void *ctx, const struct schema_field *f, uint64_t v)
{
	struct fields *x = ctx;

	if (f->type == SCHEMA_MINOR)
		return;
	add_field(x, (struct field){ .what = NUMBER, .type = f->type, .len = f->len, .v = v });
	x->latest[f - x->kind->fields] = x->nr;
}

static void on_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len)
{
	buf_add(&add_field(ctx, (struct field){ .what = BYTES })->bytes, p, len);
}

static void on_group(void *ctx, const struct schema_field *f)
{
	struct fields *x = ctx;

	add_field(x, (struct field){ .what = GROUP, .v = x->latest[f->count] });
}

static void on_element(void *ctx, bool begin)
{
	add_field(ctx, (struct field){ .what = begin ? ELEMENT : ELEMENT_END });
}

static void on_group_end(void *ctx)
{
	add_field(ctx, (struct field){ .what = GROUP_END });
}

static struct schema *own_schema(void)
{
	static struct schema *s;
	struct buf b = BUF_INIT;
	struct err e;
	unsigned int i;

	if (s)
		return s;
	s = schema_new();
	for (i = 0; i < nr_record_rows; i++) {
		const struct record_row *r = &record_rows[i];

		buf_reset(&b);
		buf_u32(&b, r->code.major);
		buf_u32(&b, r->code.minor);
		buf_u32(&b, r->code.minor_mask);
		buf_varint(&b, strlen(r->name));
		buf_str(&b, r->name);
		buf_varint(&b, strlen(r->fields));
		buf_str(&b, r->fields);
		if (schema_learn(s, span_init(b.data, b.len), &e))
			abort();
	}
	buf_release(&b);
	return s;
}

static bool fields_of(struct fields *x, const struct record *r)
{
	static const struct schema_visitor v = { on_number, on_bytes, on_group, on_element, on_group_end };

	memset(x, 0, sizeof(*x));
	x->kind = schema_find(own_schema(), r->major, r->minor);
	if (x->kind)
		schema_visit(x->kind, r->minor, span_init(r->body.data, r->body.len), &v, x);
	return x->nr;
}

static void release_fields(struct fields *x)
{
	size_t i;

	for (i = 0; i < x->nr; i++)
		buf_release(&x->list[i].bytes);
	free(x->list);
}

static void put_field(struct buf *b, const struct field *f)
{
	if (f->what == BYTES) {
		buf_varint(b, f->bytes.len);
		buf_add(b, f->bytes.data, f->bytes.len);
	} else if (f->what == NUMBER && f->type == SCHEMA_VARINT) {
		buf_varint(b, f->v);
	} else if (f->what == NUMBER && f->type == SCHEMA_ZIGZAG) {
		buf_varint(b, f->v << 1 ^ (uint64_t)((int64_t)f->v >> 63));
	} else if (f->what == NUMBER) {
		buf_add(b, &f->v, f->len);
	}
}

/* Where the element that begins at "at" ends. */
static size_t end_of(const struct fields *x, size_t at)
{
	size_t depth = 0;

	for (; at < x->nr; at++) {
		depth += x->list[at].what == ELEMENT;
		if (x->list[at].what == ELEMENT_END && !--depth)
			break;
	}
	return at;
}

/* The group around the element at "at". */
static size_t group_of(const struct fields *x, size_t at)
{
	size_t depth = 0;

	while (at--) {
		if (x->list[at].what == GROUP_END)
			depth++;
		else if (x->list[at].what == GROUP && !depth--)
			return at;
	}
	return 0;
}

/* Writes the body anew: the elements from..to are there "times" times. */
static void put_together(struct record *r, const struct fields *x, size_t from, size_t to, size_t times)
{
	size_t i;

	buf_reset(&r->body);
	for (i = 0; i < x->nr; i++) {
		put_field(&r->body, &x->list[i]);
		if (i == to && times > 1) {
			i = from - 1;
			times--;
		}
	}
}

static uint64_t odd_number(uint64_t v, const struct fields *x)
{
	static const uint64_t odd[] = { 0, 1, 2, 3, 7, 8, 255, 256, 4095, 4096, 65535, 65536, 0x7fffffff,
		0x80000000,
					0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000 };

	switch (rnd(8)) {
	case 0:
		return odd[rnd(ARRAY_SIZE(odd))];
	case 1:
		return -rnd(4);
	case 2:
		return v + rnd(9) - 4;
	case 3:
		return v ^ 1ull << rnd(64);
	case 4:
		return x->list[rnd(x->nr)].v;
	case 5:
		return v << rnd(8);
	default:
		return rnd(32);
	}
}

static void change_bytes(struct buf *b)
{
	static const char *const odd[] = { "", "\xff\xff\xff\xff\x7f", "\x1b]0;x\a", "\n", "=1", "[", "/", "a/b/C", "\xf0\x9f" };
	size_t hits = 1 + rnd(4);

	if (!b->len || !rnd(4)) {
		buf_str(b, odd[rnd(ARRAY_SIZE(odd))]);
		return;
	}
	if (!rnd(4))
		b->len = rnd(b->len);
	while (hits-- && b->len)
		b->data[rnd(b->len)] = rnd(2) ? rnd(256) : rnd(16);
}

/* One element of a group less, or some more; now and then without saying so in the count. */
static void change_group(struct record *r, struct fields *x, size_t at)
{
	static const size_t many[] = { 2, 2, 3, 17, 300, 5000 };
	size_t end = end_of(x, at), group = group_of(x, at), count = x->list[group].v;
	size_t times = many[rnd(ARRAY_SIZE(many))], i;

	if (end == x->nr)
		return;
	times = MIN(times, 1 + (64 << 10) / (end - at));
	if (!rnd(3)) {
		for (i = at; i <= end; i++)
			if (x->list[i].what == NUMBER || x->list[i].what == BYTES)
				x->list[i].what = GROUP_END;	/* which has no bytes */
		times = 0;
	}
	if (count && rnd(10))
		x->list[count - 1].v += times - 1;
	put_together(r, x, at, end, times);
}

static void change_body(struct record *r)
{
	struct fields x;
	size_t hits = 1 + rnd(3), at;

	if (!fields_of(&x, r)) {
		change_bytes(&r->body);
		release_fields(&x);
		return;
	}
	while (hits--) {
		at = rnd(x.nr);
		if (x.list[at].what == NUMBER) {
			x.list[at].v = odd_number(x.list[at].v, &x);
		} else if (x.list[at].what == BYTES) {
			change_bytes(&x.list[at].bytes);
		} else if (x.list[at].what == ELEMENT) {
			change_group(r, &x, at);
			release_fields(&x);
			return;
		}
	}
	put_together(r, &x, 0, 0, 0);
	release_fields(&x);
}

/* ---- records and chunks ---- */

static struct record *any_record(struct file *f, struct chunk **of)
{
	struct chunk *c = &f->chunks[rnd(f->nr_chunks)];
	int tries;

	/* The description of the records is the longest, and the least of interest. */
	for (tries = 0; tries < 8 && (!c->nr_recs || (!memcmp(c->h.type, TRF_SCHEMA, 4) && rnd(16))); tries++)
		c = &f->chunks[rnd(f->nr_chunks)];
	*of = c;
	return c->nr_recs ? &c->recs[rnd(c->nr_recs)] : NULL;
}

static void copy_record(struct chunk *to, const struct record *r, size_t at)
{
	struct record copy = *r;

	copy.body = (struct buf)BUF_INIT;
	buf_add(&copy.body, r->body.data, r->body.len);
	VEC_GROW(to->recs, to->nr_recs, to->alloc_recs);
	memmove(&to->recs[at + 1], &to->recs[at], (to->nr_recs - at) * sizeof(*to->recs));
	to->recs[at] = copy;
	to->nr_recs++;
}

static void change_records(struct file *f, struct file *other)
{
	struct chunk *c, *to;
	struct record *r = any_record(f, &c), *from, swap;

	if (!r)
		return;
	switch (rnd(other ? 4 : 12)) {
	case 0:		/* another one, as it is or after it */
	case 1:
		from = any_record(other ? other : f, &to);
		if (from)
			copy_record(c, from, rnd(c->nr_recs + 1));
		break;
	case 2:
		release_record(r);
		memmove(r, r + 1, (&c->recs[c->nr_recs] - (r + 1)) * sizeof(*r));
		c->nr_recs--;
		break;
	case 3:
		from = &c->recs[rnd(c->nr_recs)];
		swap = *r;
		*r = *from;
		*from = swap;
		break;
	case 4:
		r->time_ns = rnd(4) ? r->time_ns + (rnd(5) - 2) * (1ull << rnd(40)) : rnd(2) - 1;
		break;
	case 5:
		if (rnd(4))
			r->minor ^= 1u << rnd(32);
		else
			r->minor = record_rows[rnd(nr_record_rows)].code.minor;
		break;
	default:
		change_body(r);
	}
}

static void change_chunks(struct file *f)
{
	static const char *const types[] = { TRF_META, TRF_STACKS, TRF_SAMPLES, TRF_BRANCHES, TRF_CALLS,
		TRF_SCHED,
					     TRF_END };
	size_t at = rnd(f->nr_chunks), i = rnd(f->nr_chunks);
	struct chunk swap = f->chunks[at], *copy;

	switch (rnd(6)) {
	case 0:
		f->chunks[at] = f->chunks[i];
		f->chunks[i] = swap;
		break;
	case 1:
		release_chunk(&swap);
		memmove(&f->chunks[at], &f->chunks[at + 1], (f->nr_chunks - at - 1) * sizeof(swap));
		f->nr_chunks--;
		break;
	case 2:
		VEC_GROW(f->chunks, f->nr_chunks, f->alloc_chunks);
		copy = &f->chunks[f->nr_chunks++];
		*copy = (struct chunk){ .h = f->chunks[at].h };
		for (i = 0; i < swap.nr_recs; i++)
			copy_record(copy, &swap.recs[i], i);
		break;
	case 3:
		f->chunks[at].h.stream = rnd(4) ? rnd(3) : rnd(1ull << 32);
		break;
	case 4:
		memcpy(f->chunks[at].h.type, types[rnd(ARRAY_SIZE(types))], 4);
		break;
	default:
		f->chunks[at].h.first_ns ^= 1ull << rnd(64);
	}
}

/* ---- together ---- */

static void put_record(struct buf *b, const struct record *r)
{
	size_t head = r->type == TRF_NO_TIME ? 8 : r->type == TRF_EXTENDED ? 20 : 16;
	size_t len = (head + r->body.len + 3) & ~(size_t)3;
	uint16_t type = r->type;

	if (len > 0xfffc && type != TRF_EXTENDED) {
		type = TRF_EXTENDED;
		len = (20 + r->body.len + 3) & ~(size_t)3;
	}
	buf_u16(b, (type == TRF_EXTENDED ? len & 0xfffc : len) | type);
	buf_u16(b, r->major);
	buf_u32(b, r->minor);
	if (type != TRF_NO_TIME)
		buf_u64(b, r->time_ns);
	if (type == TRF_EXTENDED)
		buf_u32(b, len);
	buf_add(b, r->body.data, r->body.len);
	while (b->len & 3)
		buf_u8(b, 0);
}

static void deflate_payload(struct trf_chunk *h, struct buf *raw)
{
	uLongf len = compressBound(raw->len);
	uint8_t *packed = xmalloc(len);

	if (compress2(packed, &len, (Bytef *)raw->data, raw->len, 1) == Z_OK && len < raw->len) {
		buf_reset(raw);
		buf_add(raw, packed, len);
		h->flags |= TRF_ZLIB;
	}
	free(packed);
}

static void put_chunk(struct buf *b, const struct chunk *c, uint32_t seq)
{
	struct buf raw = BUF_INIT;
	struct trf_chunk h = c->h;
	size_t i;

	for (i = 0; i < c->nr_recs && raw.len < TRF_MAX_RAW; i++)
		put_record(&raw, &c->recs[i]);
	h.seq = rnd(200) ? seq : rnd(4);
	h.raw_len = MIN(raw.len, (size_t)TRF_MAX_RAW);
	raw.len = h.raw_len;
	h.nr_records = c->nr_recs;
	h.flags = rnd(400) ? 0 : TRF_TRANSPOSED;
	h.stride = h.flags ? 24 : 0;
	if (!rnd(40) || raw.len > 64 << 10)
		deflate_payload(&h, &raw);
	h.stored_len = raw.len;
	h.payload_crc = crc32(0, (Bytef *)raw.data, raw.len);
	h.crc = crc32(0, (Bytef *)&h, offsetof(struct trf_chunk, crc));
	buf_add(b, &h, sizeof(h));
	buf_add(b, raw.data, raw.len);
	buf_release(&raw);
}

static uint8_t *put_file(struct file *f, size_t *len)
{
	struct buf b = BUF_INIT;
	size_t i;

	if (rnd(4))
		((uint8_t *)&f->h)[MUTATE_MODE_AT] = 1 + rnd(255);
	f->h.crc = crc32(0, (Bytef *)&f->h, offsetof(struct trf_header, crc));
	buf_add(&b, &f->h, sizeof(f->h));
	for (i = 0; i < f->nr_chunks; i++)
		put_chunk(&b, &f->chunks[i], i);
	*len = b.len;
	return (uint8_t *)b.data;
}

/* Without any repair: for the code that finds its way over damage. */
static uint8_t *break_bytes(const uint8_t *data, size_t len, size_t *out_len)
{
	uint8_t *copy = xmalloc(len + 1);
	size_t hits = 1 + rnd(8);

	memcpy(copy, data, len);
	while (hits-- && len)
		copy[rnd(len)] = rnd(256);
	*out_len = rnd(4) ? len : rnd(len + 1);
	return copy;
}

static uint8_t *mutate(const uint8_t *data, size_t len, struct file *other, uint64_t seed, size_t *out_len)
{
	struct file f;
	size_t hits;
	uint8_t *out;

	state = seed * 0x9e3779b97f4a7c15ull | 1;
	for (hits = 0; hits < 4; hits++)
		rnd(0);
	if (!rnd(20) || !take_apart(&f, data, len))
		return break_bytes(data, len, out_len);
	for (hits = 1 + rnd(rnd(4) ? 3 : 12); hits && f.nr_chunks; hits--) {
		if (rnd(12) || other)
			change_records(&f, other);
		else
			change_chunks(&f);
	}
	out = put_file(&f, out_len);
	release(&f);
	return out;
}

uint8_t *mutate_trace(const uint8_t *data, size_t len, uint64_t seed, size_t *out_len)
{
	return mutate(data, len, NULL, seed, out_len);
}

uint8_t *mutate_cross(const uint8_t *data, size_t len, const uint8_t *other, size_t other_len, uint64_t seed,
		      size_t *out_len)
{
	struct file f;
	uint8_t *out;
	bool ok = take_apart(&f, other, other_len);

	out = mutate(data, len, ok ? &f : NULL, seed, out_len);
	if (ok)
		release(&f);
	return out;
}
