// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * served.c - threads that wait in three ways, all of them in futex(): for a server that computes, for a time,
 * and for a lock that is held. How long the first takes depends on whether a CPU is free, and so does when a
 * profiler can look; one that counts what it finds when it comes is wrong. What each measured of that by the
 * clock:
 *
 *	<function> <milliseconds> <times>
 *
 * usage: served SECONDS
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAIT __attribute__((noinline, noclone)) static void

enum { NR_CLIENTS = 12, KINDS = 3 };

static struct client {
	pthread_t thread;
	pthread_cond_t answered;
	bool asks, has_answer;
	uint64_t ns[KINDS], times;
} clients[NR_CLIENTS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static uint64_t deadline_ns;
static volatile unsigned int sink;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void compute(unsigned int us)
{
	uint64_t end = now_ns() + us * 1000ull;

	while (now_ns() < end)
		sink++;
}

WAIT wait_answer(struct client *c)
{
	pthread_mutex_lock(&mutex);
	c->asks = true;
	c->has_answer = false;
	pthread_cond_signal(&asked);
	while (!c->has_answer)
		pthread_cond_wait(&c->answered, &mutex);
	pthread_mutex_unlock(&mutex);
}

WAIT wait_time(struct client *c)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 2000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	pthread_mutex_lock(&own);
	while (!pthread_cond_timedwait(&never, &own, &t))
		;
	pthread_mutex_unlock(&own);
	c->times++;
}

WAIT wait_lock(struct client *c)
{
	pthread_mutex_lock(&held);
	compute(30);
	pthread_mutex_unlock(&held);
	__asm__ volatile("" :: "r"(c));
}

static void *client(void *arg)
{
	static void (*const kinds[KINDS])(struct client *) = { wait_answer, wait_time, wait_lock };
	struct client *c = arg;
	uint64_t before = now_ns(), after;
	int k;

	for (; before < deadline_ns; )
		for (k = 0; k < KINDS; k++) {
			kinds[k](c);
			after = now_ns();
			c->ns[k] += after - before;
			before = after;
		}
	return NULL;
}

static void *server(void *arg)
{
	bool any;
	int i;

	(void)arg;
	pthread_mutex_lock(&mutex);
	for (;;) {
		any = false;
		for (i = 0; i < NR_CLIENTS; i++) {
			if (!clients[i].asks)
				continue;
			any = true;
			clients[i].asks = false;
			pthread_mutex_unlock(&mutex);
			compute(100);
			pthread_mutex_lock(&mutex);
			clients[i].has_answer = true;
			pthread_cond_signal(&clients[i].answered);
		}
		if (!any)
			pthread_cond_wait(&asked, &mutex);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[KINDS] = { "wait_answer", "wait_time", "wait_lock" };
	uint64_t ns, times;
	pthread_t s;
	int i, k;

	deadline_ns = now_ns() + (argc > 1 ? atof(argv[1]) : 2) * 1e9;
	pthread_create(&s, NULL, server, NULL);
	for (i = 0; i < NR_CLIENTS; i++) {
		pthread_cond_init(&clients[i].answered, NULL);
		pthread_create(&clients[i].thread, NULL, client, &clients[i]);
	}
	for (i = 0; i < NR_CLIENTS; i++)
		pthread_join(clients[i].thread, NULL);
	for (k = 0; k < KINDS; k++) {
		for (i = 0, ns = times = 0; i < NR_CLIENTS; i++) {
			ns += clients[i].ns[k];
			times += clients[i].times;
		}
		printf("%s\t%.3f\t%llu\n", names[k], ns / 1e6, (unsigned long long)times);
	}
	return 0;
}
