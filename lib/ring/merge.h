/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge.h - the records of several rings as one stream in the order of time.
 *
 * A record becomes visible a little after its time stamp was taken, so a drain hands out only
 * what is not younger than "until": the time when the drain before it began will do.
 */
#ifndef RING_MERGE_H
#define RING_MERGE_H

#include "ring/ring.h"

typedef void (*merge_fn)(void *ctx, const struct ring *r, const struct perf_event_header *h,
			 uint64_t time_ns);

/* Gives fn all records not younger than until_ns; returns how many. */
size_t merge_drain(struct ring *rings, size_t nr_rings, uint64_t until_ns, merge_fn fn, void *ctx);

#endif
