// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * handover.c - threads that end each other's waits, in an order that is known:
 *
 *	giver	sleeps for 20 ms, then posts a semaphore
 *	taker	waits for that, then writes to a pipe
 *	reader	reads from it
 *	ping	sleeps for 300 us, then writes to a pipe, and reads the answer from another
 *	pong	reads that, works for 200 us, and answers
 *	poller	polls a pipe that never has anything, with a timeout
 *	patient	waits for a semaphore, which
 *	donor	posts in after_short() and after_long() in turn
 *	main	joins all
 *
 * usage: handover SECONDS
 * Prints how many ms the patient waited until each of the two posted: "after_short 310.5".
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static sem_t given;
static int to_reader[2], to_pong[2], to_ping[2], silent[2];
static uint64_t deadline_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void nap(uint64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void put(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		abort();
}

/* What was put: 0 is the end. */
static char get(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		abort();
	return c;
}

static char goes_on(void)
{
	return now_ns() < deadline_ns;
}

static volatile char over;

static void *giver(void *arg)
{
	(void)arg;
	do {
		nap(20000);
		over = !goes_on();
		sem_post(&given);
	} while (!over);
	return NULL;
}

static void *taker(void *arg)
{
	char more;

	(void)arg;
	do {
		while (sem_wait(&given))
			;
		more = !over;
		put(to_reader[1], more);
	} while (more);
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (get(to_reader[0]))
		;
	return NULL;
}

static void *ping(void *arg)
{
	char more;

	(void)arg;
	do {
		nap(300);
		more = goes_on();
		put(to_pong[1], more);
		get(to_ping[0]);
	} while (more);
	return NULL;
}

static void *pong(void *arg)
{
	char more;
	uint64_t end;

	(void)arg;
	do {
		more = get(to_pong[0]);
		for (end = now_ns() + 200000; now_ns() < end;)
			;
		put(to_ping[1], 1);
	} while (more);
	return NULL;
}

static void *poller(void *arg)
{
	struct pollfd p = { silent[0], POLLIN, 0 };

	(void)arg;
	while (goes_on())
		poll(&p, 1, 13);
	return NULL;
}

enum { SHORT, LONG, OVER, NR_GIFTS = 1024 };

static sem_t gifts;
static struct {
	uint64_t ns;		/* when it was posted */
	int kind;
} gift[NR_GIFTS];
static uint64_t waited_ns[OVER + 1];

static void *patient(void *arg)
{
	uint64_t since, i = 0;
	int kind;

	(void)arg;
	do {
		since = now_ns();
		while (sem_wait(&gifts))
			;
		kind = gift[i % NR_GIFTS].kind;
		if (gift[i % NR_GIFTS].ns > since)
			waited_ns[kind] += gift[i % NR_GIFTS].ns - since;
		i++;
	} while (kind != OVER);
	return NULL;
}

static volatile uint64_t nr_given;	/* so that sem_post() is not the last that they do */

static void write_down(uint64_t i, int kind)
{
	gift[i % NR_GIFTS].kind = kind;
	gift[i % NR_GIFTS].ns = now_ns();
}

static void __attribute__((noinline)) after_short(uint64_t i)
{
	nap(15000);
	write_down(i, SHORT);
	sem_post(&gifts);
	nr_given++;
}

static void __attribute__((noinline)) after_long(uint64_t i)
{
	nap(45000);
	write_down(i, LONG);
	sem_post(&gifts);
	nr_given++;
}

static void *donor(void *arg)
{
	uint64_t i;

	(void)arg;
	for (i = 0; goes_on(); i += 2) {
		after_short(i);
		after_long(i + 1);
	}
	write_down(i, OVER);
	sem_post(&gifts);
	return NULL;
}

struct worker {
	const char *name;
	void *(*run)(void *);
	pthread_t thread;
};

static void *start(void *arg)
{
	const struct worker *w = arg;

	prctl(PR_SET_NAME, w->name);
	return w->run(NULL);
}

int main(int argc, char **argv)
{
	static struct worker workers[] = {
		{ "giver", giver, 0 }, { "taker", taker, 0 }, { "reader", reader, 0 }, { "ping", ping, 0 },
		{ "pong", pong, 0 }, { "poller", poller, 0 }, { "patient", patient, 0 },
		{ "donor", donor, 0 },
	};
	size_t i;

	deadline_ns = now_ns() + (argc > 1 ? strtod(argv[1], NULL) : 1) * 1e9;
	if (pipe(to_reader) || pipe(to_pong) || pipe(to_ping) || pipe(silent) || sem_init(&given, 0, 0) ||
	    sem_init(&gifts, 0, 0))
		return 1;
	for (i = 0; i < sizeof(workers) / sizeof(*workers); i++)
		if (pthread_create(&workers[i].thread, NULL, start, &workers[i]))
			return 1;
	for (i = 0; i < sizeof(workers) / sizeof(*workers); i++)
		pthread_join(workers[i].thread, NULL);
	printf("after_short %.1f\nafter_long %.1f\n", waited_ns[SHORT] / 1e6, waited_ns[LONG] / 1e6);
	return 0;
}
