// SPDX-License-Identifier: GPL-2.0-or-later
/* u-threads.c - pictures of threads, and the deadlocks in them. */
#include "jvm/threads.h"
#include "unit.h"

enum { BLOCKED = 0x401, PARKED = 0x291, TIMED_PARKED = 0x2a1 };

static void begin(struct threads *t, uint32_t flags)
{
	const union jvm_record r = { .dump_begin = { .flags = flags } };

	CHECK(!threads_add(t, JVM_REC_dump_begin, &r));
}

static void thread(struct threads *t, uint64_t id, uint32_t state)
{
	const union jvm_record r = {
		.dump_thread = { .id = id, .state = state, .name = "t", .name_len = 1, .group = "" },
	};

	CHECK(!threads_add(t, JVM_REC_dump_thread, &r));
}

static void lock(struct threads *t, uint32_t role, uint32_t hash, uint64_t owner)
{
	const union jvm_record r = {
		.dump_lock = {
			.role = role, .hash = hash, .owner = owner, .class_name = "C", .class_len = 1,
		},
	};

	CHECK(!threads_add(t, JVM_REC_dump_lock, &r));
}

/* A thread that wants lock number hash, which owner has. */
static void wants(struct threads *t, uint64_t id, uint64_t owner)
{
	thread(t, id, BLOCKED);
	lock(t, JVM_DUMP_ENTERS, owner, owner);
}

static void edge(struct threads *t, uint32_t round, uint64_t id, uint64_t owner, uint32_t hash)
{
	const union jvm_record r = {
		.dump_edge = { .id = id, .owner = owner, .round = round, .hash = hash },
	};

	CHECK(!threads_add(t, JVM_REC_dump_edge, &r));
}

static void end(struct threads *t, uint32_t rounds)
{
	const union jvm_record r = { .dump_end = { .rounds = rounds, .why = "" } };

	CHECK(threads_add(t, JVM_REC_dump_end, &r));
	CHECK(t->complete);
}

TEST(threads_cycles_and_who_waits_for_them)
{
	struct threads t = THREADS_INIT;
	const struct threads_thread *x;
	int i;

	begin(&t, JVM_DUMP_ATOMIC);
	wants(&t, 9, 8);		/* behind one that is behind */
	wants(&t, 1, 2);
	wants(&t, 2, 3);
	wants(&t, 3, 1);
	wants(&t, 8, 1);
	wants(&t, 4, 5);
	wants(&t, 5, 4);
	wants(&t, 6, 7);		/* of a thread that is busy */
	thread(&t, 7, 5);
	wants(&t, 10, 99);		/* of one that is not there */
	wants(&t, 11, 11);		/* of itself: it makes no sense */
	end(&t, 0);
	CHECK_U64(t.nr_deadlocks, 2);
	x = threads_cycle_first(&t, 1);
	for (i = 0; i < 3; i++, x = threads_cycle_next(&t, x)) {
		CHECK_U64(x->id, 1 + i);
		CHECK_U64(x->deadlock, 1);
		CHECK(!x->behind_deadlock && x->is_owner);
	}
	CHECK_U64(x->id, 1);
	CHECK_U64(threads_find(&t, 4)->deadlock, 2);
	CHECK_U64(threads_find(&t, 5)->deadlock, 2);
	CHECK(threads_find(&t, 8)->behind_deadlock && threads_find(&t, 9)->behind_deadlock);
	CHECK(!threads_find(&t, 6)->behind_deadlock && threads_find(&t, 7)->is_owner);
	CHECK_U64(threads_find(&t, 11)->deadlock, 0);
	CHECK(!threads_find(&t, 12));
	threads_release(&t);
}

/* Who waits in wait(), or for a time, may go on by itself. */
TEST(threads_some_waits_end)
{
	struct threads t = THREADS_INIT;

	begin(&t, JVM_DUMP_ATOMIC);
	thread(&t, 1, TIMED_PARKED);
	lock(&t, JVM_DUMP_PARKS, 2, 2);
	thread(&t, 2, PARKED);
	lock(&t, JVM_DUMP_PARKS, 1, 1);
	thread(&t, 3, BLOCKED);
	lock(&t, JVM_DUMP_WAITS, 4, 4);
	wants(&t, 4, 3);
	end(&t, 0);
	CHECK_U64(t.nr_deadlocks, 0);
	threads_release(&t);
}

static uint32_t deadlocks_after(uint32_t rounds, uint32_t changed, uint64_t owner, uint32_t hash)
{
	struct threads t = THREADS_INIT;
	uint32_t i, nr;

	begin(&t, 0);
	wants(&t, 1, 2);
	wants(&t, 2, 1);
	for (i = 1; i <= rounds; i++) {
		edge(&t, i, 1, i == changed ? owner : 2, i == changed ? hash : 2);
		edge(&t, i, 2, 1, 1);
	}
	end(&t, rounds);
	nr = t.nr_deadlocks;
	threads_release(&t);
	return nr;
}

/* Where threads were looked at one after the other, what changes hands is not a deadlock. */
TEST(threads_looks_must_agree)
{
	uint32_t i;

	CHECK_U64(deadlocks_after(4, 0, 0, 0), 1);
	CHECK_U64(deadlocks_after(0, 0, 0, 0), 0);
	CHECK_U64(deadlocks_after(3, 0, 0, 0), 0);
	for (i = 1; i <= 4; i++) {
		CHECK_U64(deadlocks_after(4, i, 3, 2), 0);	/* another owner */
		CHECK_U64(deadlocks_after(4, i, 2, 7), 0);	/* another lock of the same owner */
	}
}

/* Records in any order: what has no thread, or no beginning, is left out. */
TEST(threads_records_in_any_order)
{
	struct threads t = THREADS_INIT;
	union jvm_record r;
	int i;

	lock(&t, JVM_DUMP_HOLDS, 1, 0);
	begin(&t, 0);
	lock(&t, JVM_DUMP_HOLDS, 1, 0);
	CHECK_U64(t.nr_locks, 0);
	for (i = 0; i < 100000; i++) {
		memset(&r, 0, sizeof(r));
		switch (unit_random() % 6) {
		case 0:
			if (!(unit_random() % 50))
				begin(&t, unit_random() & 7);
			break;
		case 1:
			thread(&t, unit_random() % 40, unit_random() % 2 ? BLOCKED : TIMED_PARKED);
			break;
		case 2:
			lock(&t, unit_random() % 7, unit_random() % 4, unit_random() % 40);
			break;
		case 3:
			r.dump_frame = (struct jvm_dump_frame){ .class_name = "", .name = "", .source = "" };
			threads_add(&t, JVM_REC_dump_frame, &r);
			break;
		case 4:
			edge(&t, 1 + unit_random() % 4, unit_random() % 40, unit_random() % 40,
			     unit_random() % 4);
			break;
		default:
			r.dump_end = (struct jvm_dump_end){ .rounds = unit_random() % 6, .why = "" };
			if (!(unit_random() % 50))
				threads_add(&t, JVM_REC_dump_end, &r);
		}
	}
	threads_release(&t);
}
