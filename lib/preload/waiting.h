/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - who waits for which lock (jvm/waiting.h), for the one that gives it back: it is charged with
 * what others have waited since the lock was given back before, or since they began. So each moment of a
 * wait is charged once, to the owner of that time. Also for the recorder, which reports waits that go on at
 * its end.
 *
 * How many waits for locks have a hash stands apart, so that one load says of most locks that nobody waits.
 * Where there is no room, nobody is charged with the wait. A condition is nobody's: its hash differs for
 * each thread that waits for it.
 *
 * Only the one that has a lock looks for who waits for it; readers that share one may do so at once. A wait
 * that ends by itself meanwhile, as its time is over, may be charged with a piece too much or too little: the
 * recorder charges no more than was waited.
 */
#ifndef PRELOAD_WAITING_H
#define PRELOAD_WAITING_H

#include "agent/sys.h"
#include "jvm/waiting.h"
#include "preload/sampler.h"

/* Return the table; NULL: there is no recorder. A child of fork() has a table of its own, or none. */
static inline struct waiting_table *waiting_table(void)
{
	struct sampler_state *s = load_relaxed(&sampler_state);
	struct memory_table *t = s ? load_acquire(&s->table) : NULL;

	return t ? (struct waiting_table *)t - 1 : NULL;
}

static inline uint32_t waiting_hash(uint64_t of)
{
	return mix64(of) % WAITING_HASHES;
}

static inline bool waiting_for(const void *lock)
{
	struct waiting_table *t = waiting_table();

	return t && load_relaxed(&t->nr[waiting_hash((uintptr_t)lock)]);
}

/*
 * What is in w but lock, since_ns, blamed_ns and tid is given. Returns where it lies now; NULL: nowhere. What
 * the recorder found there, it has told, for which waiting_end() returns false: nothing more is to be said.
 * *blamed_ns is how much of it others are charged with.
 */
struct waiting *waiting_begin(const void *lock, const struct waiting *w);
bool waiting_end(struct waiting *at, const void *lock, uint64_t *blamed_ns);
/* Return how long others, *nr of them, have waited for the lock without a charge: the caller is charged. */
uint64_t waiting_take(const void *lock, uint64_t now_ns, uint32_t *nr);

#endif
