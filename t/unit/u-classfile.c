// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "classfile/rewrite.h"
#include "unit.h"

/* The callbacks answer from here, and note what they were given. */
static struct {
	int32_t number;			/* select()'s answer */
	int nr_asked, nr_skipped, nr_mem, fail_at;	/* fail_at: that call of mem() gives nothing */
	enum classfile_reason reason;
	struct classfile_method m;
} t;

static int32_t select_method(void *ctx, const struct classfile_method *m)
{
	t.nr_asked++;
	t.m = *m;
	return t.number;
}

static void skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	t.nr_skipped++;
	t.reason = reason;
	t.m = *m;
}

/* A test is a process: nothing is freed, and what is reachable is not a leak. */
static void *mem(void *ctx, size_t size)
{
	static void **given;
	static size_t nr;

	if (++t.nr_mem == t.fail_at)
		return NULL;
	given = xrealloc(given, (nr + 1) * sizeof(*given));
	return given[nr++] = xmalloc(size);
}

static bool of_locks, of_given, counting, placing;

static enum classfile_reason rewrite(const void *in, size_t len, struct classfile_out *out)
{
	static const struct classfile_locks locks = { "e", "d", "x", "w", "n", "a", "o", "s", "t" };
	static const struct classfile_given given = { "e", "l", "r" };
	struct classfile_probe probe = {
		.helper = "P", .enter = "e", .exit = "x", .thrown = "t", .caught = "c",
		.count = counting ? "n" : NULL,
		.line = placing ? "l" : NULL, .bci = placing ? "b" : NULL, .locks = of_locks ? &locks : NULL,
		.given = of_given ? &given : NULL,
		.select = select_method, .skipped = skipped, .mem = mem,
	};

	t.nr_asked = t.nr_skipped = t.nr_mem = 0;
	return classfile_rewrite(in, len, &probe, out);
}

static void u16(struct buf *b, unsigned v)
{
	buf_u8(b, v >> 8);
	buf_u8(b, v);
}

static void u32(struct buf *b, unsigned v)
{
	u16(b, v >> 16);
	u16(b, v);
}

static void utf8(struct buf *b, const char *s)
{
	buf_u8(b, 1);
	u16(b, strlen(s));
	buf_str(b, s);
}

/* Of the next class: the first instructions of lines, and the lines. */
static unsigned line_table[4][2], nr_lines;

/* class A { static void m() { code } }, and as many more constants as are wanted. */
static struct buf make_class(const void *code, size_t len, unsigned max_stack, unsigned nr_constants)
{
	struct buf b = BUF_INIT;
	unsigned i;

	u32(&b, 0xcafebabe);
	u32(&b, 52);
	u16(&b, nr_constants);
	utf8(&b, "A");
	buf_u8(&b, 7);
	u16(&b, 1);
	utf8(&b, "m");
	utf8(&b, "()V");
	utf8(&b, "Code");
	for (i = 6; i < nr_constants; i++)
		utf8(&b, nr_lines ? "LineNumberTable" : "");
	u16(&b, 0x21);
	u16(&b, 2);
	u16(&b, 2);
	u16(&b, 0);
	u16(&b, 0);
	u16(&b, 1);
	u16(&b, 8);
	u16(&b, 3);
	u16(&b, 4);
	u16(&b, 1);
	u16(&b, 5);
	u32(&b, 12 + len + (nr_lines ? 8 + 4 * nr_lines : 0));
	u16(&b, max_stack);
	u16(&b, 0);
	u32(&b, len);
	buf_add(&b, code, len);
	u32(&b, !!nr_lines);
	if (nr_lines) {
		u16(&b, 6);
		u32(&b, 2 + 4 * nr_lines);
		u16(&b, nr_lines);
	}
	for (i = 0; i < nr_lines; i++) {
		u16(&b, line_table[i][0]);
		u16(&b, line_table[i][1]);
	}
	u16(&b, 0);
	return b;
}

/* Why a method of this code is left alone; CLASSFILE_OK when it is not. */
static enum classfile_reason why(const void *code, size_t len, unsigned max_stack, unsigned nr_constants)
{
	struct buf b = make_class(code, len, max_stack, nr_constants);
	struct classfile_out out;

	t.reason = CLASSFILE_OK;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK_U64(t.nr_asked, 1);
	CHECK_U64(out.nr_skipped, t.nr_skipped);
	CHECK(!!out.data == (t.reason == CLASSFILE_OK));
	return t.reason;
}

