// SPDX-License-Identifier: MIT
/*
 * budget.c - budgets are found by the thread's number. The one of a thread that has ended serves the next one
 * with a number that leads to it.
 */
#include "agent/sources/budget.h"
#include "agent/sys.h"

enum { NR_BUDGETS = 1 << 16, NR_TRIES = 4 };

static struct budget *budgets;

bool budget_init(void)
{
	if (budgets)
		sys_clear_pages(budgets, NR_BUDGETS * sizeof(*budgets));
	else
		budgets = sys_pages(NR_BUDGETS * sizeof(*budgets));
	return budgets;
}

static struct budget *at(int tid, uint32_t i)
{
	return &budgets[((uint32_t)tid + i) % NR_BUDGETS];
}

struct budget *budget_of(int tid)
{
	struct budget *b;
	uint32_t i;

	if (!budgets)
		return NULL;
	for (i = 0; i < NR_TRIES; i++) {
		b = at(tid, i);
		if (b->tid == (uint32_t)tid)
			return b;
		if (!b->tid)
			break;
	}
	b = at(tid, i % NR_TRIES);
	*b = (struct budget){ .tid = (uint32_t)tid };
	return b;
}

bool budget_allows(struct budget *b, uint64_t cpu_ns)
{
	uint64_t used = cpu_ns - b->cpu_ns;

	if (!b->cpu_ns || cpu_ns < b->cpu_ns)		/* the thread before it had the same number */
		b->left_ns = BUDGET_MOST_NS;
	else
		b->left_ns += used < 1000ull * BUDGET_MOST_NS ? used * BUDGET_PERMILLE / 1000 :
								BUDGET_MOST_NS;
	if (b->left_ns > BUDGET_MOST_NS)
		b->left_ns = BUDGET_MOST_NS;
	b->cpu_ns = cpu_ns;
	b->nr_since = 0;
	return b->left_ns > 0;
}

bool budget_wants_clock(struct budget *b)
{
	enum { RESERVE_NS = BUDGET_CHEAP_NS * BUDGET_CHEAP_SAMPLES };

	return !b->cpu_ns || b->dear || b->left_ns < RESERVE_NS || ++b->nr_since >= BUDGET_CHEAP_SAMPLES;
}

void budget_spend_elapsed(struct budget *b, uint64_t ns)
{
	b->dear = ns > BUDGET_CHEAP_NS;
	b->left_ns -= b->dear ? BUDGET_CHEAP_NS : ns;
}

void budget_spend(struct budget *b, uint64_t ns)
{
	b->dear = ns > BUDGET_CHEAP_NS;
	b->left_ns -= ns < 1000ull * BUDGET_MOST_NS ? ns : 1000ull * BUDGET_MOST_NS;
}

void budget_skip(struct budget *b, uint64_t now_ns, uint32_t periods)
{
	b->nr_skipped++;
	b->skipped_ns = now_ns;
	b->periods += periods;
}

void budget_settle(struct budget *b)
{
	b->nr_skipped = 0;
	b->skipped_ns = 0;
	b->periods = 0;
}
