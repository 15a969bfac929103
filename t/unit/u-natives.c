// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "threads/natives.h"
#include "unit.h"

struct reader {
	int fds[2];
	int tid;
};

static __attribute__((noinline)) void *wait_here(void *arg)
{
	struct reader *r = arg;
	char c;

	__atomic_store_n(&r->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return read(r->fds[0], &c, 1) == 1 ? arg : NULL;
}

static const struct native_thread *find(const struct natives *n, int tid)
{
	size_t i;

	for (i = 0; i < n->nr_threads; i++)
		if (n->threads[i].tid == tid)
			return &n->threads[i];
	return NULL;
}

TEST(natives_shows_where_a_thread_waits_and_leaves_it_there)
{
	struct natives n = NATIVES_INIT;
	const struct native_thread *t;
	struct map known = MAP_INIT;
	struct reader r = { .tid = 0 };
	bool found = false;
	pthread_t thread;
	struct err e;
	void *ended;
	size_t i;

	unit_skip_if_emulated();
	CHECK(!pipe(r.fds));
	CHECK(!pthread_create(&thread, NULL, wait_here, &r));
	while (!__atomic_load_n(&r.tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	CHECK(unit_until_blocked(r.tid, SYS_read));
	CHECK(!natives_look(getpid(), NULL, &n, &e));
	t = find(&n, r.tid);
	CHECK(t && find(&n, getpid()));
	if (t->end != NATIVE_DENIED) {
		CHECK_STR(t->reason, "[read: pipe]");
		CHECK(!t->file);
		CHECK_U64(t->end, NATIVE_COMPLETE);
		for (i = 0; i < t->nr_frames; i++)
			found = found || !strcmp(n.frames[t->first_frame + i].function ?: "", "wait_here");
		CHECK(found);
	}
	natives_release(&n);
	/* those that are known already are left out */
	*map_put(&known, (uint64_t)r.tid) = 1;
	CHECK(!natives_look(getpid(), &known, &n, &e));
	CHECK(!find(&n, r.tid));
	map_release(&known);
	natives_release(&n);
	CHECK_U64(write(r.fds[1], "x", 1), 1);
	CHECK(!pthread_join(thread, &ended));
	CHECK(ended == &r);
	CHECK(natives_look(999999999, NULL, &n, &e) == -ESRCH);
	natives_release(&n);
}
