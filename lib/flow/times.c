// SPDX-License-Identifier: GPL-2.0-or-later
/* times.c - the single samples of a tree, for a part of the time (times.h). */
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
	*VEC_ADD(t->list, t->nr_list, t->alloc_list) = *x;
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

static int times_compare(const void *p, const void *q, void *ctx)
{
	const struct flow_time *a = p, *b = q;
	const uint32_t *rank = ctx;

	return COMPARE(a->metric, b->metric) ?: COMPARE(rank[a->node], rank[b->node]) ?:
	       COMPARE(a->time_ns, b->time_ns);
}

void flow_times_sort(struct flow_times *t, const uint32_t *rank)
{
	if (t->nr_list)
		qsort_r(t->list, t->nr_list, sizeof(*t->list), times_compare, (void *)rank);
}

/* Merges the ordered halves [0, middle) and [middle, nr), the first of which is copied to room. */
static void merge(struct flow_time *list, size_t middle, size_t nr, struct flow_time *room)
{
	size_t a = 0, b = middle, at = 0;

	if (list[middle - 1].time_ns <= list[middle].time_ns)
		return;
	memcpy(room, list, middle * sizeof(*list));
	while (a < middle)
		list[at++] = b < nr && list[b].time_ns < room[a].time_ns ? list[b++] : room[a++];
}

/* Sort by merging, which costs one comparison where the file is in order, as it mostly is. */
void flow_times_sort_by_time(struct flow_times *t)
{
	struct flow_time *room = xcalloc(t->nr_list + 1, sizeof(*room));
	size_t width, at;

	for (width = 1; width < t->nr_list; width *= 2)
		for (at = 0; at + width < t->nr_list; at += 2 * width)
			merge(t->list + at, width, MIN(2 * width, t->nr_list - at), room);
	free(room);
}
