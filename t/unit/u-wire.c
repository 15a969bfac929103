// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-wire.c - an agent's records: those of jvm/table.h are encoded as the agent does it, and every row must
 * come back, and be refused when it is truncated; samples are built here byte by byte.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fields.h"
#include "base/mem.h"
#include "jvm/encode.h"
#include "jvm/wall.h"
#include "jvm/wire.h"
#include "trace/record.h"
#include "unit.h"

/* The sink notes here what it was given. */
static struct {
	int nr_samples, nr_records;
	struct jvm_sample sample;
	bool has_wall;
	struct jvm_wall wall;
	struct jvm_frame frames[8];
	struct jvm_segment segments[4];
	uint8_t stack[64];
	struct buf said;		/* the last record of the table */
} got;

static void on_sample(void *ctx, const struct jvm_sample *s)
{
	size_t i;

	got.nr_samples++;
	got.sample = *s;
	got.has_wall = s->wall;
	if (s->wall)
		got.wall = *s->wall;
	for (i = 0; i < s->nr_frames && i < ARRAY_SIZE(got.frames); i++)
		got.frames[i] = s->frames[i];
	for (i = 0; i < s->nr_segments && i < ARRAY_SIZE(got.segments); i++)
		got.segments[i] = s->segments[i];
	if (s->nr_segments && s->segments[0].len <= sizeof(got.stack))
		memcpy(got.stack, s->segments[0].stack, s->segments[0].len);
}

/* A record as a line of text. */
static void put_record(struct buf *b, uint32_t type, const union jvm_record *r)
{
	const struct wire_kind *k = &wire_kinds[type];
	const char *rec = (const char *)r;
	uint32_t i, n, nr, len;
	const struct wire_field *f = k->fields(&nr);

	buf_fmt(b, "%s %" PRIu64, k->name, r->code.time_ns);
	for (i = 0; i < nr; i++, f++) {
		uint64_t v = 0;
		const uint8_t *p;

		if (f->op < WIRE_TEXT) {
			memcpy(&v, rec + f->off, f->op == WIRE_U64 ? 8 : 4);
			buf_fmt(b, " %" PRIu64, v);
			continue;
		}
		memcpy(&p, rec + f->off, sizeof(p));
		memcpy(&len, rec + f->len_off, sizeof(len));
		buf_fmt(b, " %" PRIu32 ":", len);
		for (n = 0; n < len; n++)
			buf_fmt(b, "%02x", p[n]);
	}
}

static bool texts_terminated(uint32_t type, const union jvm_record *r)
{
	const struct wire_kind *k = &wire_kinds[type];
	uint32_t i, nr, len;
	const struct wire_field *f = k->fields(&nr);
	const char *p;

	for (i = 0; i < nr; i++, f++) {
		memcpy(&p, (const char *)r + f->off, sizeof(p));
		memcpy(&len, (const char *)r + f->len_off, sizeof(len));
		if (f->op == WIRE_TEXT && strlen(p) != len)
			return false;
	}
	return true;
}

static void on_record(void *ctx, enum jvm_rec_type type, union jvm_record *r)
{
	CHECK(texts_terminated(type, r));
	got.nr_records++;
	buf_reset(&got.said);
	put_record(&got.said, type, r);
}

static const struct wire_sink sink = { on_sample, on_record, NULL };
static struct wire_scratch scratch;

static struct buf encode(enum jvm_rec_type type, const union jvm_record *r)
{
	struct buf b = BUF_INIT;

	switch (type) {
#define RECORD(s, ...) \
	case JVM_REC_##s: \
		b.len = jvm_size_##s(&r->s); \
		memset(buf_room(&b, b.len), 0xee, b.len); \
		jvm_encode_##s(b.data, b.len, &r->s); \
		break;
#include "jvm/table.h"
	default:
		abort();
	}
	*(struct jvm_rec *)b.data = (struct jvm_rec){ b.len, type };
	return b;
}

