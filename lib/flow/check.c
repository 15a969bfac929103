// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - the invariants of the tree and of the xarc rows made from it.  Each is computed
 * again here from its definition, not with the code it checks.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "flow/arcs.h"
#include "flow/check.h"

enum {
	SHAPE_ORDER, SHAPE_LINKS, SHAPE_DISTINCT, SHAPE_LEVELS, SUM_CUM, SUM_TOTAL, SUM_N,
	PARENT_N, PARENT_BASE, PARENT_CUM, CHILD_CUM, RPARENT_N, RPARENT_BASE, RPARENT_CUM, RCHILD_CUM,
};

static const char *const names[FLOW_NR_CHECKS] = {
	[SHAPE_ORDER] = "parent before child",
	[SHAPE_LINKS] = "each node once in its parent's list",
	[SHAPE_DISTINCT] = "children of a node distinct",
	[SHAPE_LEVELS] = "RL = nodes of the path with that consumer",
	[SUM_CUM] = "cum = base + Sum(Child(Cum)) in the tree",
	[SUM_TOTAL] = "Sum(Base) over xarc's Self and rSelf = Total",
	[SUM_N] = "Sum(Calls) over xarc's Self and rSelf = Total",
	[PARENT_N] = "Sum(Parent(Calls)) = Self(Calls)",
	[PARENT_BASE] = "Sum(Parent(Base)) = Self(Base)",
	[PARENT_CUM] = "Sum(Parent(Cum)) = Self(Cum)",
	[CHILD_CUM] = "Sum(Child(Cum)) = Self(Cum) - Self(Base)",
	[RPARENT_N] = "Sum(rParent(Calls)) = rSelf(Calls)",
	[RPARENT_BASE] = "Sum(rParent(Base)) = rSelf(Base)",
	[RPARENT_CUM] = "Sum(rParent(Cum)) = rSelf(Cum)",
	[RCHILD_CUM] = "Sum(rChild(Cum)) = rSelf(Cum) - rSelf(Base)",
};

static void expect(struct flow_check *c, bool ok, uint32_t where)
{
	c->nr_checked++;
	if (!ok && !c->nr_bad++)
		c->first_bad = where;
}

static void check_links(const struct flow *f, struct flow_check *c)
{
	uint8_t *seen = xcalloc(f->nr_nodes, 1);
	size_t i;

	/* A node is seen at most once, or the lists have a circle. */
	for (i = 0; i < f->nr_nodes; i++) {
		uint32_t k;

		for (k = f->nodes[i].child; k && k < f->nr_nodes && seen[k] < 2; k = f->nodes[k].sibling) {
			seen[k]++;
			if (f->nodes[k].parent != i)
				seen[k] = 2;
		}
	}
	for (i = 1; i < f->nr_nodes; i++)
		expect(c, seen[i] == 1, i);
	free(seen);
}

static void check_distinct(const struct flow *f, struct flow_check *c)
{
	struct map m = MAP_INIT;
	uint32_t *at;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		at = map_put(&m, (uint64_t)f->nodes[i].parent << 32 | f->nodes[i].consumer);
		expect(c, *at == MAP_NONE, i);
		*at = i;
	}
	map_release(&m);
}

/*
 * Check that the nearest node above with the same consumer has a level one lower. Walking up to it would cost
 * the depth, so the open node of each consumer is kept along a preorder walk.
 */
static void check_levels(const struct flow *f, struct flow_check *c)
{
	uint32_t *open = xcalloc(flow_nr_consumers(f), sizeof(*open));
	uint32_t *before = xcalloc(f->nr_nodes, sizeof(*before));
	uint32_t i = FLOW_NONE, next;

	for (;;) {
		next = f->nodes[i].child;
		while (!next && i) {
			open[f->nodes[i].consumer] = before[i];
			next = f->nodes[i].sibling;
			i = f->nodes[i].parent;
		}
		if (!next)
			break;
		i = next;
		before[i] = open[f->nodes[i].consumer];
		open[f->nodes[i].consumer] = i;
		expect(c, f->rl[i] == (before[i] ? f->rl[before[i]] + 1 : 1), i);
	}
	free(open);
	free(before);
}

