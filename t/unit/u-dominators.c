// SPDX-License-Identifier: GPL-2.0-or-later
/* u-dominators.c - dominators of random graphs against their definition: what is cut off without a node. */
#include <stdlib.h>
#include <string.h>

#include "heap/dominators.h"
#include "heap/ids.h"
#include "unit.h"

enum { MAX_NODES = 14, ROUNDS = 10000 };

struct plain {			/* [from] bits of what it refers to */
	unsigned int nr;
	uint32_t edges[MAX_NODES];
};

/* What is reached from the root without the node that is left out. */
static uint32_t reached(const struct plain *p, unsigned int root, unsigned int without)
{
	uint32_t seen = root == without ? 0 : 1u << root, before = 0;
	unsigned int i;

	while (seen != before) {
		before = seen;
		for (i = 0; i < p->nr; i++)
			if (before >> i & 1)
				seen |= p->edges[i] & ~(1u << without);
	}
	return seen;
}

static void make(const struct plain *p, struct heap_graph *g)
{
	unsigned int i, k;

	graph_init(g, p->nr);
	for (i = 0; i < p->nr; i++) {
		uint64_t from = g->nr_edges;

		for (k = 0; k < p->nr; k++)
			if (p->edges[i] >> k & 1)
				graph_put(g, k);
		graph_close(g, i, from);
	}
}

/* Whether each dominates what is cut off without it, and the nearest of these is the immediate one. */
static void check(const struct plain *p, const struct dominators *d)
{
	const unsigned int lost = p->nr - 1;
	uint32_t all = reached(p, 0, p->nr), below[MAX_NODES + 1] = { 0 };
	unsigned int i, at, nr_live = 0;

	for (i = 1; i <= d->nr; i++)
		for (at = i; at; at = d->idom[at])
			below[d->node[at]] |= 1u << d->node[i];
	for (i = 0; i < p->nr; i++) {
		nr_live += all >> i & 1;
		if (all >> i & 1)
			CHECK_U64(below[i], (i ? all & ~reached(p, 0, i) : all | below[lost]));
		else if (i != lost)
			CHECK(below[lost] >> i & 1);
	}
	CHECK_U64(d->nr_lost, p->nr - 1 - nr_live);
	CHECK_U64(d->nr, d->nr_lost ? p->nr : p->nr - 1);
}

TEST(dominators_are_what_the_definition_says)
{
	struct heap_graph g;
	struct dominators d;
	struct plain p;
	int round;
	unsigned int i;

	for (round = 0; round < ROUNDS / UNIT_STRIDE; round++) {
		p.nr = 3 + unit_random() % (MAX_NODES - 2);
		for (i = 0; i < p.nr; i++)
			/* none to the root, none to lost */
			p.edges[i] = unit_random() & unit_random() &
				     (round % 3 ? UINT32_MAX : unit_random()) & ((1u << (p.nr - 1)) - 2);
		p.edges[p.nr - 1] = 0;
		make(&p, &g);
		dominators_of(&d, &g, 0, p.nr - 1);
		check(&p, &d);
		dominators_release(&d);
	}
}

/* A list of a million objects, whose last one refers to the first. */
TEST(dominators_of_a_long_list)
{
	enum { LEN = 1000000 };
	struct heap_graph g;
	struct dominators d;
	uint32_t i;

	graph_init(&g, LEN + 2);
	for (i = 0; i <= LEN; i++) {
		uint64_t from = g.nr_edges;

		graph_put(&g, i < LEN ? i + 1 : 1);
		graph_close(&g, i, from);
	}
	dominators_of(&d, &g, 0, LEN + 1);
	CHECK_U64(d.nr, LEN + 1);
	for (i = 2; i <= d.nr; i++)
		if (d.idom[i] != i - 1)
			break;
	CHECK_U64(i, LEN + 2);
	dominators_release(&d);
}

