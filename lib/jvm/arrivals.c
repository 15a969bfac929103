// SPDX-License-Identifier: GPL-2.0-or-later
/* arrivals.c - see vmlog.h. */
#include "jvm/vmlog.h"

void arrivals_begin(struct arrivals *a)
{
	a->nr = 0;
	a->look = 0;
}

static struct arrival *arrivals_find(struct arrivals *a, uint32_t tid)
{
	size_t i;

	for (i = 0; i < a->nr && i < ARRIVALS_MAX; i++)
		if (a->threads[i].tid == tid)
			return &a->threads[i];
	return NULL;
}

/* A look lists each thread once, in a fixed order: one that it has already listed begins the next look. */
void arrivals_runs(struct arrivals *a, uint32_t tid)
{
	struct arrival *x = arrivals_find(a, tid);

	if (x) {
		a->look += x->look == a->look;
		x->look = a->look;
		return;
	}
	if (a->nr < ARRIVALS_MAX)
		a->threads[a->nr] = (struct arrival){ .tid = tid, .look = a->look };
	a->nr++;
}

void arrivals_polls(struct arrivals *a, uint32_t tid, uint64_t time_ns)
{
	struct arrival *x = arrivals_find(a, tid);

	if (x)
		x->polled_ns = time_ns;
}

uint32_t arrivals_last(const struct arrivals *a, size_t *together)
{
	const struct arrival *last = NULL;
	size_t i, nr_polled = 0;

	*together = 0;
	if (a->nr > ARRIVALS_MAX)
		return 0;
	for (i = 0; i < a->nr; i++) {
		const struct arrival *x = &a->threads[i];

		if (x->look != a->look)
			continue;
		++*together;
		nr_polled += x->polled_ns > 0;
		last = !last || x->polled_ns > last->polled_ns ? x : last;
	}
	if (!last || (*together > 1 && nr_polled < *together))
		return 0;
	*together = 1;
	return last->tid;
}
