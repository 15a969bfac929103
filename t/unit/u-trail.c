// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "itrace/trail.h"
#include "unit.h"

enum { BASE = 0x1000 };

struct text {
	const char *bytes;
	size_t len;
};

static size_t read_text(void *ctx, uint64_t addr, uint8_t *out, size_t len)
{
	const struct text *x = ctx;
	uint64_t off = addr - BASE;

	if (off >= x->len)
		return 0;
	len = MIN(len, x->len - off);
	memcpy(out, x->bytes + off, len);
	return len;
}

#define PLAN(t, code, from) \
	trail_plan((t), BASE + (from), 0, 100, read_text, &(struct text){ (code), sizeof(code) - 1 })

/* The planner knows the CPU that it was built for; these are instructions of x86-64. */
static bool is_x86(void)
{
	struct insn in;

	return insn_decode((const uint8_t *)"\x90", 1, &in) && in.len == 1;
}

static bool stops_at(const struct trail *t, uint64_t off, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < t->nr_stops; i++)
		if (t->stops[i].addr == BASE + off)
			return t->stops[i].nr == nr;
	return false;
}

TEST(trail_goes_on_behind_branches_and_ends_before_a_return)
{
	struct trail t;

	if (!is_x86())
		return;
	/* 0 nop; 1 jz 0x20; 3 nop; 4 call 0xa; 9 nop; a nop; b jnz 0x30; d ret */
	PLAN(&t, "\x90\x74\x1d\x90\xe8\x01\0\0\0\x90\x90\x75\x23\xc3", 0);
	CHECK_U64(t.nr, 6);
	CHECK_U64(t.nr_stops, 3);
	CHECK(stops_at(&t, 0x20, 2));
	CHECK(stops_at(&t, 0x30, 6));
	CHECK(stops_at(&t, 0xd, 6));
	CHECK_U64(trail_passed(&t, BASE + 0x20, true), 2);
	CHECK_U64(trail_passed(&t, BASE + 0xa, false), 4);	/* a signal came there */
	CHECK_U64(trail_passed(&t, BASE, false), 0);
	CHECK(trail_passed(&t, BASE + 9, false) == -1);
	CHECK(!trail_begins_at_stop(&t));
}

TEST(trail_of_a_loop_comes_back_to_where_it_began)
{
	struct trail t;

	if (!is_x86())
		return;
	/* 0 nop; 1 nop; 2 jnz 0; 4 syscall */
	PLAN(&t, "\x90\x90\x75\xfc\x0f\x05", 0);
	CHECK_U64(t.nr, 3);
	CHECK(trail_begins_at_stop(&t));
	CHECK_U64(trail_passed(&t, BASE, true), 3);
	CHECK_U64(trail_passed(&t, BASE, false), 0);
	CHECK_U64(trail_passed(&t, BASE + 4, true), 3);
	/* from the middle: the loop's beginning is not a place that it has passed */
	PLAN(&t, "\x90\x90\x75\xfc\x0f\x05", 1);
	CHECK_U64(t.nr, 2);
	CHECK_U64(trail_passed(&t, BASE, true), 2);
	/* a jump back, and a branch back into what was passed */
	PLAN(&t, "\x90\x90\xeb\xfc", 0);
	CHECK_U64(trail_passed(&t, BASE, true), 3);
	PLAN(&t, "\x90\x90\x90\x75\xfc\x0f\x05", 0);
	CHECK_U64(trail_passed(&t, BASE + 1, true), 1);
}

TEST(trail_ends_where_two_paths_would_meet)
{
	struct trail t;

	if (!is_x86())
		return;
	/* 0 nop; 1 jz 4; 3 nop; 4 nop; 5 ret */
	PLAN(&t, "\x90\x74\x01\x90\x90\xc3", 0);
	CHECK_U64(t.nr, 2);
	CHECK_U64(t.nr_stops, 2);
	CHECK(stops_at(&t, 4, 2));
	CHECK(stops_at(&t, 3, 2));
	/* 0 jz 8; 2 jc 8: the second one is left for the next trail */
	PLAN(&t, "\x74\x06\x72\x04\x90\x90\x90\x90\x90\xc3", 0);
	CHECK_U64(t.nr, 1);
	CHECK(stops_at(&t, 8, 1));
	CHECK(stops_at(&t, 2, 1));
	/* a branch to what follows it is not a branch */
	PLAN(&t, "\x90\x74\x00\x90\xc3", 0);
	CHECK_U64(t.nr, 2);
	CHECK_U64(t.nr_stops, 1);
}

TEST(trail_leaves_to_steps_what_only_they_can_tell)
{
	static const char *const texts[] = {
		"\x90\xc3", "\x90\xff\xe0", "\x90\xff\xd0", "\x90\x0f\x05", "\x90\xcc", "\x90\x9c",
		"\x90\x9d", "\x90\x8e\xd0", "\x90\x0f\x0b",
	};
	struct trail t;
	size_t i;

	if (!is_x86())
		return;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		struct text x = { texts[i], strlen(texts[i]) };

		trail_plan(&t, BASE, 0, 100, read_text, &x);
		CHECK_U64(t.nr, 1);
		CHECK(stops_at(&t, 1, 1));
		trail_plan(&t, BASE + 1, 0, 100, read_text, &x);
		CHECK_U64(t.nr_stops, 0);
	}
	/* but for a return that is next: where it leads to is on the stack */
	trail_plan(&t, BASE, BASE + 1, 100, read_text, &(struct text){ "\xc3\x90\x90\x0f\x05", 5 });
	CHECK_U64(t.nr, 3);
	trail_plan(&t, BASE, 0, 2, read_text, &(struct text){ "\x90\x90\x90\x90", 4 });
	CHECK_U64(t.nr, 2);
	PLAN(&t, "\x90\x90", 5);	/* not to be read */
	CHECK_U64(t.nr_stops, 0);
}

TEST(steady_code_is_private_to_a_process_and_never_written)
{
	struct steady s = { 0 };

	steady_maps(&s, 1, "1000-2000 r-xp 00000000 fe:00 17 /lib/a b\n"
		    "2000-3000 rwxp 00000000 fe:00 17 /lib/a\n"
		    "3000-4000 r-xp 00000000 00:00 0 \n"
		    "4000-5000 r-xs 00000000 fe:00 17 /lib/a\n"
		    "5000-6000 r--p 00000000 fe:00 17 /lib/a\n"
		    "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]\n"
		    "cut");
	CHECK_U64(steady_bytes(&s, 1, 0x1ff0), 16);
	CHECK_U64(steady_bytes(&s, 1, 0x7fff00000000), 0x1000);
	CHECK_U64(steady_bytes(&s, 1, 0x2000), 0);
	CHECK_U64(steady_bytes(&s, 1, 0x3000), 0);
	CHECK_U64(steady_bytes(&s, 1, 0x4000), 0);
	CHECK_U64(steady_bytes(&s, 1, 0x5000), 0);
	CHECK_U64(steady_bytes(&s, 2, 0x1000), 0);
	steady_maps(&s, 1, "6000-7000 r-xp 00000000 fe:00 17 /lib/b\n");
	CHECK_U64(steady_bytes(&s, 1, 0x1000), 0);
	CHECK_U64(steady_bytes(&s, 1, 0x6000), 0x1000);
	steady_forget(&s, 1);
	CHECK_U64(steady_bytes(&s, 1, 0x6000), 0);
	free(s.ranges);
}
