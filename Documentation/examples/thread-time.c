/* SPDX-License-Identifier: MIT */
/*
 * thread-time.c - measures a piece of a program on the thread that runs it.
 *
 *	cc thread-time.c -larcprof -o thread-time
 *
 * "arcprof ptt init --all-users" before it gives exact times with interrupts set apart; without a
 * session it works too, and says less.
 */
#include <arcprof.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static volatile double sink;

static void work(void)
{
	int i;

	for (i = 1; i < 20000000; i++)
		sink += 1.0 / i;
}

int main(void)
{
	struct arcprof_values before, after;
	struct arcprof_thread *self;
	uint64_t start;

	if (arcprof_init(NULL))
		return 1;
	self = arcprof_thread_open();
	if (!self) {
		fprintf(stderr, "thread-time: %s: %s\n", arcprof_backend(), strerror(errno));
		return 1;
	}
	arcprof_thread_read(self, &before);
	start = arcprof_thread_time_ns(self);		/* the cheap way: no system call */
	work();
	printf("%s: %.3f ms", arcprof_backend(), (arcprof_thread_time_ns(self) - start) / 1e6);
	arcprof_thread_read(self, &after);		/* the complete way */
	if (after.known & ARCPROF_KNOW_IRQ_TIME)
		printf(", and %.3f ms in %llu interrupts", (after.irq_time_ns - before.irq_time_ns) / 1e6,
		       (unsigned long long)(after.interrupts - before.interrupts));
	printf("\n");
	arcprof_thread_close(self);
	arcprof_term();
	return 0;
}
