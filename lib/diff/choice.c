// SPDX-License-Identifier: GPL-2.0-or-later
/* choice.c - selects and orders the rows that are shown (choice.h). */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "diff/choice.h"

size_t choice_nr_changed(const struct diff_rows *x)
{
	size_t i, nr = 0;

	for (i = 0; i < x->nr; i++)
		nr += x->list[i].changed && (x->by != DIFF_BY_ARC || x->list[i].kind == DIFF_SELF);
	return nr;
}

double choice_change(const struct diff_row *row)
{
	return row->value[DIFF_A] > 0 ? row->delta / row->value[DIFF_A] : row->delta > 0 ? INFINITY : 0;
}

double choice_compiled(const struct diff_row *row)
{
	double change = choice_change(row);

	/* what is new or gone has no other code to be compared with */
	if (!row->changed || !row->of_last_tier || !isfinite(change) || change <= -1 ||
	    (change >= row->low && change <= row->high))
		return NAN;
	return sqrt((1 + row->low) * (1 + row->high)) - 1;
}

/* ---- order ---- */

static double key_of(const struct diff_row *row, int sort)
{
	switch (sort) {
	case CHOICE_BY_CHANGE:
		return fabs(choice_change(row));
	case CHOICE_BY_A:
		return row->value[DIFF_A];
	case CHOICE_BY_B:
		return row->value[DIFF_B];
	case CHOICE_BY_DELTA:
		return fabs(row->delta);
	}
	return 0;
}

struct order {
	const struct diff *d;
	int sort;
};

static int compare_rows(const void *p, const void *q, void *ctx)
{
	const struct diff_row *a = *(const struct diff_row *const *)p;
	const struct diff_row *b = *(const struct diff_row *const *)q;
	const struct order *o = ctx;
	double x = key_of(a, o->sort), y = key_of(b, o->sort);
	const struct consumers *c = &o->d->m.consumers;
	int r;

	if (x != y)
		return x > y ? -1 : 1;
	if (o->sort != CHOICE_BY_NAME && a->value[DIFF_B] != b->value[DIFF_B])
		return a->value[DIFF_B] > b->value[DIFF_B] ? -1 : 1;
	if ((r = strcmp(consumer_name(c, a->consumer), consumer_name(c, b->consumer))))
		return r;
	return a->consumer < b->consumer ? -1 : a->consumer > b->consumer;
}

/* Functions in order. */
static void sort_functions(struct diff_rows *x, const struct order *o)
{
	struct diff_row **list = xcalloc(x->nr + 1, sizeof(*list));
	struct diff_row *sorted = xcalloc(x->nr + 1, sizeof(*sorted));
	size_t i;

	for (i = 0; i < x->nr; i++)
		list[i] = &x->list[i];
	qsort_r(list, x->nr, sizeof(*list), compare_rows, (void *)o);
	for (i = 0; i < x->nr; i++)
		sorted[i] = *list[i];
	free(list);
	free(x->list);
	x->list = sorted;
}

/* Sort children, each followed by its subtree. */
static void sort_contexts(struct diff_rows *x, const struct order *o)
{
	const struct flow *f = &x->d->m.flow;
	struct diff_row **list = xcalloc(x->nr + 1, sizeof(*list));
	struct diff_row *sorted = xcalloc(x->nr + 1, sizeof(*sorted)), *by_node = x->list;
	uint32_t *first = xcalloc(f->nr_nodes, sizeof(*first)), *next = xcalloc(f->nr_nodes, sizeof(*next));
	uint32_t node;
	size_t i, nr = 0;

	/* contexts have the numbers of their nodes, less one */
	for (i = 0; i < x->nr; i++)
		list[i] = &x->list[i];
	qsort_r(list, x->nr, sizeof(*list), compare_rows, (void *)o);
	for (i = x->nr; i-- > 0;) {
		node = list[i]->node;
		next[node] = first[f->nodes[node].parent];
		first[f->nodes[node].parent] = node;
	}
	for (node = first[0]; node;) {
		sorted[nr++] = by_node[node - 1];
		if (first[node]) {
			node = first[node];
			continue;
		}
		while (node && !next[node])
			node = f->nodes[node].parent;
		node = next[node];
	}
	free(list);
	free(first);
	free(next);
	free(x->list);
	x->list = sorted;
}

/* Stanzas by their self; parents before self with the largest next to it, children behind. */
struct stanza_order {
	struct order o;
	uint32_t *rank;			/* [consumer] */
};

static int compare_in_stanzas(const void *p, const void *q, void *ctx)
{
	const struct diff_row *a = p, *b = q;
	struct stanza_order *s = ctx;
	int r;

	if (a->consumer != b->consumer)
		return s->rank[a->consumer] < s->rank[b->consumer] ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	r = compare_rows(&a, &b, &s->o);
	if (!r)
		r = a->other < b->other ? -1 : a->other > b->other;
	return a->kind == DIFF_PARENT || a->kind == DIFF_RPARENT ? -r : r;
}

