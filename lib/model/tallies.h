/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tallies.h - what JVMs counted of themselves while they were recorded, beside what was recorded of that:
 * pauses of the collector and events "pause", waits for monitors and those of the locks.
 */
#ifndef MODEL_TALLIES_H
#define MODEL_TALLIES_H

#include "base/err.h"
#include "model/checks.h"
#include "model/names.h"

/* The tally of a process, of one kind (enum tally_kind). */
struct tally {
	uint32_t proc, kind;		/* proc: its number in the trace */
	uint32_t pid;
	uint64_t begin_ns, end_ns;	/* what ended in that time is compared */
	uint64_t n, ns;			/* by the JVM's count */
	uint64_t recorded_n, recorded_ns;
	const char *why;		/* the JVM's count is not known; "": it is */
};

struct tallies {
	struct tally *list;
	size_t nr, alloc;
	struct map by_proc;		/* process and kind -> index; it is of one alone */
	struct arena text;
};

/*
 * Reads those of a trace, whose names x are read. To be released in any case. A trace without them has
 * none.
 */
int tallies_read(struct tallies *t, const struct names *x, struct trace_reader *r, struct err *e);
void tallies_release(struct tallies *t);

/*
 * Check that as many were recorded as the JVM counted, except those open at both ends, and that pauses took
 * no less time; more waits for monitors may be recorded.
 */
int tallies_check(struct trace_reader *r, struct sums_check *out, struct err *e);

#endif
