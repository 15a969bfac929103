// SPDX-License-Identifier: GPL-2.0-or-later
/* cost.c - computes what counting a call costs from loops with and without hooks (cost.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "calibrate/cost.h"

static int compare(const void *p, const void *q)
{
	int64_t a = *(const int64_t *)p, b = *(const int64_t *)q;

	return a < b ? -1 : a > b;
}

int64_t calibration_median(int64_t *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return values[(nr - 1) / 2];
}

int64_t calibration_middle(int64_t *values, size_t nr)
{
	size_t from = nr / 4, to = nr - nr / 4, i;
	int64_t sum = 0;

	qsort(values, nr, sizeof(*values), compare);
	for (i = from; i < to; i++)
		sum += values[i];
	return sum * 1000 / (int64_t)(to - from);
}

/* What one turn says: the cost of calls of a loop, in the metric's unit for all of them. */
typedef int64_t figure(const struct calibration_turn *t);

static int64_t with_hooks(const struct calibration_turn *t, enum calibration_loop plain)
{
	return t->of[plain + 1].both - t->of[plain].both;
}

/* Return how long the work inside the functions of that loop takes. */
static int64_t body(const struct calibration_turn *t, enum calibration_loop plain)
{
	return t->of[plain].both - t->of[LOOP_PLAIN_EMPTY].both;
}

static int64_t empty_both(const struct calibration_turn *t)
{
	return with_hooks(t, LOOP_PLAIN_EMPTY);
}

static int64_t empty_site(const struct calibration_turn *t)
{
	return t->of[LOOP_EMPTY].site;
}

static int64_t empty_within(const struct calibration_turn *t)
{
	return t->of[LOOP_EMPTY].within;
}

static int64_t chain_both(const struct calibration_turn *t)
{
	return with_hooks(t, LOOP_PLAIN_CHAIN);
}

static int64_t chain_site(const struct calibration_turn *t)
{
	return t->of[LOOP_CHAIN].site;
}

static int64_t chain_within(const struct calibration_turn *t)
{
	return t->of[LOOP_CHAIN].within - body(t, LOOP_PLAIN_CHAIN);
}

static int64_t stores_both(const struct calibration_turn *t)
{
	return with_hooks(t, LOOP_PLAIN_STORES);
}

static int64_t stores_site(const struct calibration_turn *t)
{
	return t->of[LOOP_STORES].site;
}

static int64_t stores_within(const struct calibration_turn *t)
{
	return t->of[LOOP_STORES].within - body(t, LOOP_PLAIN_STORES);
}

static int64_t long_within(const struct calibration_turn *t)
{
	return t->of[LOOP_LONG].within - body(t, LOOP_PLAIN_LONG);
}

static int64_t caller_between(const struct calibration_turn *t)
{
	return with_hooks(t, LOOP_PLAIN_CALLER) - t->of[LOOP_CALLER].within - t->of[LOOP_CALLER].site;
}

struct turns {
	const struct calibration_turn *items;
	size_t nr;
	uint32_t calls;
	int64_t *values;		/* room for as many */
};

/* Return the median, in thousandths per call. */
static int64_t median_of(const struct turns *t, figure *f)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		t->values[i] = f(&t->items[i]);
	return calibration_median(t->values, t->nr) * 1000 / t->calls;
}

/*
 * Split the cost between callee and caller, which is uncertain where a processor still does the callee's work
 * when the caller's time has begun: what both have together is kept.
 */
static struct calibration_cost split(const struct turns *t, figure *of_both, figure *of_within,
				     figure *of_site)
{
	int64_t both = MAX(median_of(t, of_both), (int64_t)0);
	int64_t within = MIN(MAX(median_of(t, of_within), (int64_t)0), both);
	int64_t site = MIN(MAX(median_of(t, of_site), (int64_t)0), both - within);

	return (struct calibration_cost){ .within = within, .between = both - within - site, .site = site };
}

