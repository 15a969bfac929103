// SPDX-License-Identifier: GPL-2.0-or-later

#include "collect/jvm/roots.h"
#include "unit.h"

enum { STACK = 0x7f0000001000, END = 0x7f0000003000 };

static const struct frame frames[] = {
	{ FRAME_NATIVE, .module = 1, .off = 100 },
	{ FRAME_NATIVE, .module = 1, .off = 200 },
};
static uint64_t words[16] = { 1, 2, 3 };

static struct jvm_segment segment(uint64_t end, bool exact)
{
	return (struct jvm_segment){
		.pc = 10, .sp = STACK, .fp = 11, .rbx = 12, .r15 = 13, .valid = 0x1f, .exact = exact,
		.to_root = true,
		.end = end, .stack = (const uint8_t *)words, .len = sizeof(words),
	};
}

static const struct jvm_root *told(const struct roots *r, uint64_t end)
{
	return &r->told[jvm_root_slot(end)];
}

TEST(roots_a_root_is_sent_with_the_hash_the_agent_will_find)
{
	struct jvm_segment s = segment(END, false);
	const struct jvm_rec_segment rec = {
		.pc = 10, .sp = STACK, .fp = 11, .rbx = 12, .r15 = 13, .flags = 0x1f | JVM_SEG_TO_ROOT,
	};
	const struct frame *got;
	struct roots r = { NULL };
	size_t nr = 0;

	CHECK(roots_want(&r, &s));
	roots_learn(&r, NULL, &s, STACK + 64, frames, 2);
	CHECK_U64(told(&r, END)->end, END);
	CHECK_U64(told(&r, END)->top, STACK + 64);
	CHECK_U64(told(&r, END)->sp, STACK);
	CHECK_U64(told(&r, END)->len, 64);
	CHECK(told(&r, END)->hash == jvm_root_hash(&rec, words, 64));
	got = roots_get(&r, told(&r, END)->id, &nr);
	CHECK(got && nr == 2 && frame_equal(&got[0], &frames[0]) && frame_equal(&got[1], &frames[1]));
	CHECK(!roots_get(&r, 1, &nr));
	CHECK(!roots_get(&r, UINT32_MAX, &nr));
	roots_release(&r);
}

TEST(roots_the_hash_depends_on_each_register_and_each_word)
{
	struct jvm_rec_segment rec = { .pc = 1, .flags = 1 };
	uint64_t stack[4] = { 0 }, h = jvm_root_hash(&rec, stack, sizeof(stack));
	uint64_t *regs[] = { &rec.pc, &rec.sp, &rec.fp, &rec.rbx, &rec.r12, &rec.r13, &rec.r14, &rec.r15 };
	size_t i;

	for (i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		*regs[i] ^= 1ull << 63;
		CHECK(jvm_root_hash(&rec, stack, sizeof(stack)) != h);
		*regs[i] ^= 1ull << 63;
	}
	for (i = 0; i < 4; i++) {
		stack[i] ^= 1ull << 63;
		CHECK(jvm_root_hash(&rec, stack, sizeof(stack)) != h);
		stack[i] ^= 1ull << 63;
	}
	CHECK(jvm_root_hash(&rec, stack, 24) != h);
	CHECK(jvm_root_hash(&rec, stack, 32) == h);
}

TEST(roots_equal_frames_have_one_number_and_there_is_an_end_to_numbers)
{
	struct jvm_segment s = segment(END, false), other = segment(END + 0x1000, false);
	struct roots r = { NULL };
	struct frame f = frames[0];
	size_t nr, i;

	roots_learn(&r, NULL, &s, STACK + 64, frames, 2);
	roots_learn(&r, NULL, &other, STACK + 64, frames, 2);
	CHECK_U64(r.nr_lists, 1);
	for (i = 0; i < 1000; i++) {
		f.off = i;
		roots_learn(&r, NULL, &s, STACK + 64, &f, 1);
	}
	CHECK_U64(r.nr_lists, 256);
	CHECK(roots_get(&r, 255, &nr) && !roots_get(&r, 256, &nr));
	/* what has no number is not sent: the agent's segment still has the hash of an earlier one */
	CHECK_U64(told(&r, END)->id, 255);
	roots_release(&r);
}

TEST(roots_of_interrupted_native_code_have_only_their_end_sent)
{
	struct jvm_segment s = segment(END, true), root = segment(END, false);
	struct roots r = { NULL };

	roots_learn(&r, NULL, &s, STACK + 64, frames, 2);
	CHECK_U64(told(&r, END)->top, STACK + 64);
	CHECK_U64(told(&r, END)->sp, 0);
	CHECK_U64(r.nr_lists, 0);
	roots_learn(&r, NULL, &root, STACK + 64, frames, 2);
	roots_learn(&r, NULL, &s, STACK + 64, frames, 2);
	CHECK_U64(told(&r, END)->sp, STACK);
	CHECK(!roots_want(&r, &s));
	roots_release(&r);
}

TEST(roots_are_withdrawn_for_good_in_doubt_and_for_now_at_new_mappings)
{
	struct jvm_segment s = segment(END, false);
	struct roots r = { NULL };

	roots_check_maps(&r, NULL, 5);
	roots_learn(&r, NULL, &s, STACK + 64, frames, 2);
	roots_check_maps(&r, NULL, 5);
	CHECK_U64(told(&r, END)->top, STACK + 64);
	roots_check_maps(&r, NULL, 6);
	CHECK(!told(&r, END)->top && !told(&r, END)->sp);
	CHECK(roots_want(&r, &s));
	roots_learn(&r, NULL, &s, STACK + 64, frames, 2);
	roots_doubt(&r, NULL, &s);
	CHECK(!told(&r, END)->top && !told(&r, END)->sp);
	CHECK(!roots_want(&r, &s));
	roots_check_maps(&r, NULL, 7);
	CHECK(!roots_want(&r, &s));
	roots_release(&r);
}

TEST(roots_a_top_outside_the_copy_teaches_nothing)
{
	struct jvm_segment s = segment(END, false);
	struct roots r = { NULL };

	roots_learn(&r, NULL, &s, STACK, frames, 2);
	roots_learn(&r, NULL, &s, STACK + sizeof(words) + 8, frames, 2);
	roots_learn(&r, NULL, &s, STACK + 12, frames, 2);
	CHECK(!r.told);
	roots_release(&r);
}
