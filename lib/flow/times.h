/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times.h - when it was: the samples of a tree one by one, for views of a part of the time. Kept
 * only when asked for: a tree has their sums.
 */
#ifndef FLOW_TIMES_H
#define FLOW_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_time {
	uint64_t time_ns;	/* CLOCK_MONOTONIC; of a metric that lasts, the end */
	uint64_t weight;	/* what it adds to base */
	uint32_t node;
	uint32_t thread;	/* of the trace */
	uint32_t stack;		/* of all epochs, from 1; 0: none, UINT32_MAX: lost */
	uint16_t cpu;
	uint8_t metric;
	bool user;
};

struct flow_times {
	struct flow_time *list;	/* in no order */
	size_t nr_list, alloc_list;
	uint64_t start_ns;	/* of the recording */
};

void flow_times_release(struct flow_times *t);
void flow_times_add(struct flow_times *t, const struct flow_time *x);

/* Move samples to another tree, where node i is where[i]; 0: it was dropped, and its samples with it. */
void flow_times_move(struct flow_times *t, const uint32_t *where);

/* Sorts by metric, by the number of the node in rank[], and by time. */
void flow_times_sort(struct flow_times *t, const uint32_t *rank);
/* Sorts by time; those of one moment stay as they are. */
void flow_times_sort_by_time(struct flow_times *t);

#endif
