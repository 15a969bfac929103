// SPDX-License-Identifier: MIT
/* share.c - decides which waits get a stack, and what each stack stands for (share.h). */
#include <stdbool.h>

#include "agent/locks/share.h"
#include "agent/sys.h"
#include "base/mix.h"

/* Count a stack in the current window; return false if the window is full. */
static bool has_room(struct shares *s, uint64_t now_ns)
{
	uint64_t window = now_ns / SHARE_WINDOW_NS;

	if (load_relaxed(&s->window) != window) {
		store_relaxed(&s->window, window);
		store_relaxed(&s->nr, 0);
	}
	return __atomic_fetch_add(&s->nr, 1, __ATOMIC_RELAXED) < SHARE_STACKS_A_WINDOW;
}

/* Return 1 to most, by SplitMix64: Steele et al., "Fast splittable pseudorandom number generators" (2014). */
static uint64_t up_to(struct shares *s, uint64_t most, uint64_t now_ns)
{
	uint64_t z = __atomic_add_fetch(&s->random, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED) + now_ns;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return 1 + (z ^ z >> 31) % most;
}

static uint64_t weigh_wait(struct shares *s, struct share *x, uint64_t interval_ns, uint64_t now_ns)
{
	enum { FAR = 64 };
	uint64_t last, weight;

	/* also when the interval has become shorter */
	if (x->point_ns > x->ns + 2 * interval_ns)
		x->point_ns = x->ns + up_to(s, 2 * interval_ns, now_ns);
	if (x->point_ns > x->ns || !has_room(s, now_ns))
		return 0;
	if (x->ns - x->point_ns > FAR * interval_ns)	/* there was no room for long */
		x->point_ns = x->ns;
	do {
		last = x->point_ns;
		x->point_ns += up_to(s, 2 * interval_ns, now_ns);
	} while (x->point_ns <= x->ns);
	weight = last - x->told_ns;
	x->told_ns = last;
	return weight;
}

uint64_t share_of(struct shares *s, uint64_t key, uint64_t ns, uint64_t interval_ns, uint64_t now_ns)
{
	struct share *x = &s->all[mix64(key) % SHARES];
	uint64_t weight, a, b;

	if (ns >= interval_ns)
		return has_room(s, now_ns) ? ns : 0;
	if (__atomic_exchange_n(&x->busy, 1, __ATOMIC_ACQUIRE))
		return 0;
	if (x->key != key) {
		a = up_to(s, 2 * interval_ns, now_ns);
		b = up_to(s, 2 * interval_ns, now_ns);
		*x = (struct share){ .key = key, .point_ns = a < b ? a : b, .busy = 1 };
	}
	x->ns += ns;
	weight = weigh_wait(s, x, interval_ns, now_ns);
	store_release(&x->busy, 0);
	return weight;
}
