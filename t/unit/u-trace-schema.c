// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-trace-schema.c - traces of other versions, and the schema that each trace carries.
 */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "trace/format.h"
#include "trace/schema.h"
#include "trace/walk.h"
#include "traces.h"
#include "unit.h"

static void add_chunk(struct buf *b, const char *type, uint32_t seq, const struct buf *payload,
		      uint32_t flags)
{
	struct trf_chunk c = { .flags = flags, .stored_len = payload->len, .raw_len = payload->len,
		.nr_records = 1,
			       .seq = seq };

	memcpy(c.magic, TRF_CHUNK_MAGIC, 8);
	memcpy(c.type, type, 4);
	c.payload_crc = crc32(0, (uint8_t *)payload->data, payload->len);
	c.crc = crc32(0, (uint8_t *)&c, offsetof(struct trf_chunk, crc));
	buf_add(b, &c, sizeof(c));
	buf_add(b, payload->data, payload->len);
}

static void add_header(struct buf *b, uint16_t version)
{
	struct trf_header h = { .version = version, .header_size = sizeof(h), .start_mono_ns = 1000000000,
				.start_real_ns = 1000000000000000000 };

	memcpy(h.magic, TRF_MAGIC, 8);
	h.crc = crc32(0, (uint8_t *)&h, offsetof(struct trf_header, crc));
	buf_add(b, &h, sizeof(h));
}

static void add_record(struct buf *b, uint16_t major, uint32_t minor, const struct buf *payload)
{
	struct trf_record h = { (sizeof(h) + payload->len + 3) & ~3, major, minor, 1500000000 };

	h.type_len |= TRF_MIXED;
	buf_add(b, &h, sizeof(h));
	buf_add(b, payload->data, payload->len);
	while (b->len & 3)
		buf_u8(b, 0);
}

/* A file of the future: a record and a chunk nobody has heard of, the record described. */
static struct buf future_trace(const char *type)
{
	struct buf b = BUF_INIT, p = BUF_INIT, schema = BUF_INIT, data = BUF_INIT;
	static const char fields[] = "n:m8.4 kind:u8 hits:u16 debt:i32:cents list:v *list( id:x32 tags:u8 *tags( tag:s ) )";

	buf_u32(&p, 0x1234);
	buf_u32(&p, 0x42);
	buf_u32(&p, 0xff);
	buf_varint(&p, 7);
	buf_add(&p, "novelty", 7);
	buf_varint(&p, strlen(fields));
	buf_add(&p, fields, strlen(fields));
	add_record(&schema, TRF_MAJOR_FILE, TRF_FILE_SCHEMA, &p);
	buf_reset(&p);
	buf_u8(&p, 9);
	buf_u16(&p, 500);
	buf_u32(&p, (uint32_t)-5);
	buf_varint(&p, 2);
	buf_u32(&p, 0xbeef);
	buf_u8(&p, 2);
	buf_add(&p, "\3one\3two", 8);
	buf_u32(&p, 0xcafe);
	buf_u8(&p, 0);
	add_record(&data, 0x1234, 0x742, &p);
	buf_reset(&p);
	buf_u32(&p, 0x11223344);
	add_record(&data, 0x4321, 1, &p);	/* not described */
	add_header(&b, TRF_VERSION);
	add_chunk(&b, TRF_SCHEMA, 0, &schema, 0);
	add_chunk(&b, TRF_META, 1, &data, 0);
	add_chunk(&b, type, 2, &data, 0);
	buf_release(&p);
	buf_release(&schema);
	buf_release(&data);
	return b;
}

TEST(trace_unknown_records_and_optional_chunks_are_passed_over)
{
	struct buf b = future_trace("xtra");
	struct seen got = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };

	traces_save("future", &b);
	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
	CHECK_U64(got.nr_meta, 0);
	CHECK_U64(trace_reader_damage(t)->nr_places, 0);
	CHECK_U64(trace_reader_damage(t)->nr_bad_records, 0);
	trace_reader_close(t);
	buf_release(&b);
}

TEST(trace_unknown_required_chunk_is_an_error_that_says_so)
{
	struct buf b = future_trace("Xtra");
	struct seen got = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };

	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(-trace_read(t, &seen_all, &got, &e), EPROTO);
	CHECK(strstr(e.msg, "newer arcprof") && strstr(e.msg, "'Xtra'") && strstr(e.msg, "version 1"));
	trace_reader_close(t);
	buf_release(&b);
}

