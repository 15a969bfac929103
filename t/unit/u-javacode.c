// SPDX-License-Identifier: GPL-2.0-or-later
/* Code is read from a process: here from this one. */
#include <string.h>
#include <unistd.h>

#include "collect/jvm/javacode.h"
#include "traces.h"
#include "unit.h"

enum { PROC = 7, ID = 42 };

static const uint8_t code[64] = { 0x0f, 0xaf, 0xc0, 0xc3, 1, 2, 3 };
static uint64_t nr_left, nr_records;

static struct javacode_to open_trace(uint64_t bytes)
{
	nr_left = bytes;
	nr_records = 0;
	return (struct javacode_to){ traces_create(&(struct trace_writer_opts){ .compress = true }), &nr_left,
		PROC, getpid() };
}

static void add(struct javacode *j, const void *addr, uint32_t size, const struct javacode_to *to)
{
	const struct jvm_code c = { .compile_id = ID, .begin = (uintptr_t)addr, .whole = size };

	javacode_add(j, &c, to);
}

static int take(void *ctx, const struct rec_code_bytes *r)
{
	CHECK_U64(r->proc, PROC);
	CHECK_U64(r->compile_id, ID);
	CHECK_U64(r->addr, (uintptr_t)code);
	CHECK_U64(r->len, sizeof(code));
	CHECK(!memcmp(r->bytes, code, sizeof(code)));
	nr_records++;
	return 0;
}

/* How many records there were, all of them of code[]. */
static uint64_t close_trace(struct javacode *j, const struct javacode_to *to)
{
	static const struct trace_sink sink = { .code_bytes = take };
	struct buf b = traces_close(to->w);
	struct trace_reader *t;
	struct err e;

	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(trace_read(t, &sink, NULL, &e), 0);
	trace_reader_close(t);
	buf_release(&b);
	javacode_release(j);
	return nr_records;
}

TEST(javacode_what_was_hit_is_kept_once)
{
	struct javacode_to to = open_trace(1000);
	struct javacode j = { .codes = NULL };

	unit_skip_if_emulated();
	add(&j, code, sizeof(code), &to);
	javacode_hit(&j, ID, &to);
	javacode_hit(&j, ID, &to);
	CHECK_U64(nr_left, 1000 - sizeof(code));
	CHECK_U64(close_trace(&j, &to), 1);
}

TEST(javacode_places_of_one_code_are_read_once)
{
	const struct jvm_code place = { .compile_id = ID, .addr = (uintptr_t)code + 3, .size = 1,
					.begin = (uintptr_t)code, .whole = sizeof(code) };
	struct javacode_to to = open_trace(1000);
	struct javacode j = { .codes = NULL };

	unit_skip_if_emulated();
	add(&j, code, sizeof(code), &to);
	javacode_hit(&j, ID, &to);
	javacode_add(&j, &place, &to);
	javacode_hit(&j, ID, &to);
	CHECK_U64(close_trace(&j, &to), 1);
}

TEST(javacode_a_hit_may_come_before_its_code)
{
	struct javacode_to to = open_trace(1000);
	struct javacode j = { .codes = NULL };

	unit_skip_if_emulated();
	javacode_hit(&j, ID, &to);
	CHECK_U64(nr_left, 1000);
	add(&j, code, sizeof(code), &to);
	CHECK_U64(close_trace(&j, &to), 1);
}

TEST(javacode_what_is_gone_or_was_not_hit_is_not_read)
{
	struct javacode_to to = open_trace(1000);
	struct javacode j = { .codes = NULL };

	add(&j, code, sizeof(code), &to);
	javacode_gone(&j, (uintptr_t)code);
	javacode_hit(&j, ID, &to);
	CHECK_U64(close_trace(&j, &to), 0);
}

TEST(javacode_what_another_replaced_is_not_read)
{
	const struct jvm_code other = { .compile_id = ID + 1, .begin = (uintptr_t)code, .whole = 8 };
	struct javacode_to to = open_trace(1000);
	struct javacode j = { .codes = NULL };

	add(&j, code, sizeof(code), &to);
	javacode_add(&j, &other, &to);
	javacode_hit(&j, ID, &to);
	CHECK_U64(nr_left, 1000);
	CHECK_U64(close_trace(&j, &to), 0);
}

TEST(javacode_has_bounds)
{
	static const uint8_t large[JAVACODE_METHOD_MAX + 1] = { 1 };
	struct javacode_to to = open_trace(JAVACODE_TRACE_MAX);
	struct javacode j = { .codes = NULL };

	unit_skip_if_emulated();
	add(&j, large, sizeof(large), &to);
	javacode_hit(&j, ID, &to);
	nr_left = sizeof(code) - 1;
	add(&j, code, sizeof(code), &to);
	CHECK_U64(nr_left, sizeof(code) - 1);
	nr_left = sizeof(code);
	add(&j, code, sizeof(code), &to);
	CHECK_U64(nr_left, 0);
	CHECK_U64(close_trace(&j, &to), 1);
}

TEST(javacode_what_cannot_be_read_is_left_out)
{
	struct javacode_to to = open_trace(1000);
	struct javacode j = { .codes = NULL };

	add(&j, (const void *)16, 32, &to);
	javacode_hit(&j, ID, &to);
	CHECK_U64(nr_left, 1000);
	CHECK_U64(close_trace(&j, &to), 0);
}