static const uint8_t RETURN[] = { 0xb1 };

TEST(classfile_a_method_is_entered_left_and_watched)
{
	/* enter, exit, the return, thrown, athrow; one entry in the exception table, for the return alone */
	static const uint8_t want[] = { 0x11, 0x12, 0x34, 0xb8, 0,    11,   0x11, 0x12, 0x34, 0xb8,
					0,    14,   0xb1, 0x11, 0x12, 0x34, 0xb8, 0,	17,   0xbf,
					0,    1,    0,	  12,	0,    13,   0,	  13,	0,    0 };
	struct buf b = make_class(RETURN, 1, 0, 6);
	struct classfile_out out;

	t.number = 0x1234;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK_U64(out.nr_rewritten, 1);
	CHECK(t.m.name.len == 1 && *t.m.name.p == 'm' && t.m.code_len_bytes == 1 && t.m.version == 52);
	CHECK(out.data && memmem(out.data, out.len, want, sizeof(want)));
}

TEST(classfile_instructions_are_counted_in_each_block)
{
	/* if it is null, over an instruction; to a block that both ways lead to */
	static const uint8_t code[] = { 0x01, 0xc6, 0, 4, 0x00, 0xb1 };
	static const uint8_t want[] = { 0x11, 0x12, 0x34, 0xb8, 0,    11,   0x11, 0,	2, 0xb8, 0,
					23,   0x01, 0xc6, 0,	10,   0x11, 0,	  1,	0xb8, 0, 23,
					0x00, 0x11, 0,	  1,	0xb8, 0,    23,	  0x11, 0x12, 0x34, 0xb8,
					0,    14,   0xb1 };
	struct buf b = make_class(code, sizeof(code), 1, 6);
	struct classfile_out out;

	t.number = 0x1234;
	counting = true;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, want, sizeof(want)));
}

TEST(classfile_a_line_is_reported_before_a_call_unless_it_was_on_all_paths)
{
	/* two calls on line 5, one on 0x8009; without lines; a jump back to the second */
	static const uint8_t code[] = { 0xb8, 0, 1, 0xb8, 0, 1, 0xb8, 0, 1, 0xb1 },
			     by_line[] = { 0xb8, 0, 12, 0x11, 0, 5, 0xb8, 0, 24, 0xb8, 0, 1, 0xb8, 0, 1,
					   0x11, 0x80, 9, 0xb8, 0, 24, 0xb8, 0, 1, 0x11, 0x12, 0x34, 0xb8 },
			     by_bci[] = { 0xb8, 0, 11, 0x11, 0, 0, 0xb8, 0, 26, 0xb8, 0, 1, 0x11, 0, 3,
					  0xb8, 0, 26, 0xb8, 0, 1, 0x11, 0, 6, 0xb8, 0, 26, 0xb8, 0, 1 },
			     loop[] = { 0xb8, 0, 1, 0xb8, 0, 1, 0x01, 0xc6, 0xff, 0xfc, 0xb1 },
			     in_loop[] = { 0xb8, 0, 12, 0x11, 0, 5, 0xb8, 0, 24, 0xb8, 0, 1, 0x11, 0, 5,
					   0xb8, 0, 24, 0xb8, 0, 1, 0x01, 0xc6, 0xff, 0xf6, 0x11 };
	struct classfile_out out;
	struct buf b;

	t.number = 0x1234;
	placing = true;
	b = make_class(code, sizeof(code), 1, 6);
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, by_bci, sizeof(by_bci)));
	nr_lines = 2;
	line_table[0][1] = 5;
	line_table[1][0] = 6;
	line_table[1][1] = 0x8009;
	b = make_class(code, sizeof(code), 1, 7);
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, by_line, sizeof(by_line)));
	b = make_class(loop, sizeof(loop), 1, 7);
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, in_loop, sizeof(in_loop)));
}

TEST(classfile_a_method_too_large_for_its_places_is_counted_without)
{
	static uint8_t calls[30001];
	size_t i;

	for (i = 0; i < sizeof(calls); i += 3)
		calls[i] = 0xb8;
	calls[sizeof(calls) - 1] = 0xb1;
	placing = true;
	CHECK_U64(why(calls, sizeof(calls), 0, 6), CLASSFILE_OK);
}

