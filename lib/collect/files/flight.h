/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight.h - "record --mode wrap": of a recording that may go on for ever, the last part is kept, as
 * segments (segments.h) in the folder OUTPUT.ring, of which the oldest are removed. It is written as one
 * trace at the end, to OUTPUT, and whenever that is asked for, or a condition is met (triggers.h).
 *
 * Such a dump is made by a thread of its own from segments that are closed, and open for it: the recording
 * goes on, and removes what is oldest. One is made at a time.
 */
#ifndef COLLECT_FLIGHT_H
#define COLLECT_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct collect;

enum {
	FLIGHT_LEAST_BYTES = 1 << 20,
	FLIGHT_PARTS = 8,		/* the folder holds about as many segments */
};

struct flight_dump {
	uint64_t number;		/* from 1 */
	char *path;
	enum { FLIGHT_QUEUED, FLIGHT_WRITING, FLIGHT_DONE, FLIGHT_FAILED } state;
	uint64_t span_ns;		/* from the beginning of the first segment to the end of the last */
	uint64_t nr_bytes;		/* of FLIGHT_DONE */
	struct err e;			/* of FLIGHT_FAILED */
};

struct flight_opts {
	uint64_t max_bytes;		/* of the segments; 0: all is kept, and nothing of this is done */
	/* limits of dumps beside the output, including the next: older ones are removed; 0: none */
	uint64_t keep_bytes, keep_ns;
	/* A dump was made, or could not be. May be NULL. */
	void (*dumped)(const struct flight_dump *d);
};

/* Set the options of segments, if max_bytes is given; must be called before segments_open(). */
int flight_open(struct collect *c, struct err *e);
/* Must be called after segments_open(). */
void flight_begin(struct collect *c);
/* Called at each turn: close a segment that is long enough, begin or end a dump. */
void flight_turn(struct collect *c, uint64_t now_ns);
/* Note that a segment was closed. */
void flight_closed(struct collect *c, const char *name);
/* Note that the next one is open. */
void flight_begun(struct collect *c);
/* Return how much samples may take in a segment. */
uint64_t flight_most_bytes(const struct collect *c);
/* Remove the oldest segment, as the disk is full. */
void flight_make_room(struct collect *c);
/* Write what is to be written, after the last segment was closed. */
void flight_close(struct collect *c);

/*
 * Request a dump of the last part. path NULL: beside the output, with the time and what in its name. Returns
 * the number of the dump, or -errno.
 */
int64_t flight_ask(struct collect *c, const char *path, const char *what, struct err *e);
/* Adds "writing", or "done BYTES NS PATH"; -errno: it failed, or there was none of that number. */
int flight_state(struct collect *c, uint64_t number, struct buf *reply, struct err *e);

#endif
