// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include "preload/waiting.h"

enum { BEING_WRITTEN = 1 };

struct waiting_table *waiting_table;

void waiting_init(void)
{
	struct waiting_table *t = sys_pages(sizeof(*t));

	if (t && !sys(__NR_madvise, t, sizeof(*t), MADV_WIPEONFORK))
		store_release(&waiting_table, t);
}

struct waiting *waiting_begin(const void *lock, uint64_t now_ns)
{
	struct waiting_table *t = waiting_table;
	uint32_t hash = waiting_hash(lock), i;
	struct waiting *w;

	if (!t)
		return NULL;
	for (i = 0; i < WAITING_MOST; i++) {
		uint64_t none = 0;

		w = &t->slots[hash + i];
		if (load_relaxed(&w->lock) ||
		    !__atomic_compare_exchange_n(&w->lock, &none, BEING_WRITTEN, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		store_relaxed(&w->blamed_ns, 0);
		store_relaxed(&w->since_ns, now_ns);
		store_release(&w->lock, (uintptr_t)lock);
		__atomic_fetch_add(&t->nr[hash], 1, __ATOMIC_RELEASE);
		return w;
	}
	return NULL;
}

uint64_t waiting_end(struct waiting *w)
{
	uint64_t blamed;

	/* a child of fork() has it no more */
	if (!w || load_relaxed(&w->lock) <= BEING_WRITTEN)
		return 0;
	__atomic_fetch_sub(&waiting_table->nr[waiting_hash((void *)(uintptr_t)w->lock)], 1, __ATOMIC_RELAXED);
	store_relaxed(&w->since_ns, 0);
	blamed = load_acquire(&w->blamed_ns);
	store_release(&w->lock, 0);
	return blamed;
}

uint64_t waiting_take(const void *lock, uint64_t now_ns)
{
	uint32_t hash = waiting_hash(lock), nr = load_acquire(&waiting_table->nr[hash]);
	struct waiting *w = &waiting_table->slots[hash], *end = w + WAITING_MOST;
	uint64_t sum = 0, since;

	for (; w < end && nr; w++) {
		if (load_acquire(&w->lock) != (uintptr_t)lock)
			continue;
		nr--;
		since = load_relaxed(&w->since_ns);
		/* a new wait in its place has begun at another time */
		if (!since || since >= now_ns ||
		    !__atomic_compare_exchange_n(&w->since_ns, &since, now_ns, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
			continue;
		sum += now_ns - since;
		__atomic_fetch_add(&w->blamed_ns, now_ns - since, __ATOMIC_RELEASE);
	}
	return sum;
}
