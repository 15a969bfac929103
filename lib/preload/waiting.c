// SPDX-License-Identifier: MIT
/* waiting.c - the table of open waits for locks (waiting.h). */
#include "preload/waiting.h"

static struct waiting nowhere;		/* of waits that found no slot */

static bool has_owner(uint32_t kind)
{
	return kind != JVM_WAIT_CONDITION;
}

static struct waiting *claim(struct waiting_table *t, uint32_t hash)
{
	uint32_t i;

	for (i = hash; i < hash + WAITING_MOST; i++) {
		uint64_t none = WAITING_FREE;

		if (load_relaxed(&t->slots[i].lock) ||
		    !__atomic_compare_exchange_n(&t->slots[i].lock, &none, WAITING_WRITTEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		if (!load_relaxed(&t->used[i / WAITING_BLOCK]))
			store_relaxed(&t->used[i / WAITING_BLOCK], 1);
		return &t->slots[i];
	}
	return NULL;
}

struct waiting *waiting_begin(const void *lock, const struct waiting *w)
{
	struct waiting_table *t = waiting_table();
	struct waiting *at;
	uint32_t tid;

	if (!t)
		return NULL;
	tid = sys_tid();
	at = claim(t, waiting_hash((uintptr_t)lock + (has_owner(w->kind) ? 0 : tid)));
	if (!at) {
		__atomic_fetch_add(&t->nr_elsewhere, 1, __ATOMIC_RELAXED);
		return &nowhere;
	}
	at->began_ns = w->began_ns;
	at->tid = tid;
	at->owner = w->owner;
	at->kind = w->kind;
	at->regs = w->regs;
	store_relaxed(&at->blamed_ns, 0);
	store_relaxed(&at->since_ns, w->began_ns);
	store_release(&at->lock, (uintptr_t)lock);
	if (has_owner(w->kind))
		__atomic_fetch_add(&t->nr[waiting_hash((uintptr_t)lock)], 1, __ATOMIC_RELEASE);
	return at;
}

/*
 * Return whether at is in the table: a child of fork(), whose thread was waiting in its parent, lacks what it
 * pointed to.
 */
static bool waiting_is_in(const struct waiting_table *t, const struct waiting *at)
{
	return t && at >= t->slots && at < t->slots + WAITING_SLOTS && at->tid == (uint32_t)sys_tid();
}

bool waiting_end(struct waiting *at, const void *lock, uint64_t *blamed_ns)
{
	struct waiting_table *t = waiting_table();

	*blamed_ns = 0;
	if (at == &nowhere && t)
		__atomic_fetch_sub(&t->nr_elsewhere, 1, __ATOMIC_RELAXED);
	if (!waiting_is_in(t, at))
		return true;
	if (has_owner(at->kind))
		__atomic_fetch_sub(&t->nr[waiting_hash((uintptr_t)lock)], 1, __ATOMIC_RELAXED);
	store_relaxed(&at->since_ns, 0);
	*blamed_ns = load_acquire(&at->blamed_ns);
	return __atomic_exchange_n(&at->lock, WAITING_FREE, __ATOMIC_ACQ_REL) != WAITING_TOLD;
}

uint64_t waiting_take(const void *lock, uint64_t now_ns, uint32_t *nr_taken)
{
	struct waiting_table *t = waiting_table();
	uint32_t hash = waiting_hash((uintptr_t)lock), nr = t ? load_acquire(&t->nr[hash]) : 0;
	struct waiting *w, *end;
	uint64_t sum = 0, since;

	*nr_taken = 0;
	if (!nr)
		return 0;
	for (w = &t->slots[hash], end = w + WAITING_MOST; w < end && nr; w++) {
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
		++*nr_taken;
		__atomic_fetch_add(&w->blamed_ns, now_ns - since, __ATOMIC_RELEASE);
	}
	return sum;
}