static void check_cums(const struct flow *f, struct flow_check *c)
{
	unsigned int m;
	uint32_t k;
	size_t i;

	for (i = 0; i < f->nr_nodes; i++)
		for (m = 0; m < f->nr_metrics; m++) {
			uint64_t sum = flow_base(f, i)[m];

			for (k = f->nodes[i].child; k; k = f->nodes[k].sibling)
				flow_sum(&sum, flow_cum(f, k)[m]);
			expect(c, sum == flow_cum(f, i)[m], i);
		}
}

static bool check_same(const uint64_t *a, const uint64_t *b, unsigned int nr)
{
	return !memcmp(a, b, nr * sizeof(*a));
}

struct sums {
	uint64_t n, base[FLOW_MAX_METRICS], cum[FLOW_MAX_METRICS];
};

static void check_add(struct sums *to, const struct arc_sums *s, unsigned int nr)
{
	unsigned int m;

	flow_sum(&to->n, s->n);
	for (m = 0; m < nr; m++) {
		flow_sum(&to->base[m], s->base[m]);
		flow_sum(&to->cum[m], s->cum[m]);
	}
}

static void check_side(const struct arc_stanza *s, bool r, unsigned int nr, struct flow_check *c)
{
	const struct arc_sums *self = r ? &s->rself : &s->self;
	int up = r ? ARC_RPARENTS : ARC_PARENTS, down = r ? ARC_RCHILDREN : ARC_CHILDREN;
	struct sums parents = { 0 }, children = { 0 };
	uint64_t rest[FLOW_MAX_METRICS];
	unsigned int m;
	uint32_t i;

	for (i = 0; i < s->nr_rows[up]; i++)
		check_add(&parents, &s->rows[up][i].sums, nr);
	for (i = 0; i < s->nr_rows[down]; i++)
		check_add(&children, &s->rows[down][i].sums, nr);
	for (m = 0; m < nr; m++)
		rest[m] = self->cum[m] == UINT64_MAX ? children.cum[m] :	/* a sum that stopped */
						       self->cum[m] - self->base[m];
	c += r ? RPARENT_N : PARENT_N;
	if (s->nr_rows[up]) {	/* a consumer that is only ever a root has none */
		expect(&c[0], parents.n == self->n, s->consumer);
		expect(&c[1], check_same(parents.base, self->base, nr), s->consumer);
		expect(&c[2], check_same(parents.cum, self->cum, nr), s->consumer);
	}
	expect(&c[3], check_same(children.cum, rest, nr), s->consumer);
}

static void check_arcs(const struct flow *f, struct flow_check *c)
{
	uint64_t total[FLOW_MAX_METRICS], n = flow_totals(f, total);
	struct sums all = { 0 };
	struct arcs a;
	size_t i;

	arcs_init(&a, f);
	for (i = 0; i < a.nr_stanzas; i++) {
		check_add(&all, &a.stanzas[i].self, f->nr_metrics);
		check_add(&all, &a.stanzas[i].rself, f->nr_metrics);
		check_side(&a.stanzas[i], false, f->nr_metrics, c);
		if (a.stanzas[i].nr_rself)
			check_side(&a.stanzas[i], true, f->nr_metrics, c);
	}
	expect(&c[SUM_TOTAL],
	       check_same(all.base, total, f->nr_metrics) && check_same(total, flow_cum(f, 0), f->nr_metrics),
	       0);
	expect(&c[SUM_N], all.n == n, 0);
	arcs_release(&a);
}

unsigned int flow_check(const struct flow *f, struct flow_check *c)
{
	unsigned int nr_bad = 0;
	size_t i;

	memset(c, 0, FLOW_NR_CHECKS * sizeof(*c));
	for (i = 0; i < FLOW_NR_CHECKS; i++)
		c[i].what = names[i];
	for (i = 1; i < f->nr_nodes; i++)
		expect(&c[SHAPE_ORDER], f->nodes[i].parent < i, i);
	check_links(f, &c[SHAPE_LINKS]);
	check_distinct(f, &c[SHAPE_DISTINCT]);
	if (!c[SHAPE_ORDER].nr_bad && !c[SHAPE_LINKS].nr_bad) {
		check_levels(f, &c[SHAPE_LEVELS]);
		check_cums(f, &c[SUM_CUM]);
		check_arcs(f, c);
	}
	for (i = 0; i < FLOW_NR_CHECKS; i++)
		nr_bad += c[i].nr_bad != 0;
	return nr_bad;
}
