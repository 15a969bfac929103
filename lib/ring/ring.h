/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - the consumer's end of one perf_event mmap ring (layout and memory order:
 * struct perf_event_mmap_page in include/uapi/linux/perf_event.h).
 *
 *	ring_begin(r);				what the kernel has written so far
 *	while ((h = ring_peek(r)))		borrowed until ring_next()
 *		... ring_next(r);
 *	ring_end(r);				gives the space back
 */
#ifndef RING_RING_H
#define RING_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	int fd;				/* owned */
	uint32_t cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t mask;			/* bytes - 1 */
	uint64_t head, tail;		/* of this drain */
	uint8_t *bounce;		/* a record that wraps, made whole */
	uint64_t bounced;		/* tail the bounce copy is of, UINT64_MAX none */
	uint64_t next_ns;		/* merge.c: time of the record at tail, UINT64_MAX none */
};

/*
 * Map fd's ring of bytes (a power of two); it owns fd when it returns 0. Returns -EPERM if that is more
 * than the process may lock.
 */
int ring_open(struct ring *r, int fd, uint32_t cpu, size_t bytes);
void ring_close(struct ring *r);

void ring_begin(struct ring *r);
const struct perf_event_header *ring_peek(struct ring *r);
void ring_next(struct ring *r);
void ring_end(struct ring *r);

#endif