/* Three frames, one segment of 24 bytes of stack. */
static struct buf a_sample(void)
{
	const struct jvm_rec_sample head = {
		.time_ns = 77, .tid = 5, .event = 2, .nr_frames = 3, .nr_segments = 1,
		.flags = JVM_SAMPLE_LATE,
	};
	const struct jvm_rec_frame frames[] = {
		{ (uint64_t)JVM_NATIVE << 56 | 0x7f0000001000, .segment = 0 },
		{ (uint64_t)JVM_COMPILED << 56 | 0x7f0000002000, .method = 11, .compile_id = 42 },
		{ (uint64_t)JVM_MARK << 56, .line = 321, .mark = JVM_MARK_INTERPRETER },
	};
	const struct jvm_rec_segment seg = {
		.pc = 0x7f0000001000, .sp = 0x7ffc00000000, .fp = 1, .rbx = 2, .r15 = 3,
		.flags = 0x1f | JVM_SEG_EXACT | JVM_SEG_TRIMMED, .len = 20, .end = 0x7ffc00001000,
	};
	struct buf b = BUF_INIT;

	buf_add(&b, &head, sizeof(head));
	buf_add(&b, frames, sizeof(frames));
	buf_add(&b, &seg, sizeof(seg));
	buf_add(&b, "abcdefghijklmnopqrst", 20);
	buf_add(&b, "\0\0\0", 4);
	*(struct jvm_rec *)b.data = (struct jvm_rec){ b.len, JVM_REC_SAMPLE };
	return b;
}

static int decode(const struct buf *b)
{
	struct err e;

	return wire_record(b->data, b->len, &sink, &scratch, &e);
}

/* Decodes the first len bytes, which lie at the end of a block of memory, with a size that agrees. */
static int decode_first(const struct buf *b, size_t len)
{
	uint64_t *copy = xmalloc(len);
	struct err e;
	int r;

	memcpy(copy, b->data, len);
	((struct jvm_rec *)copy)->size = len;
	r = wire_record(copy, len, &sink, &scratch, &e);
	free(copy);
	return r;
}

/* --- records of the table --- */

static uint64_t any(void)
{
	return unit_random() >> unit_random() % 64;
}

/* Bytes that are good for any field: of a text, whole pairs, one pc with two frames, one named value. */
static const uint8_t *any_bytes(enum wire_op op, uint32_t *len)
{
	static const uint8_t pairs[] = { 0x7f, 0xd2, 0x09, 4, 3, 0x81, 1, 1 };
	static const uint8_t inlines[] = { 1, 16, 2, 9, 0x85, 1, 10, 0 };
	static const uint8_t fields[] = { FIELD_TEXT, 1, 'a', 3, 0, 'x', 'y', 'z' };
	static uint8_t names[JVM_MAX_STRING + 100];
	size_t i;

	for (i = 0; !names[0] || (i && i < sizeof(names)); i++)
		names[i] = 1 + i % 255;
	*len = op == WIRE_TEXT ? unit_random() % (unit_random() % 20 ? 60 : JVM_MAX_STRING + 1) :
				 unit_random() % 2 * sizeof(pairs);
	return op == WIRE_TEXT ? names + unit_random() % 100 : op == WIRE_PAIRS ? pairs :
	       op == WIRE_FIELDS ? fields : inlines;
}

static void any_record(uint32_t type, union jvm_record *r)
{
	const struct wire_kind *k = &wire_kinds[type];
	uint32_t i, nr, len;
	const struct wire_field *f = k->fields(&nr);
	uint64_t v = any();

	memset(r, 0, sizeof(*r));
	memcpy(r, &v, sizeof(v));
	for (i = 0; i < nr; i++, f++) {
		const uint8_t *p;

		v = any() | 1;
		if (f->op < WIRE_TEXT) {
			memcpy((char *)r + f->off, &v, f->op == WIRE_U64 ? 8 : 4);
			continue;
		}
		p = any_bytes(f->op, &len);
		memcpy((char *)r + f->off, &p, sizeof(p));
		memcpy((char *)r + f->len_off, &len, sizeof(len));
	}
}

static void check_kind(uint32_t type)
{
	struct buf b, want = BUF_INIT;
	union jvm_record r;
	size_t len;
	int before;

	any_record(type, &r);
	put_record(&want, type, &r);
	b = encode(type, &r);
	CHECK_U64(b.len % 8, 0);
	CHECK_U64(decode_first(&b, b.len), 0);
	CHECK_STR(got.said.data, want.data);
	before = got.nr_records;
	for (len = sizeof(struct jvm_rec); len < b.len; len += 8)
		CHECK(decode_first(&b, len) == -EILSEQ);
	buf_add(&b, "\0\0\0\0\0\0\0", 8);
	CHECK(decode_first(&b, b.len) == -EILSEQ);
	CHECK_U64(got.nr_records, before);
	buf_release(&b);
	buf_release(&want);
}

