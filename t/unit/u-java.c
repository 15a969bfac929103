// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "collect/jvm/java.h"
#include "unit.h"

struct joined {
	uint64_t time_ns[32], weight[32];
	uint64_t user_pc[32];		/* of the outermost frame; the mark's number when there is none */
	uint32_t outer_kind[32];
	size_t nr_frames[32];
	size_t nr;
};

static void collect_joined(void *ctx, const struct thread *th, struct rec_sample *s,
			   const struct frame *frames, size_t nr_frames)
{
	struct joined *j = ctx;

	j->time_ns[j->nr] = s->time_ns;
	j->weight[j->nr] = s->weight;
	j->user_pc[j->nr] = frames[0].kind == FRAME_JIT ? frames[0].addr : frames[0].mark;
	j->outer_kind[j->nr] = frames[0].kind;
	j->nr_frames[j->nr++] = nr_frames;
}

static void kernel_half(struct java *j, struct thread *th, uint64_t time_ns, uint16_t event)
{
	struct rec_sample s = { .time_ns = time_ns, .thread = th->id, .weight = 1, .event = event };
	struct frame f = { FRAME_KERNEL, .off = time_ns };

	java_kernel_half(j, th, &s, &f, 1);
}

static void user_half(struct java *j, struct thread *th, uint64_t time_ns, uint16_t event, uint64_t pc)
{
	struct frame f = { FRAME_JIT, .addr = pc };

	java_user_half(j, th, &(struct rec_sample){ .time_ns = time_ns, .event = event },
		       (struct java_hit){ false, 0 }, &f, 1);
}

static void init_thread(struct thread *th, uint32_t id)
{
	memset(th, 0, sizeof(*th));
	th->id = id;
	th->kernel_tail = &th->kernel;
	th->user_tail = &th->user;
}

TEST(java_what_was_skipped_adds_its_weight_to_the_next_sample)
{
	struct proc p = { .id = 1 };
	struct java *j = java_new(NULL, &p);
	struct joined got = { .nr = 0 };
	struct frame f = { FRAME_JIT, .addr = 0x111 };
	struct thread th;
	uint64_t t;

	init_thread(&th, 1);
	for (t = 10; t <= 80; t += 10)
		kernel_half(j, &th, t, 0);
	/* up to 55 nothing was taken; what was hit while the handler ran joins it as ever */
	java_user_half(j, &th, &(struct rec_sample){ .time_ns = 71 },
		       (struct java_hit){ false, 55 }, &f, 1);
	/* its own hit was skipped with those before */
	java_user_half(j, &th, &(struct rec_sample){ .time_ns = 90 },
		       (struct java_hit){ false, 85 }, &f, 1);
	java_join(j, 100, false, collect_joined, &got);
	CHECK_U64(got.nr, 3);
	CHECK_U64(got.time_ns[0], 60);
	CHECK_U64(got.weight[0], 6);
	CHECK_U64(got.time_ns[1], 70);
	CHECK_U64(got.weight[1], 1);
	CHECK_U64(got.time_ns[2], 80);
	CHECK_U64(got.weight[2], 1);
	CHECK_U64(j->nr_throttled, 5);
	CHECK_U64(j->nr_unpaired, 0);
	java_free(j);
}

TEST(java_a_user_half_joins_all_kernel_halves_before_it)
{
	struct proc p = { .id = 1 };
	struct java *j = java_new(NULL, &p);
	struct joined got = { .nr = 0 };
	struct thread th;

	init_thread(&th, 1);
	kernel_half(j, &th, 10, 0);
	kernel_half(j, &th, 20, 0);
	kernel_half(j, &th, 40, 0);
	user_half(j, &th, 25, 0, 0x111);
	java_join(j, 30, false, collect_joined, &got);
	CHECK_U64(got.nr, 2);
	CHECK_U64(got.user_pc[0], 0x111);
	CHECK_U64(got.user_pc[1], 0x111);
	CHECK_U64(got.nr_frames[1], 2);
	user_half(j, &th, 41, 0, 0x222);
	java_join(j, 30, false, collect_joined, &got);
	CHECK_U64(got.nr, 2);		/* too young: its kernel half may still be in a ring */
	java_join(j, 50, false, collect_joined, &got);
	CHECK_U64(got.nr, 3);
	CHECK_U64(got.user_pc[2], 0x222);
	CHECK_U64(j->nr_unpaired, 0);
	java_free(j);
}

