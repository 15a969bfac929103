// SPDX-License-Identifier: GPL-2.0-or-later
/* What an enter and a leave cost in the process's own tree, by metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "callflow/callflow.h"
#include "callflow/layout.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void __attribute__((noinline)) fib(struct callflow_kthread *k, int n)
{
	callflow_enter(k, 1);
	if (n > 1) {
		fib(k, n - 1);
		fib(k, n - 2);
	}
	callflow_leave(k, 1);
}

static void measure(const char *name, uint32_t flags, int nr, const enum callflow_metric_kind *kinds)
{
	struct callflow_layout l = { .flags = flags, .max_depth = 1024, .nr_threads = 16, .nr_functions = 1,
				     .pool_bytes = 1 << 20, .nr_metrics = nr };
	double loop = 1e9, rec = 1e9;
	struct callflow_kthread *k;
	void *area;
	int i, r;

	for (i = 0; i < nr; i++)
		l.metrics[i].kind = kinds[i];
	area = aligned_alloc(4096, callflow_layout_bytes(&l));
	memset(area, 0, callflow_layout_bytes(&l));
	callflow_layout_write(&l, area);
	if (!callflow_attach(area, callflow_layout_bytes(&l)))
		exit(1);
	k = callflow_kthread_start(callflow_thread_new(getpid(), 0, 0), NULL);
	for (r = 0; r < 7; r++) {
		uint64_t t = now();
		double d;

		for (i = 0; i < 1000000; i++) {
			callflow_enter(k, 1);
			callflow_leave(k, 1);
		}
		d = (now() - t) / 1e6;
		loop = d < loop ? d : loop;
		t = now();
		fib(k, 27);
		d = (now() - t) / 832039.;
		rec = d < rec ? d : rec;
	}
	printf("%-32s %6.1f ns a pair in a loop, %6.1f recursive\n", name, loop, rec);
	callflow_kthread_end(k);
	callflow_detach();
	free(area);
}

int main(void)
{
	static const enum callflow_metric_kind wc[] = { CALLFLOW_CPU, CALLFLOW_WALL },
	wall[] = { CALLFLOW_WALL };
	static const enum callflow_metric_kind all[] = { CALLFLOW_CPU, CALLFLOW_WALL, CALLFLOW_DISPATCHES };

	measure("calls", CALLFLOW_TREES, 0, NULL);
	measure("calls, wall", CALLFLOW_TREES, 1, wall);
	measure("calls, cpu", CALLFLOW_TREES, 1, wc);
	measure("calls, wall, cpu", CALLFLOW_TREES, 2, wc);
	measure("calls, wall, cpu, dispatches", CALLFLOW_TREES, 3, all);
	return 0;
}
