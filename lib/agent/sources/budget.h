/* SPDX-License-Identifier: MIT */
/*
 * budget.h - how much of a thread's CPU time its own samples may take: a part of what it has used, saved up
 * for a few milliseconds. What is beyond that is skipped, and the next sample stands for it as well, so a
 * thread gets on with its work however short the interval and however deep its stack.
 *
 * Everything here may be called in a signal handler, by the thread that is meant.
 */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BUDGET_PERMILLE = 200,		/* of a thread's CPU time */
	/*
	 * The most that can be saved up. A new thread has it, as the first walks of a JVM take longer.
	 */
	BUDGET_MOST_NS = 10000000,
	/*
	 * To return a thread's CPU time, the kernel checks whether its time on the CPU is over, so that
	 * it loses the CPU more often than others do. It is thus asked for at each sample only of threads
	 * whose samples cost more than this, else at one of BUDGET_CHEAP_SAMPLES.
	 */
	BUDGET_CHEAP_NS = 100000,
	BUDGET_CHEAP_SAMPLES = 16,
};

struct budget {
	uint32_t tid;			/* 0: nobody's yet */
	uint32_t nr_skipped;		/* signals since the last sample, */
	uint64_t skipped_ns;		/* the time of the last one, */
	uint64_t periods;		/* and what they stood for, of timers */
	uint64_t cpu_ns;		/* the thread's CPU time when it was last asked for, */
	uint32_t nr_since;		/* samples since then, */
	bool dear;			/* and whether the last one was expensive */
	int64_t left_ns;
};

/* Return that of a thread; NULL: there is no memory for budgets, or they were not made. */
struct budget *budget_of(int tid);
/* Make all of them, or empty them. False: out of memory. */
bool budget_init(void);

/* Check whether the thread's CPU time must be asked for, before its next sample and after that. */
bool budget_wants_clock(struct budget *b);
/* Check whether a sample may be taken when the thread has used cpu_ns. */
bool budget_allows(struct budget *b, uint64_t cpu_ns);
/* Charge the thread with a sample that took ns of its time. */
void budget_spend(struct budget *b, uint64_t ns);
/* Spend elapsed time, of which other threads may have had the CPU for a part. */
void budget_spend_elapsed(struct budget *b, uint64_t ns);
/* Count a hit, of that many periods, for which no sample was taken. */
void budget_skip(struct budget *b, uint64_t now_ns, uint32_t periods);
/* Forget what was skipped: a sample was written that stands for it. */
void budget_settle(struct budget *b);

#endif