TEST(wire_every_record_comes_back_and_no_truncated_or_longer_one)
{
	uint32_t type, round;

	for (round = 0; round < 50; round++)
		for (type = 0; type < JVM_NR_REC_TYPES; type++)
			if (wire_kinds[type].name)
				check_kind(type);
	CHECK_U64(got.nr_records, 50 * (JVM_NR_REC_TYPES - JVM_REC_SAMPLE - 1));
}

/* Counts what is left of each byte of the struct. */
static void cover(uint8_t *covered, size_t off, size_t len)
{
	while (len--)
		covered[off++]++;
}

TEST(wire_every_member_of_a_struct_is_one_field)
{
	uint32_t type, i, nr;

	for (type = JVM_REC_SAMPLE + 1; type < JVM_NR_REC_TYPES; type++) {
		const struct wire_kind *k = &wire_kinds[type];
		const struct wire_field *f = k->fields(&nr);
		uint8_t covered[sizeof(union jvm_record)] = { 0 };
		size_t gap = 0;

		cover(covered, 0, sizeof(uint64_t));
		for (i = 0; i < nr; i++, f++) {
			cover(covered, f->off, f->op == WIRE_U64 || f->op >= WIRE_TEXT ? 8 : 4);
			if (f->op >= WIRE_TEXT)
				cover(covered, f->len_off, sizeof(uint32_t));
		}
		for (i = 0; i < k->size; i++) {
			CHECK(covered[i] <= 1);
			gap = covered[i] ? 0 : gap + 1;
			CHECK(gap <= 4);	/* what alignment leaves */
		}
	}
}

static const union jvm_record a_code = { .code = {
	.time_ns = 1, .addr = 0x1000, .size = 64, .method = 9, .compile_id = 3, .level = 4,
	.inl = (const uint8_t *)"\1\20\2\11\5\12", .inl_len = 7,	/* one pc, two frames */
} };
static const union jvm_record a_method = { .method = {
	.time_ns = 2, .method = 9, .class_name = "java/lang/String", .class_len = 16,
	.name = "length", .name_len = 6, .sig = "()I", .sig_len = 3,
	.lines = (const uint8_t *)"\0\24\10\4", .lines_len = 4,
} };

TEST(wire_refuses_a_key_that_is_0)
{
	union jvm_record r = a_method;
	struct buf b = encode(JVM_REC_method, &r);

	CHECK_U64(decode(&b), 0);
	buf_release(&b);
	r.method.method = 0;
	b = encode(JVM_REC_method, &r);
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
}

TEST(wire_refuses_lines_that_are_not_pairs)
{
	union jvm_record r = a_method;
	struct buf b;

	r.method.lines_len = 3;
	b = encode(JVM_REC_method, &r);
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
}

TEST(wire_refuses_an_inline_table_that_ends_early)
{
	uint8_t four[] = { 1, 16, 4, 9, 5, 10, 0 };	/* four frames, two are there */
	union jvm_record r = a_code;
	struct buf b;

	r.code.inl = four;
	b = encode(JVM_REC_code, &r);
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
	r = a_code;
	r.code.inl = NULL;
	r.code.inl_len = 4000;
	b = encode(JVM_REC_code, &r);
	CHECK(decode_first(&b, 64) == -EILSEQ);
	buf_release(&b);
}

TEST(wire_text_ends_at_its_first_zero_and_is_cut_by_its_writer)
{
	static char name[JVM_MAX_STRING + 10];
	union jvm_record r = { .stub = { .name = "ma\0in", .name_len = 5 } }, want = r;
	struct buf b = encode(JVM_REC_stub, &r), said = BUF_INIT;

	CHECK_U64(decode(&b), 0);
	want.stub.name_len = 2;
	put_record(&said, JVM_REC_stub, &want);
	CHECK_STR(got.said.data, said.data);
	buf_release(&b);

	memset(name, 'x', sizeof(name));
	r.stub.name = name;
	r.stub.name_len = sizeof(name);
	b = encode(JVM_REC_stub, &r);
	CHECK_U64(b.len, 8 + 8 + 16 + 4 + JVM_MAX_STRING + 4);
	CHECK_U64(decode(&b), 0);
	((uint32_t *)b.data)[8] = JVM_MAX_STRING + 1;
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
	buf_release(&said);
}

