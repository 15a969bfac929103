// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * match.c - by keys: consumers of one side that have a key which no other one of their side has, and one
 * of the other side has, are the same. Keys become weaker from round to round.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "diff/match.h"
#include "flow/ops.h"

#define LEAST_N 12	/* so many samples are not missing by chance: that has a probability of e^-12 */

struct pair {
	uint32_t a, b;
};

struct match {
	struct diff *d;
	const struct flow *f;
	size_t nr;			/* of consumers */
	bool *has[DIFF_NR_SIDES];	/* [consumer] */
	bool *has_module[DIFF_NR_SIDES];	/* [strtab id] */
	uint64_t *n[DIFF_NR_SIDES];	/* [consumer]: cum */
	uint32_t *to;			/* [consumer]: what it is on side B; itself */
	struct pair *arcs;		/* distinct (callee, caller) of the tree, sorted */
	struct pair *back;		/* distinct (caller, callee), sorted */
	size_t nr_arcs;
	struct buf key;
};

static const struct consumer *item(const struct match *x, uint32_t id)
{
	return &x->d->m.consumers.items[id];
}

static const char *name_of(const struct match *x, uint32_t id)
{
	return model_str(&x->d->m, item(x, id)->name);
}

/* Only that side has it, and it is not matched yet. */
static bool is_alone(const struct match *x, unsigned int side, uint32_t id)
{
	return x->has[side][id] && !x->has[!side][id] && x->to[id] == id;
}

/* Trees read from text have functions without a kind. */
static bool is_function(const struct consumer *c)
{
	return kind_is(c->kind, KIND_JAVA | KIND_NATIVE) || c->kind == CONSUMER_ANY;
}

static int compare_pairs(const void *p, const void *q)
{
	const struct pair *a = p, *b = q;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b < b->b ? -1 : a->b > b->b;
}

/* Sort the list and drop duplicates; return what is left. */
static size_t tidy(struct pair *list, size_t nr)
{
	size_t i, used = 0;

	if (nr)
		qsort(list, nr, sizeof(*list), compare_pairs);
	for (i = 0; i < nr; i++)
		if (!used || compare_pairs(&list[used - 1], &list[i]))
			list[used++] = list[i];
	return used;
}

static void find_arcs(struct match *x)
{
	size_t i;

	x->arcs = xcalloc(x->f->nr_nodes, sizeof(*x->arcs));
	x->back = xcalloc(x->f->nr_nodes, sizeof(*x->back));
	for (i = 1; i < x->f->nr_nodes; i++) {
		uint32_t parent = x->f->nodes[i].parent;

		x->arcs[i] = (struct pair){ x->f->nodes[i].consumer,
			parent ? x->f->nodes[parent].consumer : 0 };
		x->back[i] = (struct pair){ x->arcs[i].b, x->arcs[i].a };
	}
	x->nr_arcs = tidy(x->arcs, x->f->nr_nodes);
	tidy(x->back, x->f->nr_nodes);
}

static void count(struct match *x)
{
	uint64_t *n = xcalloc(x->f->nr_nodes, sizeof(*n));
	size_t i, r, side;

	for (side = 0; side < DIFF_NR_SIDES; side++) {
		memset(n, 0, x->f->nr_nodes * sizeof(*n));
		for (r = 0; r < x->d->nr_runs; r++) {
			const struct diff_run *run = &x->d->runs[r];

			for (i = 1; i < run->input.nr && run->side == side; i++)
				n[run->input.where[i]] += run->input.n[i];
		}
		for (i = x->f->nr_nodes; --i > 0;) {
			uint32_t c = x->f->nodes[i].consumer;

			n[x->f->nodes[i].parent] += n[i];
			x->n[side][c] += x->f->rl[i] == 1 ? n[i] : 0;
			x->has[side][c] |= union_has(&x->d->u, side, i);
			x->has_module[side][item(x, c)->module] |= union_has(&x->d->u, side, i);
		}
	}
	free(n);
}

/* ---- keys: false where a consumer has none ---- */

