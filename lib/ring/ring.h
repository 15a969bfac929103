/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - the consumer's end of perf_event mmap rings (layout and memory order: struct
 * perf_event_mmap_page in include/uapi/linux/perf_event.h), whose records merge_drain() hands out in the
 * order of time; /dev/arcprof.
 */
#ifndef RING_RING_H
#define RING_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "arcprof_uapi.h"
#include "base/err.h"

struct ring {
	int fd;				/* owned */
	uint32_t cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t mask;			/* bytes - 1 */
	uint64_t head, tail;		/* of this drain */
	uint8_t *bounce;		/* a record that wraps, made whole */
	uint64_t bounced;		/* tail the bounce copy is of, UINT64_MAX none */
	uint64_t next_ns;		/* merge_drain(): time of the record at tail, UINT64_MAX none */
};

/*
 * Map fd's ring of bytes (a power of two); it owns fd when it returns 0. Returns -EPERM if that is more
 * than the process may lock.
 */
int ring_open(struct ring *r, int fd, uint32_t cpu, size_t bytes);
void ring_close(struct ring *r);

/* ---- /dev/arcprof, of the kernel module ---- */

/*
 * Return a descriptor of the module that is loaded, if it has all these features (enum
 * arcprof_features). Else -ENOENT, -EACCES, -EPROTO (another version), -ENOTSUP...; *e says what to do.
 */
int device_open(unsigned int features, struct err *e);

/*
 * ---- the records of several rings as one stream in the order of time ----
 *
 * A record becomes visible a little after its time stamp was taken, so a drain hands out only
 * what is not younger than "until": the time when the drain before it began will do.
 */

typedef void (*merge_fn)(void *ctx, const struct ring *r, const struct perf_event_header *h,
			 uint64_t time_ns);

/* Give fn all records not younger than until_ns; returns how many. */
size_t merge_drain(struct ring *rings, size_t nr_rings, uint64_t until_ns, merge_fn fn, void *ctx);

#endif
