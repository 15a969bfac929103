// SPDX-License-Identifier: GPL-2.0-or-later
/* f-heap.c - any bytes as a heap dump: each object is in the tree once, and the invariants hold. */
#include <stdlib.h>

#include "flow/check.h"
#include "heap/loaders.h"
#include "heap/tree.h"
#include "heap/waste.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

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
		loaders = loaders_find(&h, &nr);
		free(loaders);
		if (waste_find(&h, &waste, &e))
			abort();
		waste_release(&waste);
	}
	heap_release(&h);
	return 0;
}
