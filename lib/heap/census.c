// SPDX-License-Identifier: GPL-2.0-or-later
/* census.c - see census.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/census.h"

enum { OBJECTS_PER_RUN = 16, MIN_RUNS = 1 << 16, MAX_GAP = 16 << 20 };

struct census *census_new(const struct heap *h)
{
	struct census *c = xcalloc(1, sizeof(*c));

	c->kinds.exact = heap_class_of_chunks(h);
	return c;
}

void census_free(struct census *c)
{
	if (!c)
		return;
	kinds_release(&c->kinds);
	free(c->runs);
	free(c);
}

/* End a run. Class objects are between others, but come first in the dump. */
static void end_run(struct census *c, const struct hprof_item *x)
{
	VEC_GROW(c->runs, c->nr_runs, c->alloc_runs);
	c->runs[c->nr_runs++].first = x->id;
	c->failed |= c->nr_runs > MIN_RUNS && c->nr_runs * OBJECTS_PER_RUN > c->nr_objects;
}

static inline uint32_t census_class_of(struct census *c, const struct heap *h, const struct hprof_item *x)
{
	if (x->kind == HPROF_VALUES)
		return census_values(x->type);
	if (!c->of || c->of->raw.id != x->class_id)
		c->of = heap_class_by_id(h, x->class_id);
	return c->of ? (uint32_t)(c->of - h->classes) : HEAP_NONE;
}

void census_see(struct census *c, const struct heap *h, const struct hprof_item *x)
{
	struct census_run *r = c->nr_runs ? &c->runs[c->nr_runs - 1] : NULL;
	uint32_t class;

	/* an id that is none has no next */
	c->failed |= h->ids.nr_odd > 0;
	if (c->failed)
		return;
	if (x->kind == HPROF_CLASS) {
		/* it may have moved the classes, and may lie between objects that have passed */
		c->of = NULL;
		c->failed = r;
		return;
	}
	class = census_class_of(c, h, x);
	c->failed = class == HEAP_NONE;
	c->nr_objects++;
	if (!r || x->id <= r->last || x->id - r->last > MAX_GAP) {
		end_run(c, x);
		r = &c->runs[c->nr_runs - 1];
	} else {
		kinds_add(&c->kinds, r->class, r->n, ids_next_after(&h->ids, r->last) - r->last);
	}
	r->last = x->id;
	r->class = class;
	r->n = x->n;
}

static int by_first(const void *a, const void *b)
{
	const struct census_run *x = a, *y = b;

	return COMPARE(x->first, y->first);
}

/* Return whether objects follow each other, so that nothing was between them but what was known. */
static bool are_apart(const struct census *c)
{
	size_t i;

	for (i = 1; i < c->nr_runs; i++)
		if (c->runs[i].first <= c->runs[i - 1].last)
			return false;
	return true;
}

static uint64_t count_classes(const struct heap *h)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 0; i < h->nr_classes; i++)
		nr += h->classes[i].raw.fields != NULL;
	return nr;
}

bool census_finish(struct census *c, const struct heap *h)
{
	uint32_t object;
	size_t i;

	c->of = NULL;
	if (c->failed || h->damage.nr || h->damage.truncated || h->ids.nr_odd || h->ids.nr_twice ||
	    h->roster.numbers || c->nr_objects + count_classes(h) != h->ids.nr)
		return false;
	if (c->nr_runs)
		qsort(c->runs, c->nr_runs, sizeof(*c->runs), by_first);
	if (!are_apart(c))
		return false;
	for (i = 0; i < c->nr_runs; i++) {
		const struct census_run *r = &c->runs[i];

		object = ids_find(&h->ids, r->last);
		if (object + 1 < h->ids.nr)
			kinds_add(&c->kinds, r->class, r->n, ids_id(&h->ids, object + 1) - r->last);
		else
			c->last = (struct object_kind){ r->class, r->n, UINT64_MAX, 1 };
	}
	kinds_finish(&c->kinds);
	return true;
}
