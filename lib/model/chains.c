// SPDX-License-Identifier: GPL-2.0-or-later
/* chains.c - follows waits from thread to thread (chains.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "model/chains.h"
#include "trace/record.h"

/*
 * Limits on the steps that are followed in all, and on the different ones that are kept; then chains are
 * cut.
 */
enum { MAX_FOLLOWED = 50000000, MAX_STEPS = 1 << 20, OTHERS = 1 };

void chains_add(struct chains *c, const struct chain_wait *w)
{
	*VEC_ADD(c->waits, c->nr_waits, c->alloc_waits) = *w;
}

/* Return the step, beyond MAX_STEPS that of all others, which ends a chain. */
static uint32_t chains_step(struct chains *c, struct chain_step s)
{
	uint64_t key = hash_pair((uint64_t)s.parent << 32 | s.thread,
				 (uint64_t)s.kind << 40 | (uint64_t)s.cut << 32 | s.what);
	uint32_t *at;

	if (c->nr_steps >= MAX_STEPS && map_get(&c->step_of, key) == MAP_NONE)
		return OTHERS;
	at = map_put(&c->step_of, key);
	if (*at == MAP_NONE) {
		VEC_GROW(c->steps, c->nr_steps, c->alloc_steps);
		*at = c->nr_steps;
		c->steps[c->nr_steps++] = s;
	}
	return *at;
}

static void end_chain(struct chains *c, uint32_t parent, uint32_t kind, uint32_t thread, bool cut,
		      uint64_t ns)
{
	uint32_t at = ns ? chains_step(c, (struct chain_step){ parent, thread, 0, kind, cut, 0 }) : 0;

	if (ns)
		c->steps[at].ns += ns;
}

static bool is_in_chain(const struct chains *c, uint32_t at, uint32_t thread)
{
	for (; at; at = c->steps[at].parent)
		if (c->steps[at].thread == thread)
			return true;
	return false;
}

static unsigned int chains_depth_of(const struct chains *c, uint32_t at)
{
	unsigned int depth = 0;

	for (; at; at = c->steps[at].parent)
		depth++;
	return depth;
}

/* Return the first wait of that thread that ends after from_ns; waits[nr_waits]: there is none. */
static size_t find_wait(const struct chains *c, uint32_t thread, uint64_t from_ns)
{
	uint32_t first = map_get(&c->of_thread, thread);
	const struct chain_wait *w;

	if (first == MAP_NONE)
		return c->nr_waits;
	w = &c->waits[first];
	return first + BISECT(i, c->nr_waits - first, w[i].thread == thread && w[i].to_ns <= from_ns);
}

static bool wait_is_short(const struct chain_wait *w)
{
	return w->weight > w->to_ns - w->from_ns;
}

static uint64_t chains_part_of(uint64_t ns, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)ns * part / whole);
}

static void chains_follow(struct chains *c, uint32_t parent, const struct chain_wait *w, uint64_t from_ns,
			  uint64_t to_ns, uint64_t ns);

/* Follow the thread that ended a wait which was seen at that moment and weighs ns: what was it doing then? */
static void follow_moment(struct chains *c, uint32_t at, uint32_t by, uint64_t seen_ns, uint64_t ns)
{
	size_t i = find_wait(c, by, seen_ns);
	const struct chain_wait *b = &c->waits[i];

	if (i < c->nr_waits && b->thread == by && b->from_ns <= seen_ns)
		chains_follow(c, at, b, seen_ns, seen_ns, ns);
	else
		end_chain(c, at, WAKE_THREAD, by, false, ns);
}

