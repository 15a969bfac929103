/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chains.h - waits of threads that other threads end, followed from thread to thread.
 *
 * A chain is a wait, then what the thread that ended it waited for while it lasted, and so on.  The time of a
 * wait is divided: the part of it in which that thread waited, too, goes to the chain on from there, and
 * what is left to the chain that ends there.  So chains and waits add up to the same.  A wait that was
 * sampled stands for others as short as it is, and goes as a whole where the moment goes when it was seen:
 * at that moment all threads are looked at.
 *
 *	chains_add()	each wait
 *	chains_sort()
 *	chains_make()
 */
#ifndef MODEL_CHAINS_H
#define MODEL_CHAINS_H

#include <stdbool.h>

#include "base/hash.h"

enum { CHAINS_MAX_DEPTH = 16 };

struct chain_wait {
	uint32_t thread;
	uint32_t what;			/* it waited for: a number of the caller's, not 0 */
	uint32_t kind;			/* enum wake_kind */
	uint32_t by;			/* WAKE_THREAD: the thread that ended it */
	uint64_t from_ns, to_ns;	/* equal: its length is not known */
	uint64_t seen_ns;		/* when it was seen */
	uint64_t weight;
	/* what is selected of the weight, and when that was; 0: nothing */
	uint64_t part_ns, part_from_ns, part_to_ns;
};

/* A step of a chain: the thread waited for that; or, with what 0, it is the end. */
struct chain_step {
	uint32_t parent;	/* the step whose wait this ended; 0: none */
	uint32_t thread, what;
	uint32_t kind;		/* of an end: what that is; WAKE_THREAD: the thread, which did not wait */
	bool cut;		/* of an end: the thread waited, but the chain is too long, or a circle */
	uint64_t ns;		/* of an end: the time of the chain */
};

struct chains {
	struct chain_wait *waits;	/* sorted: by thread and time */
	size_t nr_waits, alloc_waits;
	struct chain_step *steps;	/* parents first; [0] is none, [1] the end of what is too much */
	size_t nr_steps, alloc_steps;
	uint32_t *ends;			/* steps that are: most time first, those that had not ended last */
	size_t nr_ends;
	/* how they are found */
	struct map step_of, of_thread;
	uint64_t nr_left;		/* steps that chains may still take */
};

void chains_add(struct chains *c, const struct chain_wait *w);
void chains_sort(struct chains *c);
/* Makes steps and ends, of waits that are sorted. */
void chains_make(struct chains *c);
void chains_release(struct chains *c);

#endif
