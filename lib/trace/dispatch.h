/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dispatch.h - the bytes of dispatches and interrupts: many in one record, each as the difference
 * from the one before (format.h, enum trf_dispatch).
 */
#ifndef TRACE_DISPATCH_H
#define TRACE_DISPATCH_H

#include "base/span.h"
#include "trace/record.h"
#include "trace/records.h"

struct dispatches {		/* being gathered for a chunk */
	struct records r;
	size_t at;		/* where the open record begins */
	uint32_t nr_open;	/* in it; 0: none is open */
	uint64_t nr;		/* in the chunk */
	uint64_t last_ns;
};

void dispatches_add(struct dispatches *d, const struct rec_sched *r);
/* Ends the open record: call it before the chunk is written. */
void dispatches_close(struct dispatches *d);

/* Reads the next; time_ns is the previous one's, at first the record's.  False: invalid. */
bool dispatch_decode(struct span *s, uint64_t time_ns, struct rec_sched *r);

#endif