TEST(classfile_what_is_not_selected_stays)
{
	struct buf b = make_class(RETURN, 1, 0, 6);
	struct classfile_out out;

	t.number = CLASSFILE_LEAVE_ALONE;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(!out.data && t.nr_asked == 1 && !t.nr_skipped && out.nr_methods == 1);
}

TEST(classfile_limits_of_the_jvm_are_distinguished)
{
	static uint8_t nops[65535];

	nops[sizeof(nops) - 1] = 0xb1;
	/* six bytes each of entry and exit, seven of the handler */
	CHECK_U64(why(nops + 19, sizeof(nops) - 19, 0, 6), CLASSFILE_OK);
	CHECK_U64(why(nops + 18, sizeof(nops) - 18, 0, 6), CLASSFILE_TOO_LARGE);
	CHECK_U64(why(RETURN, 1, 65533, 6), CLASSFILE_OK);
	CHECK_U64(why(RETURN, 1, 65534, 6), CLASSFILE_STACK_FULL);
	CHECK_U64(why(RETURN, 1, 0, 65535 - 18), CLASSFILE_OK);
	CHECK_U64(why(RETURN, 1, 0, 65535 - 17), CLASSFILE_POOL_FULL);
	t.number = 40000;		/* has a constant of its own */
	CHECK_U64(why(RETURN, 1, 0, 65535 - 19), CLASSFILE_OK);
	CHECK_U64(why(RETURN, 1, 0, 65535 - 18), CLASSFILE_POOL_FULL);
}

TEST(classfile_invalid_code_is_left_alone)
{
	static const uint8_t unknown[] = { 0xca, 0xb1 }, cut[] = { 0x11, 0 }, into_insn[] = { 0xa7, 0, 1 },
			     out_of_code[] = { 0xa7, 0, 3 },
			     backwards[] = { 0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1 },
			     no_wide[] = { 0xc4, 0, 0, 0 },
			     cases[] = { 0xab, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0 };

	CHECK_U64(why(unknown, sizeof(unknown), 1, 6), CLASSFILE_BAD_CODE);
	CHECK_U64(why(cut, sizeof(cut), 1, 6), CLASSFILE_BAD_CODE);
	CHECK_U64(why(into_insn, sizeof(into_insn), 1, 6), CLASSFILE_BAD_CODE);
	CHECK_U64(why(out_of_code, sizeof(out_of_code), 1, 6), CLASSFILE_BAD_CODE);
	CHECK_U64(why(backwards, sizeof(backwards), 1, 6), CLASSFILE_BAD_CODE);
	CHECK_U64(why(no_wide, sizeof(no_wide), 1, 6), CLASSFILE_BAD_CODE);
	CHECK_U64(why(cases, sizeof(cases), 1, 6), CLASSFILE_BAD_CODE);
}

TEST(classfile_every_truncation_is_refused_before_anybody_is_asked)
{
	struct buf b = BUF_INIT;
	struct classfile_out out;
	struct err e;
	size_t len;

	CHECK(!io_read_file(unit_source("t/fuzz/corpus/classfile/maker-52.class"), &b, 1 << 20, &e));
	for (len = 0; len < b.len; len++) {
		CHECK_U64(rewrite(b.data, len, &out), CLASSFILE_MALFORMED);
		CHECK(!out.data && !t.nr_asked && t.nr_skipped == 1);
	}
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data);
}

TEST(classfile_without_memory_the_class_stays)
{
	struct buf b = BUF_INIT;
	struct classfile_out out;
	struct err e;

	CHECK(!io_read_file(unit_source("t/fuzz/corpus/classfile/known-52.class"), &b, 1 << 20, &e));
	for (t.fail_at = 1;; t.fail_at++) {
		enum classfile_reason reason = rewrite(b.data, b.len, &out);

		if (t.nr_mem < t.fail_at)
			break;
		CHECK(reason == CLASSFILE_NO_MEMORY ? !out.data : t.nr_skipped > 0);
	}
	CHECK(t.fail_at > 5 && out.data && !t.nr_skipped);
}

TEST(classfile_a_class_knows_its_name)
{
	struct buf b = make_class(RETURN, 1, 0, 6);
	struct classfile_text name = classfile_name(b.data, b.len);

	CHECK(name.len == 1 && name.p && *name.p == 'A');
	CHECK(!classfile_name(b.data, 20).p);
	CHECK(!classfile_name("", 0).p);
	buf_release(&b);
}

