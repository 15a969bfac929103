/* SPDX-License-Identifier: MIT */
/*
 * layout.h - makes an area: the recorder's side of area.h.
 */
#ifndef CALLFLOW_LAYOUT_H
#define CALLFLOW_LAYOUT_H


#include "callflow/area.h"

struct callflow_layout {
	uint32_t flags;			/* enum callflow_flags */
	uint32_t nr_metrics;
	struct callflow_metric metrics[CALLFLOW_MAX_METRICS];	/* in the order area.h asks for */
	uint32_t max_depth;
	uint32_t nr_threads;
	uint32_t nr_functions;		/* a power of two; 1: no native functions */
	uint64_t pool_bytes;
	uint32_t nr_rings, ring_events;	/* powers of two; 0 rings: no events */
	const void *rules;		/* compiled (filter.h), or NULL */
	uint32_t rules_bytes;
	uint32_t nr_labels;		/* a power of two; 0: labels of threads are not recorded */
	uint64_t tsc_ratio;		/* cycles a ns times 2^32; 0: the process finds out */
	uint64_t bracket_skip, bracket_times;	/* with CALLFLOW_BRACKETS */
	uint32_t prune_share;		/* of 2^32, as in area.h; only with tsc_ratio */
	uint64_t prune_ns;
};

uint64_t callflow_layout_bytes(const struct callflow_layout *l);
/* Fills an area of this many bytes, which are zero. */
void callflow_layout_write(const struct callflow_layout *l, void *area);

#endif
