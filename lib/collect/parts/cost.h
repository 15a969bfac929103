/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost.h - what the recorder takes itself: CPU time and resident memory, of its own process and of children
 * that have ended. Each trace says it in the labels cost.cpu_ns and cost.resident_bytes. With a limit on CPU
 * time, samples of perf events become rarer while it takes more, and more frequent again when it takes far
 * less. With a limit on memory, what can be found again is dropped while it takes more.
 */
#ifndef COLLECT_COST_H
#define COLLECT_COST_H

#include <stdint.h>

#include "base/buf.h"

struct collect;

enum { COST_MOST_LOWERED = 6 };		/* how often the rate is halved at most */

struct cost_told {
	double percent;			/* of a CPU, over the last span */
	uint32_t part;			/* samples are taken at one part of so many of the rate from now on */
	/* LEFT: it takes too much, and this cannot change */
	enum { COST_LOWERED, COST_RAISED, COST_LEFT } what;
};

struct cost_opts {
	uint64_t limit_ns;		/* of CPU time a second; 0: there is none */
	uint64_t span_ns;		/* on average over that; the first does not count */
	uint64_t max_memory;		/* resident bytes; 0: there is no limit */
	/* The rate changes, or cannot. May be NULL. */
	void (*told)(const struct cost_told *t);
	/* It takes that much memory, more than the limit, and has nothing left to drop. May be NULL. */
	void (*is_beyond)(uint64_t bytes);
};

/* what to drop, for the amount of memory that is resident */
enum cost_drop {
	COST_DROP_NOTHING,
	COST_DROP_TABLES,		/* of symbols and unwind rules, but those that are in use */
	COST_DROP_ALL,			/* all tables, and names with the current file, which ends now */
	COST_NR_DROPS
};
enum cost_drop cost_to_drop(uint64_t bytes, uint64_t limit_bytes);
/* Return how often to halve the rate after a span that took ns of CPU time per second at lowered halvings. */
uint32_t cost_lowered(uint32_t lowered, uint64_t ns, uint64_t limit_ns);
/* Adds what it has taken since sampling began: "cost: 0.4 % of a CPU, 43.1 MiB". */
void cost_put(const struct collect *c, struct buf *b);

#endif
