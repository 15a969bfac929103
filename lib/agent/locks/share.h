/* SPDX-License-Identifier: MIT */
/*
 * share.h - which waits for a lock get a stack, and how much waiting each stack stands for.
 *
 * One as long as the interval gets a stack that stands for itself. The others of a lock are laid end to end,
 * and points are laid on them at random distances, on average an interval apart. A wait that has a point on
 * it gets a stack, which stands for all from the point before to its own. So each context is charged in
 * proportion to how long it waits, whatever the others do, and what the stacks stand for is never more than
 * was waited. (To charge each stack with all since the one before gives long waits the time of short ones.)
 *
 * The distances are uniform in (0, 2 intervals]; the first is as if points had been laid for ever, so that a
 * wait of x intervals has one with the probability x - x * x / 4.
 *
 * Used by the agent, and by the library that programs load (preload/waits.c).
 */
#ifndef AGENT_SHARE_H
#define AGENT_SHARE_H

#include <stdint.h>

enum { SHARES = 1 << 10, SHARE_WINDOW_NS = 100000000, SHARE_STACKS_A_WINDOW = 1000 };

struct share {
	uint64_t key;		/* of a lock; another one with the same hash takes its place */
	uint64_t ns;		/* that was waited, */
	uint64_t told_ns;	/* of which stacks stand for so much */
	uint64_t point_ns;	/* where the next one lies */
	uint32_t busy;
};

struct shares {
	uint64_t window, nr;	/* how many stacks there were in it */
	uint64_t random;
	struct share all[SHARES];
};

/* Of a wait of that length that has ended now, for the lock with that key, never 0. 0: no stack. */
uint64_t share_of(struct shares *s, uint64_t key, uint64_t ns, uint64_t interval_ns, uint64_t now_ns);

#endif
