// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "ring/merge.h"

/*
 * Every event here samples IDENTIFIER, IP, TID, TIME first, and other records end in TID, TIME, CPU,
 * IDENTIFIER (sample_id_all): there the time stamp is.
 */
static uint64_t record_time(const struct perf_event_header *h)
{
	const uint8_t *p = (const uint8_t *)h;
	uint64_t t;

	if (h->type == PERF_RECORD_SAMPLE)
		p += sizeof(*h) + 24;
	else
		p += h->size - 24;
	memcpy(&t, p, sizeof(t));
	return t;
}

static void ring_look(struct ring *r)
{
	const struct perf_event_header *h = ring_peek(r);

	r->next_ns = h ? record_time(h) : UINT64_MAX;
}

/* The ring with the oldest record; *bound gets the time up to which it stays the oldest. */
static struct ring *oldest(struct ring *rings, size_t nr_rings, uint64_t *bound)
{
	struct ring *best = NULL;
	uint64_t best_ns = UINT64_MAX, next_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < nr_rings; i++) {
		uint64_t t = rings[i].next_ns;

		if (t < best_ns) {
			next_ns = best_ns;
			best_ns = t;
			best = &rings[i];
		} else if (t < next_ns) {
			next_ns = t;
		}
	}
	*bound = next_ns;
	return best;
}

size_t merge_drain(struct ring *rings, size_t nr_rings, uint64_t until_ns, merge_fn fn, void *ctx)
{
	struct ring *r;
	uint64_t bound;
	size_t i, nr = 0;

	for (i = 0; i < nr_rings; i++) {
		ring_begin(&rings[i]);
		ring_look(&rings[i]);
	}
	while ((r = oldest(rings, nr_rings, &bound)) && r->next_ns <= until_ns) {
		if (bound > until_ns)
			bound = until_ns;
		do {
			fn(ctx, r, ring_peek(r), r->next_ns);
			ring_next(r);
			nr++;
			ring_look(r);
		} while (r->next_ns != UINT64_MAX && r->next_ns <= bound);
		ring_end(r);
	}
	return nr;
}
