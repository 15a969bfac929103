// SPDX-License-Identifier: MIT
/* layout.c - lays out the memory that a counted process shares with the recorder (layout.h). */
#include "callflow/layout.h"

enum { LABEL_BYTES = 64 };		/* of text, on average */
enum { MIN_POOL_PAGES = 16, MAX_POOL_PAGES = (1 << 23) - 1, RESERVED_SHARE = 16 };

static uint64_t page_up(uint64_t n)
{
	return (n + CALLFLOW_PAGE - 1) & ~(uint64_t)(CALLFLOW_PAGE - 1);
}

static uint32_t pool_pages(const struct callflow_layout *l)
{
	uint64_t n = l->pool_bytes / CALLFLOW_PAGE;

	return n < MIN_POOL_PAGES ? MIN_POOL_PAGES : n > MAX_POOL_PAGES ? MAX_POOL_PAGES : (uint32_t)n;
}

/* Where everything lies; returns the size of it all. */
static uint64_t callflow_layout_place(const struct callflow_layout *l, struct callflow_area *a)
{
	uint64_t at = CALLFLOW_PAGE;

	a->threads_off = at;
	at += page_up((uint64_t)l->nr_threads * sizeof(struct callflow_thread));
	a->functions_off = at;
	at += page_up((uint64_t)l->nr_functions * 8);
	a->owners_off = at;
	at += page_up((uint64_t)pool_pages(l) * 4);
	a->rules_off = at;
	at += page_up(l->rules_bytes);
	a->labels_off = at;
	at += page_up(l->nr_labels * sizeof(struct callflow_label));
	a->label_texts_off = at;
	at += page_up((uint64_t)l->nr_labels * LABEL_BYTES);
	a->rings_off = at;
	at += l->nr_rings * callflow_ring_bytes(l->ring_events, l->nr_metrics);
	a->pool_off = at;
	return at + (uint64_t)pool_pages(l) * CALLFLOW_PAGE;
}

uint64_t callflow_layout_bytes(const struct callflow_layout *l)
{
	struct callflow_area a;

	return callflow_layout_place(l, &a);
}

void callflow_layout_write(const struct callflow_layout *l, void *area)
{
	struct callflow_area *a = area;
	uint8_t *rules;
	uint32_t i;

	a->bytes = callflow_layout_place(l, a);
	a->flags = l->flags;
	a->nr_metrics = l->nr_metrics;
	for (i = 0; i < l->nr_metrics; i++)
		a->metrics[i] = l->metrics[i];
	a->node_bytes = callflow_node_bytes(l->nr_metrics);
	a->max_depth = l->max_depth;
	a->nr_threads = l->nr_threads;
	a->nr_functions = l->nr_functions;
	a->nr_pages = pool_pages(l);
	a->nr_reserved = a->nr_pages / RESERVED_SHARE;
	a->nr_rings = l->nr_rings;
	a->ring_events = l->ring_events;
	a->rules_bytes = l->rules_bytes;
	a->nr_labels = l->nr_labels;
	a->label_bytes = l->nr_labels * LABEL_BYTES;
	rules = (uint8_t *)area + a->rules_off;
	for (i = 0; i < l->rules_bytes; i++)
		rules[i] = ((const uint8_t *)l->rules)[i];
	a->tsc_ratio = l->tsc_ratio;
	a->prune_share = l->prune_share;
	a->prune_tsc = (unsigned __int128)l->prune_ns * l->tsc_ratio >> 32;
	a->bracket_skip = l->bracket_skip;
	a->bracket_times = l->bracket_times;
	a->version = CALLFLOW_VERSION;
	a->magic = CALLFLOW_MAGIC;
}