static void check_text(const char *told, const char *want)
{
	union jvm_record r = { .stub = { .name = told, .name_len = strlen(told) } };
	struct buf b = encode(JVM_REC_stub, &r), said = BUF_INIT;

	CHECK_U64(decode(&b), 0);
	r.stub.name = want;
	r.stub.name_len = strlen(want);
	put_record(&said, JVM_REC_stub, &r);
	CHECK_STR(got.said.data, said.data);
	buf_release(&b);
	buf_release(&said);
}

TEST(wire_text_is_utf8_where_javas_has_surrogates)
{
	check_text("a\xed\xa0\xbd\xed\xb8\x80" "b\xc3\xaf", "a\xf0\x9f\x98\x80" "b\xc3\xaf");
	check_text("\xed\xaf\xbf\xed\xbf\xbf", "\xf4\x8f\xbf\xbf");
	/* no pair, and one that was cut */
	check_text("\xed\xb8\x80\xed\xa0\xbd!", "\xed\xb8\x80\xed\xa0\xbd!");
	check_text("\xed\xa0\xbd\xed\xb8", "\xed\xa0\xbd\xed\xb8");
}

TEST(wire_skips_a_type_that_it_does_not_know)
{
	struct jvm_rec unknown[] = { { 8, JVM_NR_REC_TYPES }, { 8, 4711 }, { 8, JVM_REC_PAD } };
	struct err e;

	CHECK_U64(wire_records(unknown, sizeof(unknown), &sink, &scratch, &e), sizeof(unknown));
	CHECK_U64(got.nr_records + got.nr_samples, 0);
}

TEST(wire_log_is_read_record_by_record_up_to_an_incomplete_one)
{
	struct buf b = encode(JVM_REC_method, &a_method), c = encode(JVM_REC_code, &a_code);
	size_t first = b.len;
	struct err e;

	buf_add(&b, c.data, c.len);
	CHECK_U64(wire_records(b.data, b.len, &sink, &scratch, &e), b.len);
	CHECK_U64(wire_records(b.data, b.len - 8, &sink, &scratch, &e), first);
	CHECK_U64(wire_records(b.data, first - 8, &sink, &scratch, &e), 0);
	((struct jvm_rec *)b.data)->size = 4;
	CHECK(wire_records(b.data, b.len, &sink, &scratch, &e) == -EILSEQ);
	buf_release(&b);
	buf_release(&c);
}

/* --- samples --- */

TEST(wire_sample_record_decodes_to_what_was_written)
{
	struct buf b = a_sample();

	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.nr_samples, 1);
	CHECK_U64(got.sample.time_ns, 77);
	CHECK_U64(got.sample.tid, 5);
	CHECK_U64(got.sample.event, 2);
	CHECK(got.sample.late);
	CHECK(!got.sample.of_source && !got.has_wall);
	CHECK_U64(got.frames[0].kind, JVM_NATIVE);
	CHECK_U64(got.frames[1].pc, 0x7f0000002000);
	CHECK_U64(got.frames[1].method, 11);
	CHECK_U64(got.frames[1].compile_id, 42);
	CHECK_U64(got.frames[2].mark, MARK_JAVA_INTERPRETER);
	CHECK_U64(got.segments[0].r15, 3);
	CHECK_U64(got.segments[0].valid, 0x1f);
	CHECK(got.segments[0].exact && !got.segments[0].to_root);
	CHECK(got.segments[0].trimmed);
	CHECK_U64(got.segments[0].end, 0x7ffc00001000);
	CHECK_U64(got.segments[0].len, 20);
	CHECK(!memcmp(got.stack, "abcdefghijklmnopqrst", 20));
	buf_release(&b);
}

TEST(wire_sample_of_a_source_has_its_value_and_leaf)
{
	struct buf b = a_sample();
	struct jvm_rec_sample *head = (void *)b.data;

	head->flags = JVM_SAMPLE_SOURCE;
	head->value = 1ull << 40;
	head->leaf = 17;
	CHECK_U64(decode(&b), 0);
	CHECK(got.sample.of_source && !got.sample.late);
	CHECK_U64(got.sample.event, 2);
	CHECK_U64(got.sample.value, 1ull << 40);
	CHECK_U64(got.sample.leaf, 17);
	buf_release(&b);
}

