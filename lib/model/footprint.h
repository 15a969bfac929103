/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * footprint.h - where the resident memory of processes was during a recording (record --memory), as
 * lib/resident would say of a running one.
 */
#ifndef MODEL_FOOTPRINT_H
#define MODEL_FOOTPRINT_H

#include "model/names.h"
#include "resident/resident.h"

struct footprint {			/* one reading of one process */
	uint64_t time_ns;		/* after the start of the recording */
	uint32_t proc;
	struct resident r;		/* sums, no pieces; total is that of the parts */
};

struct footprints_read {
	struct names names;
	struct model strings;		/* theirs */
	struct footprint *list;		/* by process, as they began, and time */
	size_t nr, alloc;
};

/* -ENODATA: the trace has none of the selected processes. To be released in any case. */
int footprints_read(struct footprints_read *f, struct trace_reader *t, uint64_t pid, struct err *e);
void footprints_release(struct footprints_read *f);

#endif