TEST(java_user_halves_of_a_thread_may_come_in_any_order)
{
	struct proc p = { .id = 1 };
	struct java *j = java_new(NULL, &p);
	struct joined got = { .nr = 0 };
	struct thread th;
	uint64_t i;

	init_thread(&th, 1);
	for (i = 1; i <= 4; i++)
		kernel_half(j, &th, 10 * i, 0);
	user_half(j, &th, 31, 0, 3);
	user_half(j, &th, 41, 0, 4);
	user_half(j, &th, 11, 0, 1);
	user_half(j, &th, 21, 0, 2);
	java_join(j, 100, false, collect_joined, &got);
	CHECK_U64(got.nr, 4);
	for (i = 0; i < 4; i++) {
		CHECK_U64(got.time_ns[i], 10 * (i + 1));
		CHECK_U64(got.user_pc[i], i + 1);
	}
	CHECK_U64(j->nr_unpaired, 0);
	java_free(j);
}

TEST(java_a_half_that_had_to_wait_for_the_one_before_is_not_a_loss)
{
	struct proc p = { .id = 1 };
	struct java *j = java_new(NULL, &p);
	struct frame f = { FRAME_JIT, .addr = 2 };
	struct joined got = { .nr = 0 };
	struct thread th;

	init_thread(&th, 1);
	kernel_half(j, &th, 10, 0);
	kernel_half(j, &th, 12, 0);
	user_half(j, &th, 13, 0, 1);
	java_user_half(j, &th, &(struct rec_sample){ .time_ns = 15 },
		       (struct java_hit){ true, 0 }, &f, 1);
	java_join(j, 100, true, collect_joined, &got);
	CHECK_U64(got.nr, 2);
	CHECK_U64(j->nr_unpaired, 0);
	java_free(j);
}

TEST(java_halves_of_two_events_do_not_mix)
{
	struct proc p = { .id = 1 };
	struct java *j = java_new(NULL, &p);
	struct joined got = { .nr = 0 };
	struct thread th;

	init_thread(&th, 1);
	kernel_half(j, &th, 10, 0);
	kernel_half(j, &th, 11, 1);
	user_half(j, &th, 12, 1, 0xb);
	user_half(j, &th, 13, 0, 0xa);
	java_join(j, 100, false, collect_joined, &got);
	CHECK_U64(got.nr, 2);
	CHECK_U64(got.time_ns[0], 11);
	CHECK_U64(got.user_pc[0], 0xb);
	CHECK_U64(got.user_pc[1], 0xa);
	CHECK_U64(j->nr_unpaired, 0);
	java_free(j);
}

TEST(java_what_never_gets_its_other_half_is_counted_or_marked)
{
	struct proc p = { .id = 1 };
	struct java *j = java_new(NULL, &p);
	struct joined got = { .nr = 0 };
	struct thread th;

	init_thread(&th, 1);
	user_half(j, &th, 5, 0, 0x1);
	kernel_half(j, &th, 10, 0);
	java_join(j, 100, true, collect_joined, &got);
	CHECK_U64(j->nr_unpaired, 1);
	CHECK_U64(got.nr, 1);
	CHECK_U64(got.outer_kind[0], FRAME_MARK);
	CHECK_U64(got.user_pc[0], MARK_NO_USER_STACK);
	CHECK_U64(j->nr_queued, 0);
	java_free(j);
}

TEST(java_code_at_a_used_address_replaces_what_it_overlaps)
{
	struct proc p = { .id = 7 };
	struct java *j = java_new(NULL, &p);
	struct jvm_code a = { .addr = 0x1000, .size = 0x100, .compile_id = 1, .method = 11 };
	struct jvm_code b = { .addr = 0x1100, .size = 0x100, .compile_id = 2, .method = 12 };
	struct jvm_code over = { .addr = 0x1080, .size = 0x100, .compile_id = 3, .method = 13 };
	struct frame f;

	java_add_code(j, &a);
	java_add_code(j, &b);
	java_name_pc(j, 0x1180, &f);
	CHECK_U64(f.compile_id, 2);
	java_add_code(j, &over);
	java_name_pc(j, 0x1010, &f);
	CHECK_U64(f.kind, FRAME_ANON);
	java_name_pc(j, 0x1110, &f);
	CHECK_U64(f.kind, FRAME_JIT);
	CHECK_U64(f.compile_id, 3);
	CHECK_U64(f.method, 13);
	java_code_gone(j, 0x1080);
	java_name_pc(j, 0x1110, &f);
	CHECK_U64(f.kind, FRAME_ANON);
	java_free(j);
}

TEST(java_each_connection_holds_its_process)
{
	struct proc p = { 0 };
	struct java *first = java_new(NULL, &p), *second = java_new(NULL, &p);

	java_free(first);
	CHECK(p.java == second);
	CHECK(p.nr_holders > 0);
	java_free(second);
	CHECK(!p.java);
	CHECK(!p.nr_holders);
}
