// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * native-locks.c - threads that wait for mutexes, a reader-writer lock and a condition, and measure how long;
 * on stdout a line each: kind, name, waits, ns. "turns N US": two threads have a mutex in turn, N times, one
 * nine times as long as the other, which has it for so many us, while a third one waits; a line each: the
 * function that gives it back, ns that were waited for it. "owners N": so many threads have a mutex once, one
 * after the other, and one waits for each. "pairs N": ns of CPU time that locking and unlocking a mutex takes
 * which nobody else wants: the least mean of ten times N pairs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 10, HELD_US = 20000, WAITERS = 2 };

pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int before;
	pthread_mutex_t inner;
} table = { 0, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t happened = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_mutex_t *mutex;
static unsigned long nr_waits, waited_ns;

static unsigned long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static void note(unsigned long since)
{
	__atomic_fetch_add(&nr_waits, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&waited_ns, now() - since, __ATOMIC_RELAXED);
}

static void tell(const char *kind, const char *name)
{
	printf("%s %s %lu %lu\n", kind, name, nr_waits, waited_ns);
	nr_waits = waited_ns = 0;
}

/* ---- a mutex: one thread has it while two wait ---- */

__attribute__((noinline)) void want_mutex(void)
{
	unsigned long since = now();

	pthread_mutex_lock(mutex);
	note(since);
	pthread_mutex_unlock(mutex);
}

static void *wait_for_mutex(void *arg)
{
	int i;

	for (i = 0; i < TIMES; i++) {
		pthread_barrier_wait(&barrier);
		want_mutex();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *hold_mutex(void *arg)
{
	int i;

	pthread_setname_np(pthread_self(), "holder");
	for (i = 0; i < TIMES; i++) {
		pthread_mutex_lock(mutex);
		pthread_barrier_wait(&barrier);
		usleep(HELD_US);
		pthread_mutex_unlock(mutex);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *want_to_read(void *arg)
{
	unsigned long since;

	pthread_barrier_wait(&barrier);
	since = now();
	pthread_rwlock_rdlock(&rwlock);
	note(since);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void *write_slowly(void *arg)
{
	pthread_setname_np(pthread_self(), "writer");
	pthread_rwlock_wrlock(&rwlock);
	pthread_barrier_wait(&barrier);
	usleep(200000);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void *want_condition(void *arg)
{
	struct timespec t;
	unsigned long since;

	pthread_mutex_lock(&gate);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 200000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	since = now();
	pthread_cond_timedwait(&happened, &gate, &t);
	note(since);
	pthread_mutex_unlock(&gate);
	return NULL;
}

/* ---- two threads that have a mutex in turn ---- */

enum { LONG = 9, SHORT = 1 };
static long nr_turns, turn_us;
static unsigned long waited_for[2];
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;

static void have(int times)
{
	unsigned long since;

	pthread_mutex_lock(&turns);
	pthread_barrier_wait(&barrier);
	for (since = now(); now() - since < times * turn_us * 1000ul; )
		;
}

__attribute__((noinline)) void have_long(void)
{
	have(LONG);
	pthread_mutex_unlock(&turns);
}

__attribute__((noinline)) void have_short(void)
{
	have(SHORT);
	pthread_mutex_unlock(&turns);
}

static void *in_turn(void (*mine)(void), int which)
{
	long i;

	for (i = 0; i < 2 * nr_turns; i++) {
		if (i % 2 == which)
			mine();
		else
			pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *turn_long(void *arg)
{
	return in_turn(have_long, 0);
}

static void *turn_short(void *arg)
{
	return in_turn(have_short, 1);
}

static void take_turns(void)
{
	pthread_t first, second;
	unsigned long since;
	long i;

	pthread_barrier_init(&barrier, NULL, 3);
	pthread_create(&first, NULL, turn_long, NULL);
	pthread_create(&second, NULL, turn_short, NULL);
	for (i = 0; i < 2 * nr_turns; i++) {
		pthread_barrier_wait(&barrier);
		since = now();
		pthread_mutex_lock(&turns);
		waited_for[i % 2] += now() - since;
		pthread_mutex_unlock(&turns);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("have_long %lu\nhave_short %lu\n", waited_for[0], waited_for[1]);
}

/* ---- many that have a mutex once ---- */

static void *have_once(void *arg)
{
	pthread_mutex_lock(&shared_mutex);
	pthread_barrier_wait(&barrier);
	usleep(200);
	pthread_mutex_unlock(&shared_mutex);
	return NULL;
}

static void wait_for_each(long nr)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	for (; nr; nr--) {
		pthread_create(&t, NULL, have_once, NULL);
		pthread_barrier_wait(&barrier);
		want_mutex();
		pthread_join(t, NULL);
	}
	tell("mutex", "shared_mutex");
}

static void run(void *(*first)(void *), void *(*others)(void *))
{
	pthread_t t[WAITERS + 1];
	int i, nr = first ? WAITERS + 1 : 1;

	pthread_barrier_init(&barrier, NULL, nr);
	for (i = 0; i < nr; i++)
		pthread_create(&t[i], NULL, i || !first ? others : first, NULL);
	for (i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static unsigned long cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static double pairs(long n)
{
	unsigned long since = cpu_time();
	long i;

	for (i = 0; i < n; i++) {
		pthread_mutex_lock(&shared_mutex);
		pthread_mutex_unlock(&shared_mutex);
	}
	return (double)(cpu_time() - since) / n;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "pairs")) {
		double best = pairs(atol(argv[2])), x;
		int i;

		for (i = 0; i < 9; i++)
			if ((x = pairs(atol(argv[2]))) < best)
				best = x;
		printf("%.2f\n", best);
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "turns")) {
		nr_turns = atol(argv[2]);
		turn_us = atol(argv[3]);
		take_turns();
		return 0;
	}
	mutex = &shared_mutex;
	if (argc > 2 && !strcmp(argv[1], "owners")) {
		wait_for_each(atol(argv[2]));
		return 0;
	}
	run(hold_mutex, wait_for_mutex);
	tell("mutex", "shared_mutex");
	mutex = &table.inner;
	run(hold_mutex, wait_for_mutex);
	tell("mutex", "table+0x8");
	mutex = malloc(sizeof(*mutex));
	pthread_mutex_init(mutex, NULL);
	run(hold_mutex, wait_for_mutex);
	tell("mutex", "pthread_mutex_t");
	run(write_slowly, want_to_read);
	tell("rwlock", "rwlock");
	run(NULL, want_condition);
	tell("cond", "happened");
	return 0;
}