/* A monitor is not entered or left where an exception in a probe would leave it entered. */
TEST(classfile_monitors_are_left_alone_but_as_compilers_write_them)
{
	static const uint8_t enters[] = { 0x01, 0xc2, 0xb1 }, leaves[] = { 0x01, 0xc3, 0xb1 },
			     to_exit[] = { 0x2a, 0xc3, 0xa7, 0xff, 0xff, 0xb1 },
			     no_such_local[] = { 0x2a, 0xc3, 0xb1 };
	struct buf b = make_class(RETURN, 1, 0, 6);
	struct classfile_out out;

	of_locks = true;
	t.number = CLASSFILE_LOCKS;
	CHECK_U64(why(enters, sizeof(enters), 1, 6), CLASSFILE_ODD_LOCK);
	CHECK_U64(why(leaves, sizeof(leaves), 1, 6), CLASSFILE_ODD_LOCK);
	CHECK_U64(why(to_exit, sizeof(to_exit), 1, 6), CLASSFILE_ODD_LOCK);
	CHECK_U64(why(no_such_local, sizeof(no_such_local), 1, 6), CLASSFILE_BAD_CODE);
	/* where there is none, nobody is told */
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(!out.data && t.nr_asked == 1 && !t.nr_skipped);
	t.number = CLASSFILE_OWNS;
	CHECK_U64(why(RETURN, 1, 0, 6), CLASSFILE_OK);
}

TEST(classfile_a_probe_gets_what_a_synchronizer_did)
{
	/* dup the result, aload_0, swap, lload_1, lload_3, stamped, ireturn; aload_0, aconst_null, owns */
	static const uint8_t code[] = { 0x04, 0xac }, disowns[] = { 0x2a, 0x01, 0xb8 },
			     stamped[] = { 0x04, 0x59, 0x2a, 0x5f, 0x1f, 0x21, 0xb8 };
	struct buf b = make_class(code, sizeof(code), 1, 6);
	struct classfile_out out;

	of_locks = true;
	t.number = CLASSFILE_STAMPED;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, stamped, sizeof(stamped)));
	CHECK_U64(why(code, sizeof(code), 65529, 6), CLASSFILE_OK);
	CHECK_U64(why(code, sizeof(code), 65530, 6), CLASSFILE_STACK_FULL);
	t.number = CLASSFILE_DISOWNS;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, disowns, sizeof(disowns)));
	buf_release(&b);
}

TEST(classfile_a_probe_gets_what_the_method_was_given)
{
	/* aload_2, the number, enter; the number, leave, the return; the same before an exception goes on */
	static const uint8_t want[] = { 0x2c, 0x10, 5, 0xb8, 0, 11, 0x10, 5, 0xb8, 0, 15, 0xb1, 0x10, 5, 0xb8,
					0, 15, 0xbf },
			     entry[] = { 0x01, 0x10, 6, 0xb8, 0, 11, 0xb1, 0, 0, 0, 0 };
	struct buf b = make_class(RETURN, 1, 0, 6);
	struct classfile_out out;

	of_given = true;
	t.number = CLASSFILE_GIVEN(5, 2, true);
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, want, sizeof(want)));
	t.number = CLASSFILE_GIVEN(6, CLASSFILE_NO_OBJECT, false);
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, entry, sizeof(entry)));
	buf_release(&b);
}

TEST(classfile_a_probe_gets_the_own_object_and_the_result)
{
	/* aload_0, aload_1, the number, enter; aconst_null, dup, the number, result, areturn; what goes on */
	static const uint8_t code[] = { 0x01, 0xb0 },
			     want[] = { 0x2a, 0x2b, 0x10, 5, 0xb8, 0, 19, 0x01, 0x59, 0x10, 5, 0xb8,
					0, 23, 0xb0, 0x10, 5, 0xb8, 0, 15, 0xbf };
	struct buf b = make_class(code, sizeof(code), 1, 6);
	struct classfile_out out;

	of_given = true;
	t.number = CLASSFILE_GIVEN(5, 1, true) | CLASSFILE_GIVEN_THIS | CLASSFILE_GIVEN_RESULT;
	CHECK_U64(rewrite(b.data, b.len, &out), CLASSFILE_OK);
	CHECK(out.data && memmem(out.data, out.len, want, sizeof(want)));
	buf_release(&b);
}

TEST(classfile_every_reason_has_a_text)
{
	int i;

	for (i = 0; i < CLASSFILE_NR_REASONS; i++)
		CHECK(strlen(classfile_reason_text(i)) > 5);
}
