// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/times.h"

void flow_times_release(struct flow_times *t)
{
	free(t->list);
	memset(t, 0, sizeof(*t));
}

void flow_times_add(struct flow_times *t, const struct flow_time *x)
{
	VEC_GROW(t->list, t->nr_list, t->alloc_list);
	t->list[t->nr_list++] = *x;
}

void flow_times_move(struct flow_times *t, const uint32_t *where)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr_list; i++) {
		struct flow_time x = t->list[i];

		x.node = where[x.node];
		if (x.node)
			t->list[nr++] = x;
	}
	t->nr_list = nr;
}

static int compare(const void *p, const void *q, void *ctx)
{
	const struct flow_time *a = p, *b = q;
	const uint32_t *rank = ctx;

	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->node != b->node)
		return rank[a->node] < rank[b->node] ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

void flow_times_sort(struct flow_times *t, const uint32_t *rank)
{
	if (t->nr_list)
		qsort_r(t->list, t->nr_list, sizeof(*t->list), compare, (void *)rank);
}
