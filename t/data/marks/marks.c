// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * marks.c - marks and phases, as many as it prints. "marks THREADS EACH": so many threads, each with so many
 * marks; a child marks, too. "marks cost N": the least time of a mark, of rounds of N; "marks emit N": of an
 * event with a text and two numbers.
 */
#include <arcprof.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int each;

static void *run(void *name)
{
	int i;

	for (i = 0; i < each; i++)
		arcprof_mark(name);
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static struct arcprof_event_kind *request;

static void emit(const char *path, int64_t status, double seconds)
{
	ARCPROF_EMIT(request, arcprof_string(path), arcprof_i64(status), arcprof_f64(seconds));
}

static void emit_some(uint64_t begun)
{
	char longest[2001];

	memset(longest, 'x', 2000);
	longest[2000] = '\0';
	memcpy(longest + 1022, "\303\251", 2);		/* a character of two bytes, of which one would fit */
	emit("/cart", 200, 0.25);
	emit("/a \"b\"\n,c", INT64_MIN, -1e300);
	emit(NULL, INT64_MAX, NAN);
	ARCPROF_EMIT(request, arcprof_string(longest));
	ARCPROF_EMIT_SINCE(request, begun, arcprof_string(""), arcprof_i64(0), arcprof_f64(0.1),
			   arcprof_i64(9));
	ARCPROF_EMIT_SINCE(request, 0, arcprof_string("never"));
	if (arcprof_define("twice", "a b a") || arcprof_define("digit", "1a") || arcprof_define("", "a") ||
	    arcprof_define("comma", "a,b") || arcprof_define(NULL, NULL))
		puts("defined what is no event");
	ARCPROF_EMIT(NULL, arcprof_i64(1));
}

/* Rounds are apart, so that the recorder makes room meanwhile. */
static int cost(int n, int emits)
{
	double best = 1e18, begun;
	int round, i;

	for (round = 0; round < 50; round++) {
		begun = now_ns();
		for (i = 0; i < n; i++)
			if (emits)
				emit("/cart", i, 0.25);
			else
				arcprof_mark("timed");
		begun = (now_ns() - begun) / n;
		best = begun < best ? begun : best;
		usleep(10000);
	}
	printf("%.1f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[1]) : 0, i;
	pthread_t *t = calloc(nr + 1, sizeof(*t));
	uint64_t begun = arcprof_phase_begin();

	each = argc > 2 ? atoi(argv[2]) : 0;
	request = arcprof_define("request", "path status seconds");
	if (argc > 2 && (!strcmp(argv[1], "cost") || !strcmp(argv[1], "emit")))
		return cost(each, argv[1][0] == 'e');
	for (i = 0; i < 3; i++)
		arcprof_mark_value("step", i);
	for (i = 0; i < nr; i++)
		pthread_create(&t[i], NULL, run, "from a thread");
	for (i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		arcprof_mark("child");
		_exit(0);
	}
	wait(NULL);
	usleep(20000);
	emit_some(begun);
	arcprof_phase_end(begun, "all, of \"it\"");
	printf("%d from a thread\n3 step\n1 child\n1 all\n5 request\n", nr * each);
	free(t);
	return 0;
}
