// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * intake.c - takes in what the kernel and agents have recorded, in the order in which one needs the other: at
 * each turn of the loop, and before a file ends.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"

void collect_drain(struct collect *c, uint64_t now_ns, bool all)
{
	uint64_t until = all ? UINT64_MAX : c->drained_ns;

	collect_merge(c, until);
	agents_drain(c, all);
	parts_taken_in(c, now_ns);
	agents_join(c, until, all);
	if (!all)
		tasks_forget(&c->tasks, until);
	callflows_drain(&c->calls);
	callflows_snapshot(&c->calls);
	c->drained_ns = now_ns;
}

void collect_take_in(struct collect *c, uint64_t until_ns)
{
	collect_merge(c, until_ns);
	agents_drain(c, false);
	/* not later: the half of a younger sample may be there while an older one's is on its way */
	agents_join(c, MIN(c->drained_ns, until_ns), false);
}

void collect_ask_counts(struct collect *c, int wait_ms)
{
	c->asked_ns = clock_mono_ns();
	if (c->javas && parts_count(c))
		switches_ask_again(c, wait_ms);
}