static bool key_of_process(struct match *x, uint32_t id)
{
	if (item(x, id)->kind != CONSUMER_PROCESS)
		return false;
	buf_str(&x->key, "process");
	return true;
}

static bool is_there_by_chance(const struct match *x, uint32_t id)
{
	return !x->d->exact && x->n[DIFF_A][id] + x->n[DIFF_B][id] < LEAST_N;
}

/* A function's name, whatever module it is in; where both sides have the module, it may be chance. */
static bool key_of_name(struct match *x, uint32_t id)
{
	uint32_t module = item(x, id)->module;

	if (!kind_is(item(x, id)->kind, KIND_NATIVE) || !*name_of(x, id))
		return false;
	if (x->has_module[DIFF_A][module] && x->has_module[DIFF_B][module] && is_there_by_chance(x, id))
		return false;
	buf_fmt(&x->key, "native %s", name_of(x, id));
	return true;
}

/* Make a key of class and method, whatever their package: what follows the last but one dot. */
static bool key_of_method(struct match *x, uint32_t id)
{
	const char *name = name_of(x, id), *end = name + strcspn(name, "("), *at = end;
	int dots = 0;

	if (!kind_is(item(x, id)->kind, KIND_JAVA))
		return false;
	while (at > name && (at[-1] != '.' || ++dots < 2))
		at--;
	buf_fmt(&x->key, "java %s", at);
	return dots;
}

static void put_without_digits(struct buf *b, const char *s)
{
	for (; *s; s++)
		if (!isdigit((unsigned char)*s))
			buf_putc(b, *s);
}

/* Append the other ends of the arcs of a consumer, with their names on side B. */
static void put_ends(struct match *x, const struct pair *arcs, uint32_t id)
{
	size_t lo = 0, hi = x->nr_arcs, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (arcs[mid].a < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < x->nr_arcs && arcs[lo].a == id; lo++)
		buf_fmt(&x->key, " %u", arcs[lo].b == id ? UINT32_MAX : x->to[arcs[lo].b]);
}

static bool key_of_loose_name(struct match *x, uint32_t id)
{
	const struct consumer *c = item(x, id);

	if ((!is_function(c) && c->kind != CONSUMER_STUB) || is_there_by_chance(x, id))
		return false;
	buf_fmt(&x->key, "%u %u ", kind_is(c->kind, KIND_JAVA) ? CONSUMER_JAVA : c->kind, c->module);
	put_without_digits(&x->key, name_of(x, id));
	put_ends(x, x->arcs, id);
	return true;
}

/* Make a key of callers and callees, and the module, or the class of a Java method. */
static bool key_of_place(struct match *x, uint32_t id)
{
	const struct consumer *c = item(x, id);
	const char *name = name_of(x, id), *end = name + strcspn(name, "(");

	if (!is_function(c) || is_there_by_chance(x, id))
		return false;
	while (end > name && *end != '.')
		end--;
	buf_fmt(&x->key, "%u %u ", kind_is(c->kind, KIND_JAVA) ? CONSUMER_JAVA : CONSUMER_NATIVE, c->module);
	if (kind_is(c->kind, KIND_JAVA))
		buf_add(&x->key, name, end - name);
	buf_str(&x->key, " from");
	put_ends(x, x->arcs, id);
	buf_str(&x->key, " to");
	put_ends(x, x->back, id);
	return true;
}

/* Make a key of a Java method whose class was renamed. */
static bool key_of_method_in_place(struct match *x, uint32_t id)
{
	const char *name = name_of(x, id), *end = name + strcspn(name, "("), *dot = end;

	if (!kind_is(item(x, id)->kind, KIND_JAVA) || is_there_by_chance(x, id))
		return false;
	while (dot > name && *dot != '.')
		dot--;
	buf_fmt(&x->key, "java %s from", dot);
	put_ends(x, x->arcs, id);
	return true;
}

/*
 * Make a key of what there is only once: the main thread, named as its program, and unnamed code, named as
 * its module.
 */
static bool key_of_the_only_one(struct match *x, uint32_t id)
{
	const struct consumer *c = item(x, id);

	if (c->kind != CONSUMER_THREAD && c->kind != CONSUMER_UNRESOLVED)
		return false;
	buf_fmt(&x->key, "%u", c->kind);
	put_ends(x, x->arcs, id);
	return true;
}