/* The sample above of a thread that waits. */
static struct buf a_wait(const struct jvm_rec_wall *wall)
{
	struct buf b = BUF_INIT, plain = a_sample();
	size_t head = sizeof(struct jvm_rec_sample);

	((struct jvm_rec_sample *)plain.data)->flags = JVM_SAMPLE_WALL;
	buf_add(&b, plain.data, head);
	buf_add(&b, wall, sizeof(*wall));
	buf_add(&b, plain.data + head, plain.len - head);
	((struct jvm_rec *)b.data)->size = b.len;
	buf_release(&plain);
	return b;
}

static const struct jvm_rec_wall a_wall = {
	.since_ns = 1ull << 50, .interval_ns = 10000001, .block_nr = 7, .slot = 32768, .reason = WALL_PARK,
	.leaf = 9, .class = WALL_CLASS_FUTEX, .syscall = -202, .args = { 1, 2, 1ull << 63 },
};

TEST(wire_sample_of_a_wait_has_block_reason_and_leaf)
{
	struct buf b = a_wait(&a_wall);

	CHECK_U64(decode(&b), 0);
	CHECK(got.has_wall);
	CHECK_U64(got.wall.since_ns, 1ull << 50);
	CHECK_U64(got.wall.interval_ns, 10000001);
	CHECK_U64(got.wall.block_nr, 7);
	CHECK_U64(got.wall.slot, 32768);
	CHECK_U64(got.wall.reason, WALL_PARK);
	CHECK_U64(got.wall.leaf, 9);
	CHECK_U64(got.wall.class, WALL_CLASS_FUTEX);
	CHECK(got.wall.syscall == -202);
	CHECK_U64(got.wall.args[2], 1ull << 63);
	CHECK_U64(got.frames[1].compile_id, 42);
	CHECK(!memcmp(got.stack, "abcdefghijklmnopqrst", 20));
	buf_release(&b);
}

TEST(wire_sample_of_a_wait_may_not_know_its_block)
{
	struct jvm_rec_wall wall = a_wall;
	struct buf b;

	wall.block_nr = 0;
	b = a_wait(&wall);
	CHECK_U64(decode(&b), 0);
	CHECK(got.has_wall);
	CHECK_U64(got.wall.block_nr, 0);
	buf_release(&b);
}

TEST(wire_sample_of_a_wait_that_cannot_be_is_refused)
{
	struct jvm_rec_wall bad[] = { a_wall, a_wall, a_wall, a_wall };
	struct buf b;
	size_t i;

	bad[0].block_nr = 8;	/* 0: it is not known which */
	bad[1].interval_ns = 0;
	bad[2].reason = WALL_NR_REASONS;
	bad[3].class = WALL_NR_CLASSES;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		b = a_wait(&bad[i]);
		CHECK(decode(&b) == -EILSEQ);
		buf_release(&b);
	}
	CHECK_U64(got.nr_samples, 0);
}

TEST(wire_sample_of_a_wait_refuses_every_truncation)
{
	struct buf b = a_wait(&a_wall);
	size_t len;

	for (len = sizeof(struct jvm_rec); len < b.len; len += 8)
		CHECK(decode_first(&b, len) == -EILSEQ);
	CHECK_U64(got.nr_samples, 0);
	buf_release(&b);
}

TEST(wire_sample_refuses_every_truncation)
{
	struct buf b = a_sample();
	size_t len;

	for (len = sizeof(struct jvm_rec); len < b.len; len += 8)
		CHECK(decode_first(&b, len) == -EILSEQ);
	CHECK_U64(got.nr_samples, 0);
	buf_release(&b);
}

TEST(wire_sample_refuses_a_frame_of_a_segment_that_is_not_there)
{
	struct buf b = a_sample();
	struct jvm_rec_frame *f = (void *)(b.data + sizeof(struct jvm_rec_sample));

	f[0].segment = 1;
	CHECK(decode(&b) == -EILSEQ);
	f[0].segment = 0;
	f[1].kind_pc = 99ull << 56;
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
}

TEST(wire_mark_of_a_newer_agent_becomes_not_walkable)
{
	struct buf b = a_sample();
	struct jvm_rec_frame *f = (void *)(b.data + sizeof(struct jvm_rec_sample));

	f[2].mark = 4711;
	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.frames[2].mark, MARK_JAVA_NOT_WALKABLE);
	buf_release(&b);
}