static void sort_stanzas(struct diff_rows *x, const struct order *o)
{
	struct diff_row **list = xcalloc(x->nr + 1, sizeof(*list));
	struct stanza_order s = { *o, xcalloc(x->d->m.consumers.nr_items, sizeof(*s.rank)) };
	size_t i, nr = 0;

	for (i = 0; i < x->nr; i++)
		if (x->list[i].kind == DIFF_SELF)
			list[nr++] = &x->list[i];
	qsort_r(list, nr, sizeof(*list), compare_rows, (void *)o);
	for (i = 0; i < nr; i++)
		s.rank[list[i]->consumer] = i + 1;
	qsort_r(x->list, x->nr, sizeof(*x->list), compare_in_stanzas, &s);
	free(list);
	free(s.rank);
}

static void sort(struct diff_rows *x, int by)
{
	const struct order o = { x->d, by };

	if (!x->nr)
		return;
	if (x->by == DIFF_BY_FUNCTION)
		sort_functions(x, &o);
	else if (x->by == DIFF_BY_CONTEXT)
		sort_contexts(x, &o);
	else
		sort_stanzas(x, &o);
}

/* ---- which are shown ---- */

static bool is_wanted_change(const struct choice_opts *o, const struct diff_row *row)
{
	if (o->direction != CHOICE_ANY && (row->delta > 0) != (o->direction == CHOICE_UP))
		return false;
	return fabs(choice_change(row)) >= o->at_least;
}

static bool wanted(const struct choice *p, const struct diff_row *row)
{
	if (p->o.significant || row->changed)
		return row->changed;
	return row->share * 100 >= p->o.min_share && row->share > 0;
}

static void show_contexts(struct choice *p)
{
	const struct flow *f = &p->x->d->m.flow;
	bool *keep = xcalloc(f->nr_nodes, sizeof(*keep));
	size_t i;

	for (i = 0; i < p->x->nr; i++)
		keep[p->x->list[i].node] = wanted(p, &p->x->list[i]);
	for (i = f->nr_nodes; --i > 0;)
		keep[f->nodes[i].parent] |= keep[i];
	for (i = 0; i < p->x->nr; i++)
		p->shown[i] = keep[p->x->list[i].node];
	free(keep);
}

/* A stanza is shown as a whole. */
static void show_stanzas(struct choice *p)
{
	bool *keep = xcalloc(p->x->d->m.consumers.nr_items, sizeof(*keep));
	size_t i;

	for (i = 0; i < p->x->nr; i++) {
		const struct diff_row *row = &p->x->list[i];

		if (row->kind == DIFF_SELF || row->kind == DIFF_RSELF)
			keep[row->consumer] |= wanted(p, row);
	}
	for (i = 0; i < p->x->nr; i++)
		p->shown[i] = keep[p->x->list[i].consumer];
	free(keep);
}

bool choice_begins(const struct choice *p, size_t i)
{
	return p->x->by != DIFF_BY_ARC || !i || p->x->list[i - 1].consumer != p->x->list[i].consumer;
}

void choice_init(struct choice *p, struct diff_rows *x, const struct choice_opts *o)
{
	size_t i, nr = 0;
	bool full = false;

	*p = (struct choice){ .x = x, .o = *o };
	for (i = 0; i < x->nr; i++)
		x->list[i].changed = x->list[i].changed && is_wanted_change(o, &x->list[i]);
	sort(x, o->sort);
	p->stanza_of = xcalloc(x->d->m.consumers.nr_items, sizeof(*p->stanza_of));
	p->shown = xcalloc(p->x->nr + 1, sizeof(*p->shown));
	if (p->x->by == DIFF_BY_CONTEXT)
		show_contexts(p);
	else if (p->x->by == DIFF_BY_ARC)
		show_stanzas(p);
	for (i = 0; i < p->x->nr; i++) {
		if (p->x->by == DIFF_BY_FUNCTION)
			p->shown[i] = wanted(p, &p->x->list[i]);
		if (choice_begins(p, i) && p->shown[i])
			full = p->o.limit && nr++ >= p->o.limit;
		p->shown[i] = p->shown[i] && !full;
		if (!choice_begins(p, i))
			continue;
		p->nr_shown += p->shown[i];
		p->nr_hidden += !p->shown[i];
		if (p->shown[i] && p->x->by == DIFF_BY_ARC)
			p->stanza_of[p->x->list[i].consumer] = p->nr_shown;
	}
}

void choice_release(struct choice *p)
{
	free(p->shown);
	free(p->stanza_of);
	memset(p, 0, sizeof(*p));
}