TEST(trace_other_version_is_an_error_that_says_so)
{
	struct buf b = BUF_INIT;
	struct trace_reader *t;
	struct err e = { 0 };

	add_header(&b, 7);
	CHECK_U64(-trace_reader_open_memory(&t, b.data, b.len, &e), EPROTO);
	CHECK_STR(e.msg, "trace: trace version 7, this arcprof reads version 1");
	buf_release(&b);
}

static void say_number(void *ctx, const struct schema_field *f, uint64_t v)
{
	buf_fmt(ctx, " %s=%lld%s", f->name, (long long)v, f->unit);
}

static void say_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len)
{
	buf_fmt(ctx, " %s=%.*s", f->name, (int)len, (const char *)p);
}

static void say_group(void *ctx, const struct schema_field *f) { buf_str(ctx, " ["); }
static void say_element(void *ctx, bool begin) { buf_str(ctx, begin ? " {" : " }"); }
static void say_group_end(void *ctx) { buf_str(ctx, " ]"); }

TEST(trace_schema_in_the_file_decodes_what_is_unknown)
{
	static const struct schema_visitor v = { say_number, say_bytes, say_group, say_element,
		say_group_end };
	struct buf b = future_trace("xtra"), out = BUF_INIT;
	struct schema *s = schema_new();
	struct walk_chunk c;
	struct walk *w;
	struct err e = { 0 };

	CHECK_U64(walk_open_memory(&w, b.data, b.len, &e), 0);
	while (walk_next(w, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(w, &c);
		struct span span = span_init(raw, c.h.raw_len);
		struct walk_record r = { 0 };

		if (!walk_is(&c, TRF_META) && !walk_is(&c, TRF_SCHEMA))
			continue;
		while (walk_record(&span, raw, &r) > 0) {
			const struct schema_kind *k = schema_find(s, r.major, r.minor);

			if (r.major == TRF_MAJOR_FILE)
				CHECK_U64(schema_learn(s, r.body, &e), 0);
			else if (r.major == 0x1234)
				CHECK(schema_visit(k, r.minor, r.body, &v, &out));
			else
				CHECK(!k);
		}
	}
	CHECK_STR(out.data, " n=7 kind=9 hits=500 debt=-5cents list=2 [ { id=48879 tags=2 [ { tag=one } { tag=two } ] }"
			    " { id=51966 tags=0 [ ] } ]");
	walk_close(w);
	schema_free(s);
	buf_release(&b);
	buf_release(&out);
}

TEST(trace_schema_that_makes_no_sense_is_refused)
{
	static const char *const bad[] = { "a", ":u8", "*n( a:u8 )", "n:u8 *n( a:u8", ")", "n:s *n( a:u8 )",
					   "n:u8 *n( *n( *n( a:u8 ) ) )" };
	struct schema *s = schema_new();
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct buf p = BUF_INIT;

		buf_add(&p, "\1\0\0\0\1\0\0\0\1\0\0\0\1x", 14);
		buf_varint(&p, strlen(bad[i]));
		buf_str(&p, bad[i]);
		CHECK_U64(-schema_learn(s, span_init(p.data, p.len), &e), EILSEQ);
		buf_release(&p);
	}
	CHECK(!schema_find(s, 1, 1));
	schema_free(s);
}

TEST(trace_own_schema_describes_every_own_record_to_its_last_byte)
{
	static const struct schema_visitor v = { say_number, say_bytes, say_group, say_element,
		say_group_end };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = false });
	struct schema *s = schema_new();
	struct sample *samples = traces_random(300);
	struct seen ignored = { 0 };
	struct buf out = BUF_INIT, b;
	struct walk_chunk c;
	struct walk *walk;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < 300; i++) {
		traces_write(w, &samples[i]);
		traces_write_any(w, &ignored);
	}
	b = traces_close(w);
	CHECK_U64(walk_open_memory(&walk, b.data, b.len, &e), 0);
	while (walk_next(walk, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(walk, &c);
		struct span span = span_init(raw, c.h.raw_len);
		struct walk_record r = { 0 };
		uint32_t nr = 0;

		for (; walk_record(&span, raw, &r) > 0; nr++) {
			const struct schema_kind *k;

			if (walk_is(&c, TRF_SCHEMA))
				CHECK_U64(schema_learn(s, r.body, &e), 0);
			k = schema_find(s, r.major, r.minor);
			CHECK(k != NULL);
			CHECK(k && schema_visit(k, r.minor, r.body, &v, &out));
			buf_reset(&out);
		}
		CHECK_U64(nr, c.h.nr_records);
	}
	walk_close(walk);
	schema_free(s);
	seen_release(&ignored);
	buf_release(&b);
	buf_release(&out);
	free(samples);
}