/* Rings that nothing holds are lost, and hold nothing that is reached. */
TEST(dominators_hang_what_is_lost_below_its_node)
{
	static const struct plain p = { 6, { 1u << 1, 0, 1u << 3 | 1u << 1, 1u << 2, 1u << 3 } };
	struct heap_graph g;
	struct dominators d;
	unsigned int i;

	make(&p, &g);
	dominators_of(&d, &g, 0, 5);
	CHECK_U64(d.nr_lost, 3);
	for (i = 1; i <= d.nr; i++) {
		uint32_t node = d.node[i], by = i > 1 ? d.node[d.idom[i]] : 0;

		if (i > 1)
			CHECK_U64(by, node == 4 ? 5 : node == 3 ? 4 : node == 2 ? 3 : 0);
	}
	dominators_release(&d);
}

/* --- numbers of ids --- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

TEST(ids_number_addresses_in_their_order)
{
	enum { NR = 3000 };
	static const uint64_t bases[] = { 0x700000000, 0x4000000000, 0x7f0000000000 };
	uint64_t id[NR], next;
	struct heap_ids x;
	struct ids_walk w;
	uint32_t i, k, nr;

	for (k = 0; k < 3; k++) {
		ids_init(&x, 3, 1 << 28);
		for (i = 0; i < NR; i++) {
			id[i] = bases[k] + (unit_random() % (1 << (10 + i % 20)) << 3);
			CHECK(ids_add(&x, id[i]));
		}
		qsort(id, NR, sizeof(*id), by_value);
		for (i = nr = 0; i < NR; i++)
			if (!i || id[i] != id[i - 1])
				id[nr++] = id[i];
		CHECK(ids_finish(&x));
		CHECK_U64(x.nr, nr);
		CHECK_U64(x.nr_twice, NR - nr);
		ids_walk(&w, &x);
		for (i = 0; i < nr; i++) {
			CHECK_U64(ids_find(&x, id[i]), i);
			CHECK_U64(ids_id(&x, i), id[i]);
			CHECK(ids_next(&w, &next) && next == id[i]);
			CHECK_U64(ids_find(&x, id[i] + 4), HEAP_NONE);
		}
		CHECK(!ids_next(&w, &next));
		CHECK_U64(ids_find(&x, 0), HEAP_NONE);
		CHECK_U64(ids_find(&x, UINT64_MAX - 7), HEAP_NONE);
		ids_release(&x);
	}
}

/* Where all addresses have an id, counts are as large as they can be; where few have, words are empty. */
TEST(ids_number_dense_and_sparse_addresses)
{
	enum { NR = 5000 };
	static const uint64_t steps[] = { 1, 2, 63, 64, 65, 511, 513, 100003 };
	struct heap_ids x;
	unsigned int s;
	uint32_t i;

	for (s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		ids_init(&x, 0, 1 << 28);
		for (i = 0; i < NR; i++)
			CHECK(ids_add(&x, 1000 + i * steps[s]));
		CHECK(ids_finish(&x));
		CHECK_U64(x.nr, NR);
		for (i = 0; i < NR; i++) {
			CHECK_U64(ids_find(&x, 1000 + i * steps[s]), i);
			CHECK_U64(ids_id(&x, i), 1000 + i * steps[s]);
		}
		ids_release(&x);
	}
}

/* A damaged id lies anywhere; scattered ones take no more memory than they may. */
TEST(ids_are_bounded)
{
	struct heap_ids x;
	unsigned int i;

	ids_init(&x, 3, 64 << 20);
	for (i = 0; i < 1000; i++)
		ids_add(&x, 0x700000000 + 16 * i);
	ids_add(&x, 0xdeadbeef00000000);
	ids_add(&x, 0x700000001);
	CHECK(ids_finish(&x));
	CHECK_U64(x.nr, 1000);
	CHECK_U64(x.nr_odd, 2);
	ids_release(&x);
	ids_init(&x, 3, 64 << 20);
	for (i = 0; i < 1000000; i++)
		if (!ids_add(&x, (uint64_t)i << 30))
			break;
	CHECK(i < 5000);
	ids_release(&x);
}
