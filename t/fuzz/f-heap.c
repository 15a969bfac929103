// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-heap.c - any bytes as a heap dump: each object is in the tree once, and the invariants hold; queries say
 * the same.
 */
#include <errno.h>
#include <stdlib.h>

#include "flow/check.h"
#include "heap/loaders.h"
#include "heap/tree.h"
#include "heap/waste.h"
#include "query/query.h"
#include "show/heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int take_head(void *ctx, const char *const *names, size_t nr)
{
	(void)ctx;
	(void)names;
	return nr ? 0 : -1;
}

/* The first query's row is how many objects there are, and their size. */
static int take_row(void *ctx, const struct query_value *values, size_t nr)
{
	const struct heap *h = ctx;

	if (h && (nr != 2 || values[0].integer != h->ids.nr || (uint64_t)values[1].integer != h->bytes))
		abort();
	return 0;
}

static void ask(struct heap *h)
{
	static const struct query_sink sink = { take_head, take_row };
	static const char *const queries[] = {
		"SELECT count(*), sum(size) FROM objects",
		"SELECT o.*, r.*, field(o.id, 'a'), field(o.id, 'b') FROM objects o LEFT JOIN refs r ON r.source = o.id LIMIT 500",
		"SELECT * FROM refs r JOIN objects o ON o.id = r.target LEFT JOIN roots ON object = o.id LIMIT 500",
		"SELECT * FROM strings LIMIT 100",
		"SELECT c.*, l.id, field(c.object, 'a') FROM classes c LEFT JOIN objects l ON l.id = c.loader",
		"SELECT * FROM nodes, xprof, arcs LIMIT 500",
	};
	const struct query_opts o = { .heap = h, .timeout_ns = 1000000000, .memory_bytes = 1 << 28 };
	struct query *q;
	struct err e;
	size_t i;

	if (query_open(&q, NULL, 0, &o, &e))
		abort();
	for (i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		if (query_run(q, queries[i], &sink, i ? NULL : h, &e) && e.code != ENOMEM && e.code != ETIME)
			abort();
	query_close(q);
}

static void print(struct heap *h)
{
	FILE *out = fopen("/dev/null", "w");
	struct err e;

	if (!out || heap_print_hprof_dump(h, out, &e) || fclose(out))
		abort();
}

/* One walk counts what two count. */
static void count(const uint8_t *data, size_t len, const struct heap *h)
{
	struct heap counted;
	struct err e;
	size_t i;

	if (heap_count_open_memory(&counted, data, len, &e) || heap_count(&counted, &e) ||
	    counted.bytes != h->bytes || counted.ids.nr != h->ids.nr)
		abort();
	for (i = 0; i < counted.nr_classes; i++)
		if (counted.classes[i].nr != h->classes[i].nr ||
		    counted.classes[i].bytes != h->classes[i].bytes)
			abort();
	heap_release(&counted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct heap_tree_opts o = {
		.shape = len % 2 ? HEAP_CONTAINMENT : HEAP_DOMINATORS, .fold = len % 3, .keep_soft = len & 1,
		.by_field = len / 2 % 2,
	};
	struct flow_check c[FLOW_NR_CHECKS];
	struct heap_tree_facts facts;
	struct heap_loader *loaders;
	struct waste waste;
	uint64_t total;
	struct model m;
	struct heap h;
	struct err e;
	size_t nr;

	if (!heap_open_memory(&h, data, len, &e)) {
		if (heap_tree(&h, &o, &m, &facts, &e) || flow_check(&m.flow, c) ||
		    flow_totals(&m.flow, &total) != h.ids.nr || total != h.bytes)
			abort();
		model_release(&m);
		count(data, len, &h);
		loaders = loaders_find(&h, &nr);
		free(loaders);
		if (waste_find(&h, &waste, &e))
			abort();
		waste_release(&waste);
		if (len % 4 == 1)
			ask(&h);
		else if (len % 4 == 3)
			print(&h);
	}
	heap_release(&h);
	return 0;
}