/* ---- rounds ---- */

/* The holders of one key: how many each side has, and one of them. */
struct holders {
	uint32_t id[DIFF_NR_SIDES], nr[DIFF_NR_SIDES];
};

static bool similar(const struct match *x, uint32_t a, uint32_t b)
{
	double na = x->n[DIFF_A][a], nb = x->n[DIFF_B][b];

	return na <= 4 * nb && nb <= 4 * na;
}

static size_t round_of(struct match *x, bool (*key)(struct match *x, uint32_t id), bool check_size)
{
	struct holders *list = xcalloc(x->nr + 1, sizeof(*list));
	struct strtab keys;
	size_t i, side, found = 0;
	uint32_t k, last = 0;

	strtab_init(&keys);
	for (i = 1; i < x->nr; i++)
		for (side = 0; side < DIFF_NR_SIDES; side++) {
			buf_reset(&x->key);
			if (!is_alone(x, side, i) || !key(x, i))
				continue;
			k = strtab_add(&keys, x->key.data, x->key.len);
			last = MAX(last, k);
			list[k].id[side] = i;
			list[k].nr[side]++;
		}
	for (k = 1; k <= last; k++) {
		struct holders *h = &list[k];

		if (h->nr[DIFF_A] != 1 || h->nr[DIFF_B] != 1 ||
		    (check_size && !similar(x, h->id[DIFF_A], h->id[DIFF_B])))
			continue;
		x->to[h->id[DIFF_A]] = h->id[DIFF_B];
		x->has[DIFF_A][h->id[DIFF_B]] = true;
		found++;
	}
	strtab_release(&keys);
	free(list);
	return found;
}

static size_t all_rounds(struct match *x)
{
	size_t found, more;

	found = round_of(x, key_of_process, false);
	found += round_of(x, key_of_name, false);
	found += round_of(x, key_of_method, false);
	do {	/* callers that are matched let callees be */
		more = round_of(x, key_of_the_only_one, false);
		more += round_of(x, key_of_loose_name, true);
		more += round_of(x, key_of_method_in_place, true);
		more += round_of(x, key_of_place, true);
		found += more;
	} while (more);
	return found;
}

static void apply(struct match *x, uint32_t *where)
{
	struct diff *d = x->d;
	struct flow out;
	size_t i, side;

	for (i = 1; i < x->nr; i++) {
		uint32_t to = x->to[i];

		if (to == i)
			continue;
		if (item(x, i)->name != item(x, to)->name)
			d->was[to] = item(x, i)->name;
		for (side = 0; side < DIFF_NR_SIDES && i < d->nr_code; side++) {
			d->code_n[side][to] += d->code_n[side][i];
			d->inlined_n[side][to] += d->inlined_n[side][i];
		}
	}
	flow_map(&d->m.flow, x->to, false, &out, where);
	model_take_flow(&d->m, &out, NULL);
}

bool match_consumers(struct diff *d, uint32_t *where)
{
	struct match x = { .d = d, .f = &d->m.flow, .nr = d->m.consumers.nr_items };
	size_t i, found;

	for (i = 0; i < DIFF_NR_SIDES; i++) {
		x.has[i] = xcalloc(x.nr, sizeof(**x.has));
		x.has_module[i] = xcalloc(d->m.consumers.names.nr_entries, sizeof(**x.has_module));
		x.n[i] = xcalloc(x.nr, sizeof(**x.n));
	}
	x.to = xcalloc(x.nr, sizeof(*x.to));
	for (i = 0; i < x.nr; i++)
		x.to[i] = i;
	find_arcs(&x);
	count(&x);
	found = all_rounds(&x);
	if (found)
		apply(&x, where);
	for (i = 0; i < DIFF_NR_SIDES; i++) {
		free(x.has[i]);
		free(x.has_module[i]);
		free(x.n[i]);
	}
	free(x.to);
	free(x.arcs);
	free(x.back);
	buf_release(&x.key);
	return found;
}
