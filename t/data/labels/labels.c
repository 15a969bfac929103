// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels.c - threads that work for endpoints, and say so.
 *
 * labels work THREADS ROUNDS
 *	each round 10 ms of CPU for /cart and 20 for /pay, of tenant acme, 10 for none, and 10 for /cart in a
 *	thread that gets the labels handed over; prints the CPU time of each endpoint in ms. A mark in the end
 *	of /pay, and one at the end of the round
 * labels ids N
 *	N trace ids, each at once replaced by the next one, and 200 ms of CPU for the last
 * labels bad
 *	keys and values that are none, an old label below each; prints what the calls gave
 * labels call PORT N
 *	N requests to Rpc.java on loopback, each with its trace id as a label, of 10 ms of CPU before it is
 *	sent; 5 ms between two
 * labels cost N
 *	the least time of a label, of rounds of N
 */
#include <arcprof.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rounds;
static volatile unsigned long sink;

static double clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Loops of some us each, so that the clock is a small part of the work. */
static void work(double ms)
{
	double end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 1e6 * ms;
	int i;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < 20000; i++)
			sink += (unsigned long)i;
}

static void *work_for(void *labels)
{
	arcprof_labels_restore(labels);
	work(10);
	return NULL;
}

static void *serve(void *unused)
{
	struct arcprof_labels before, request;
	pthread_t t;
	int i;

	for (i = 0; i < rounds; i++) {
		arcprof_labels_save(&before);
		arcprof_label("tenant", "acme");
		arcprof_label("endpoint", "/cart");
		arcprof_labels_save(&request);
		work(10);
		pthread_create(&t, NULL, work_for, &request);
		pthread_join(t, NULL);
		arcprof_label("endpoint", "/pay");
		work(20);
		arcprof_mark("paid");
		arcprof_labels_restore(&before);
		work(10);
		arcprof_mark("over");
	}
	return unused;
}

static int serve_all(int nr)
{
	pthread_t *t = calloc((size_t)nr, sizeof(*t));
	int i;

	for (i = 0; i < nr; i++)
		pthread_create(&t[i], NULL, serve, NULL);
	for (i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	arcprof_label("endpoint", "/parent");
	if (!fork()) {
		work(30);		/* a child begins without labels */
		_exit(0);
	}
	wait(NULL);
	free(t);
	printf("/cart %d\n/pay %d\nnone %d\n", 20 * nr * rounds, 20 * nr * rounds, 10 * nr * rounds + 30);
	return 0;
}

static int make_ids(int nr)
{
	char id[32];
	int i;

	for (i = 0; i < nr; i++) {
		snprintf(id, sizeof(id), "%08x", i);
		arcprof_label("trace-id", id);
	}
	usleep(100000);		/* the recorder makes room */
	arcprof_label("trace-id", "last");
	work(200);
	return 0;
}

static int bad(void)
{
	static const char *const of[][2] = {
		{ "", "x" }, { "1st", "x" }, { "no key", "x" }, { "k", "" }, { "k", "a,b" }, { "k", "a\nb" },
		{ "k", "a\\b" },
	};
	char longest[257] = { 0 }, key[65] = { 0 };
	size_t i;

	memset(longest, 'v', 256);
	memset(key, 'k', 64);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		arcprof_label("k", "old");
		printf("%d ", arcprof_label(of[i][0], of[i][1]));
	}
	printf("%d ", arcprof_label(key, "x"));
	printf("%d ", arcprof_label("k", longest));
	longest[255] = '\0';
	printf("%d ", arcprof_label("a", longest));
	printf("%d ", arcprof_label("b", longest));
	arcprof_label("a", NULL);
	printf("%d\n", arcprof_label("b", longest));
	work(100);
	return 0;
}

static __attribute__((noinline)) void call(int fd, int i)
{
	char id[32], answer;
	int len = snprintf(id, sizeof(id), "request-%d", i);

	arcprof_label("trace-id", id);
	work(10);
	id[len] = '\n';
	if (write(fd, id, (size_t)len + 1) != len + 1 || read(fd, &answer, 1) != 1)
		exit(1);
	arcprof_label("trace-id", NULL);
}

static int call_all(int port, int nr)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), i;

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	for (i = 0; i < nr; i++) {
		call(fd, i);
		work(5);
	}
	return 0;
}

/* Rounds are apart, so that the recorder makes room meanwhile. */
static int cost(int n)
{
	double best = 1e18, begun;
	int round, i;

	for (round = 0; round < 50; round++) {
		begun = clock_ns(CLOCK_MONOTONIC);
		for (i = 0; i < n; i++)
			arcprof_label("endpoint", i & 1 ? "/cart" : "/pay");
		begun = (clock_ns(CLOCK_MONOTONIC) - begun) / n;
		best = begun < best ? begun : best;
		usleep(10000);
	}
	printf("%.1f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	rounds = argc > 3 ? atoi(argv[3]) : 0;
	if (argc < 2)
		return 2;
	return !strcmp(argv[1], "work") ? serve_all(n) : !strcmp(argv[1], "ids") ? make_ids(n) :
	       !strcmp(argv[1], "bad") ? bad() : !strcmp(argv[1], "call") ? call_all(n, rounds) : cost(n);
}
