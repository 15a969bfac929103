// SPDX-License-Identifier: GPL-2.0-or-later
/* origins.c - see origins.h. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "heap/origins.h"

struct sum {				/* of a context */
	double n, bytes;
	uint64_t samples;
};

struct origins_tree {
	struct heap_contexts *b;
	const struct heap_origins *o;
	const struct heap_order *x;
	struct heap_origin_facts *facts;
	uint32_t *not_sampled;		/* [class] -> consumer; 0: none yet */
	struct map is_not_sampled;	/* those consumers */
	uint32_t *at;			/* [node] -> context */
	struct sum *sums;		/* [context] */
	size_t nr_sums;
};

static bool is_object(const struct origins_tree *t, uint32_t node)
{
	return node < t->b->h->ids.nr;
}

static bool is_sample(const struct origins_tree *t, uint32_t node)
{
	return is_object(t, node) && t->o->place[node];
}

static bool counts(const struct origins_tree *t, uint32_t node)
{
	return is_object(t, node) && (t->o->all || t->o->place[node]);
}

/* Marks what has something below that counts. */
static uint64_t *find_holders(const struct origins_tree *t)
{
	uint64_t *holds = xcalloc(t->x->nr_nodes / 64 + 1, sizeof(*holds));
	uint32_t i;

	for (i = t->x->nr - 1; i; i--) {
		uint32_t node = t->x->order[i], above = t->x->holder[node];

		if (counts(t, node) || holds[node / 64] >> node % 64 & 1)
			holds[above / 64] |= (uint64_t)1 << above % 64;
	}
	return holds;
}

/* "[not sampled] java.util.HashMap$Node": what it is, as where it was allocated is not known. */
static uint32_t not_sampled(struct origins_tree *t, uint32_t class)
{
	uint32_t *consumer = &t->not_sampled[class];
	char *name;

	if (!*consumer) {
		name = xasprintf("[not sampled] %s", heap_class_name(t->b->h, class));
		*consumer = consumer_add_name(&t->b->m->consumers, CONSUMER_ANY, name, strlen(name));
		*map_put(&t->is_not_sampled, *consumer) = 1;
		free(name);
	}
	return *consumer;
}

static uint32_t context_of(struct origins_tree *t, uint32_t node, uint32_t above)
{
	uint32_t consumer = is_object(t, node) ? contexts_named(t->b, node) : 0;

	if (!consumer && (!is_object(t, node) || is_sample(t, node)))
		consumer = contexts_consumer(t->b, node);
	if (!consumer)
		consumer = not_sampled(t, t->b->h->class[node]);
	return contexts_child(t->b, above, consumer);
}

static struct sum *sum_of(struct origins_tree *t, uint32_t context)
{
	size_t nr = t->nr_sums;

	if (context >= nr) {
		t->nr_sums = MAX((size_t)context + 1, nr + nr / 2);
		t->sums = xrealloc(t->sums, t->nr_sums * sizeof(*t->sums));
		memset(t->sums + nr, 0, (t->nr_sums - nr) * sizeof(*t->sums));
	}
	return &t->sums[context];
}

static void add_facts(struct origins_tree *t, uint32_t context, double bytes)
{
	const struct flow_node *nodes = t->b->m->flow.nodes;
	uint32_t above = nodes[context].parent;

	t->facts->nr++;
	t->facts->bytes += bytes;
	if (above && map_get(&t->is_not_sampled, nodes[above].consumer) != MAP_NONE)
		t->facts->held_by_unknown += bytes;
	else
		t->facts->held_by_known += bytes;
}

static void origins_add(struct origins_tree *t, uint32_t node, uint32_t context)
{
	bool sample = is_sample(t, node);
	double weight = sample ? t->o->weight[node] : 1;
	double bytes = weight * (double)heap_size(t->b->h, node);
	struct sum *s = sum_of(t, context);

	s->n += weight;
	s->bytes += bytes;
	s->samples += sample;
	if (sample)
		add_facts(t, context, bytes);
}

/*
 * Add the sums; what rounding takes from a context is given to the next of the same consumer, so that their
 * sum is right.
 */
static void add_sums(const struct origins_tree *t)
{
	struct flow *f = &t->b->m->flow;
	double *rest = xcalloc(flow_nr_consumers(f), sizeof(*rest));
	uint32_t i;

	for (i = 1; i < MIN((size_t)f->nr_nodes, t->nr_sums); i++) {
		const struct sum *s = &t->sums[i];
		const uint64_t base[] = { (uint64_t)floor(MIN(s->bytes, 0x1p62) + .5), s->samples };
		double *left = &rest[f->nodes[i].consumer];
		double n = s->n + *left, whole = n > 0 ? floor(n + .5) : 0;

		flow_add(f, i, (uint64_t)whole, base);
		*left = n - whole;
	}
	free(rest);
}

void origins_build(struct heap_contexts *b, const struct heap_origins *o, const struct heap_order *x,
		   struct heap_origin_facts *facts)
{
	struct origins_tree t = { .b = b, .o = o, .x = x, .facts = facts };
	uint64_t *holds = find_holders(&t);
	uint32_t i;

	*facts = (struct heap_origin_facts){ 0 };
	t.not_sampled = xcalloc(b->h->nr_classes, sizeof(*t.not_sampled));
	t.at = xcalloc(x->nr_nodes, sizeof(*t.at));
	for (i = 1; i < x->nr; i++) {
		uint32_t node = x->order[i];

		if (!counts(&t, node) && !(holds[node / 64] >> node % 64 & 1))
			continue;
		t.at[node] = context_of(&t, node, t.at[x->holder[node]]);
		if (counts(&t, node))
			origins_add(&t, node, t.at[node]);
	}
	add_sums(&t);
	free(holds);
	free(t.at);
	free(t.sums);
	free(t.not_sampled);
	map_release(&t.is_not_sampled);
}