/* Follow the thread that ended a wait which lasted from from_ns to to_ns. */
static void follow_stretch(struct chains *c, uint32_t at, uint32_t by, uint64_t from_ns, uint64_t to_ns,
			   uint64_t ns)
{
	uint64_t left = ns, part;
	size_t i;

	for (i = find_wait(c, by, from_ns); i < c->nr_waits && c->nr_left; i++) {
		const struct chain_wait *b = &c->waits[i];
		uint64_t first = MAX(b->from_ns, from_ns), last = MIN(b->to_ns, to_ns);

		if (b->thread != by || b->from_ns >= to_ns)
			break;
		c->nr_left--;
		if (!wait_is_short(b)) {
			part = MIN(chains_part_of(ns, last - first, to_ns - from_ns), left);
			chains_follow(c, at, b, first, last, part);
		} else if (b->seen_ns >= from_ns && b->seen_ns < to_ns) {
			part = MIN(chains_part_of(ns, MIN(b->weight, to_ns - from_ns), to_ns - from_ns),
				   left);
			chains_follow(c, at, b, b->seen_ns, b->seen_ns, part);
		} else {
			continue;
		}
		left -= part;
	}
	end_chain(c, at, WAKE_THREAD, by, false, left);
}

static void chains_follow(struct chains *c, uint32_t parent, const struct chain_wait *w, uint64_t from_ns,
			  uint64_t to_ns, uint64_t ns)
{
	uint32_t at;

	if (!ns)
		return;
	at = chains_step(c, (struct chain_step){ parent, w->thread, w->what, 0, false, 0 });
	if (at == OTHERS)
		c->steps[at].ns += ns;
	else if (w->kind != WAKE_THREAD)
		end_chain(c, at, w->kind, 0, false, ns);
	else if (is_in_chain(c, at, w->by) || chains_depth_of(c, at) >= CHAINS_MAX_DEPTH || !c->nr_left)
		end_chain(c, at, WAKE_THREAD, w->by, true, ns);
	else if (w->from_ns == w->to_ns)	/* its length is not known */
		end_chain(c, at, WAKE_THREAD, w->by, false, ns);
	else if (from_ns == to_ns)
		follow_moment(c, at, w->by, from_ns, ns);
	else
		follow_stretch(c, at, w->by, from_ns, to_ns, ns);
}

static int waits_by_time(const void *p, const void *q)
{
	const struct chain_wait *a = p, *b = q;

	return COMPARE(a->thread, b->thread) ?: COMPARE(a->to_ns, b->to_ns) ?:
	       COMPARE(a->from_ns, b->from_ns);
}

static int by_chain_ns(const void *p, const void *q, void *ctx)
{
	const struct chains *c = ctx;
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
	bool a_open = c->steps[a].kind == WAKE_NOT_ENDED, b_open = c->steps[b].kind == WAKE_NOT_ENDED;

	if (a_open != b_open)
		return a_open ? 1 : -1;
	return COMPARE(c->steps[b].ns, c->steps[a].ns) ?: COMPARE(a, b);
}

void chains_sort(struct chains *c)
{
	uint32_t *first;
	size_t i;

	if (c->nr_waits)
		qsort(c->waits, c->nr_waits, sizeof(*c->waits), waits_by_time);
	for (i = 0; i < c->nr_waits; i++) {
		first = map_put(&c->of_thread, c->waits[i].thread);
		if (*first == MAP_NONE)
			*first = i;
	}
}

void chains_make(struct chains *c)
{
	size_t i;

	c->nr_left = MAX_FOLLOWED;
	while (c->nr_steps <= OTHERS)
		*VEC_ADD(c->steps, c->nr_steps, c->alloc_steps) = (struct chain_step){ .cut = true };
	for (i = 0; i < c->nr_waits; i++) {
		const struct chain_wait *w = &c->waits[i];

		if (w->part_ns && wait_is_short(w))
			chains_follow(c, 0, w, w->seen_ns, w->seen_ns, w->part_ns);
		else if (w->part_ns)
			chains_follow(c, 0, w, w->part_from_ns, w->part_to_ns, w->part_ns);
	}
	c->ends = xcalloc(c->nr_steps, sizeof(*c->ends));
	for (i = 0; i < c->nr_steps; i++)
		if (c->steps[i].ns)
			c->ends[c->nr_ends++] = i;
	qsort_r(c->ends, c->nr_ends, sizeof(*c->ends), by_chain_ns, c);
}

void chains_release(struct chains *c)
{
	map_release(&c->step_of);
	map_release(&c->of_thread);
	free(c->steps);
	free(c->ends);
	free(c->waits);
}