static uint64_t total(const struct calibration_cost *c)
{
	return c->within + c->between + c->site;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Choose the body whose calls cost less: that is the least that hooks cost. A call may keep the
 * difference to any other body, and lack the part of a chain that was not done when its exit was read; in a
 * call as long as the doubt, that is five percent.
 */
static struct calibration_cost usual_cost(const struct turns *t)
{
	int64_t within = median_of(t, chain_within);
	int64_t missing = MAX(MAX(-within, -median_of(t, long_within)), (int64_t)0);
	struct calibration_cost a = split(t, empty_both, empty_within, empty_site);
	struct calibration_cost b = split(t, chain_both, chain_within, chain_site);
	struct calibration_cost stores = split(t, stores_both, stores_within, stores_site);
	struct calibration_cost out = total(&b) < total(&a) ? b : a;
	uint64_t differ = MAX(distance(total(&a), total(&b)), distance(total(&stores), total(&out)));

	out.doubt = 20 * MAX(differ, (uint64_t)missing);
	return out;
}

/*
 * With precise time, hooks overlap only with the work behind them. So the cost is that in a function that
 * has some, and in a caller that has. As long as both together, and twice by how much they disagree with an
 * empty one: no call that is as long keeps a part of it. But work that leaves no room for a hook keeps what
 * the hook costs more, however long it is; in a call as long as the doubt, that is five percent.
 */
static struct calibration_cost precise_cost(const struct turns *t)
{
	struct calibration_cost a = split(t, empty_both, empty_within, empty_site);
	struct calibration_cost out = {
		.within = MAX(median_of(t, chain_within), (int64_t)0),
		.between = MAX(median_of(t, caller_between), (int64_t)0),
		.site = MAX(median_of(t, chain_site), (int64_t)0),
	};
	uint64_t stores = MAX(median_of(t, stores_within), (int64_t)0);

	out.doubt = MAX(total(&out), 2 * MAX(distance(a.within, out.within),
					     distance(a.between, out.between)));
	out.doubt = MAX(out.doubt, 20 * distance(stores, out.within));
	return out;
}

void calibration_derive(const struct calibration_turn *turns, size_t nr, uint32_t calls, bool precise,
			struct calibration_cost *out)
{
	struct turns t = { turns, nr, calls, xmalloc(nr * sizeof(int64_t)) };

	*out = precise ? precise_cost(&t) : usual_cost(&t);
	free(t.values);
}

static int64_t thrown_both(const struct calibration_turn *t)
{
	return with_hooks(t, LOOP_PLAIN_THROWN);
}

void calibration_derive_thrown(const struct calibration_turn *turns, size_t nr, uint32_t calls,
			       struct calibration_cost *out)
{
	struct turns t = { turns, nr, calls, xmalloc(nr * sizeof(int64_t)) };
	int64_t both = MAX(median_of(&t, thrown_both), (int64_t)0);

	out->thrown = (uint64_t)both > total(out) ? (uint64_t)both - total(out) : 0;
	free(t.values);
}

static int compare_costs(const void *p, const void *q)
{
	uint64_t a = total(p), b = total(q);

	return a < b ? -1 : a > b;
}

/*
 * Return the cheapest run. The one in the middle says how far it can be relied on: a program's calls may
 * cost as much more, which in a call as long as the doubt is five percent.
 */
struct calibration_cost calibration_cheapest(struct calibration_cost *runs, size_t nr)
{
	struct calibration_cost out;
	uint64_t differ, size;

	qsort(runs, nr, sizeof(*runs), compare_costs);
	out = runs[0];
	differ = total(&runs[nr / 2]) - total(&out);
	size = MAX(total(&out), out.doubt / 20);
	out.spread = size ? differ * 1000 / size : differ ? CALIBRATION_UNCERTAIN + 1 : 0;
	out.doubt = MAX(out.doubt, 20 * differ);
	return out;
}
