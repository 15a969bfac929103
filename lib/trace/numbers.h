/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers.h - maps the numbers in a file to numbers without holes. A file numbers things in ascending
 * order; where part of it is lost there are holes, and a hostile one has any. Memory thus depends on what
 * is there, not on what a record claims.
 *
 * Invariant: segments ascend in the file's numbers and in ours. Without damage there is one.
 */
#ifndef TRACE_NUMBERS_H
#define TRACE_NUMBERS_H

#include <stdbool.h>

#include "base/mem.h"

struct numbers {
	struct segment {
		uint32_t first, nr;	/* in the file's numbers */
		uint32_t local;		/* ours for first */
	} *segs;
	size_t nr_segs, alloc_segs;
};

/* Return our number for the file's number id, or UINT32_MAX if it has none. */
static inline uint32_t numbers_local(const struct numbers *n, uint32_t id)
{
	size_t at = BISECT(i, n->nr_segs, n->segs[i].first <= id);
	const struct segment *s = at ? &n->segs[at - 1] : NULL;

	return s && id - s->first < s->nr ? s->local + (id - s->first) : UINT32_MAX;
}

/* Return the first number that numbers_add() takes. */
static inline uint32_t numbers_end(const struct numbers *n)
{
	const struct segment *s = n->nr_segs ? &n->segs[n->nr_segs - 1] : NULL;

	return s ? s->first + s->nr : 1;
}

/*
 * Appends nr numbers from first on, ours from local on, which must not decrease; false: some are
 * already taken.
 */
static inline bool numbers_add(struct numbers *n, uint32_t first, uint32_t nr, uint32_t local)
{
	struct segment *s = n->nr_segs ? &n->segs[n->nr_segs - 1] : NULL;

	if (first < numbers_end(n) || nr > UINT32_MAX - first)
		return false;
	if (s && first == s->first + s->nr && local == s->local + s->nr) {
		s->nr += nr;
		return true;
	}
	*VEC_ADD(n->segs, n->nr_segs, n->alloc_segs) = (struct segment){ first, nr, local };
	return true;
}

static inline void numbers_reset(struct numbers *n)
{
	n->nr_segs = 0;
}

static inline void numbers_release(struct numbers *n)
{
	free(n->segs);
}

#endif
