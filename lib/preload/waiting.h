/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - who waits for which lock, for the one that gives it back: it is charged with what others have
 * waited since the lock was given back before, or since they began. So each moment of a wait is charged once,
 * to who had the lock then.
 *
 * A wait lies in one of the MOST slots after the hash of its lock. How many waits have that hash stands
 * apart, so that one load says of most locks that nobody waits. Where there is no room, nobody is charged
 * with the wait.
 *
 * Only the one that has a lock looks for who waits for it; readers that share one may do so at once. A wait
 * that ends by itself meanwhile, as its time is over, may be charged with a piece too much or too little: the
 * recorder charges no more than was waited.
 */
#ifndef PRELOAD_WAITING_H
#define PRELOAD_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"
#include "base/mix.h"

enum { WAITING_HASHES = 1 << 12, WAITING_MOST = 512 };

struct waiting {
	uint64_t lock;			/* its address; 0: free, 1: about to be written */
	uint64_t since_ns;		/* from when on nobody was charged; 0: it is over */
	uint64_t blamed_ns;		/* what was before */
};

struct waiting_table {
	uint16_t nr[WAITING_HASHES];
	struct waiting slots[WAITING_HASHES + WAITING_MOST];
};
extern struct waiting_table *waiting_table;	/* NULL: none; a child of fork() finds it empty */

static inline uint32_t waiting_hash(const void *lock)
{
	return mix64((uintptr_t)lock) % WAITING_HASHES;
}

static inline bool waiting_for(const void *lock)
{
	return waiting_table && load_relaxed(&waiting_table->nr[waiting_hash(lock)]);
}

void waiting_init(void);
/* NULL: there is no room. */
struct waiting *waiting_begin(const void *lock, uint64_t now_ns);
/* How much of it others are charged with. */
uint64_t waiting_end(struct waiting *w);
/* How long others have waited for it that nobody was charged with: the caller is. */
uint64_t waiting_take(const void *lock, uint64_t now_ns);

#endif
