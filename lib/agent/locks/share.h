/* SPDX-License-Identifier: MIT */
/*
 * share.h - which waits for a lock get a stack, and how much waiting each stack stands for.
 *
 * A wait as long as the interval gets a stack that stands for itself. The other waits of a lock are laid end
 * to end, with points on them at random distances, on average an interval apart. A wait that has a point on
 * it gets a stack, which stands for everything from the previous point to this one. So each context is
 * charged in proportion to how long it waits, whatever the others do, and the stacks never stand for more
 * than was waited. (Charging each stack with everything since the previous one would give the time of short
 * waits to long ones.)
 *
 * The distances are uniform in (0, 2 intervals]; the first is as if there had always been points, so that a
 * wait of x intervals has one with the probability x - x * x / 4.
 *
 * Used by the agent, and by the library that programs load (preload/waits.c).
 */
#ifndef AGENT_SHARE_H
#define AGENT_SHARE_H

#include <stdint.h>

enum { SHARES = 1 << 10, SHARE_WINDOW_NS = 100000000, SHARE_STACKS_A_WINDOW = 1000 };

struct share {
	uint64_t key;		/* of the lock; another lock with the same hash replaces it */
	uint64_t ns;		/* all waiting for it, */
	uint64_t told_ns;	/* and the part that stacks stand for */
	uint64_t point_ns;	/* where the next point is */
	uint32_t busy;
};

struct shares {
	uint64_t window, nr;	/* stacks in that window */
	uint64_t random;
	struct share all[SHARES];
};

/*
 * Return how much waiting the stack of a wait stands for that ended now after ns; 0: it gets no stack. key:
 * the lock's, never 0.
 */
uint64_t share_of(struct shares *s, uint64_t key, uint64_t ns, uint64_t interval_ns, uint64_t now_ns);

#endif
