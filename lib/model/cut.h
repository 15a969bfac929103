/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cut.h - what of a sample lies in a window of time, and in the phases that a filter keeps.
 *
 * A sample of a wait is written when the wait is over, and weighs what it lasted: it stands for the time
 * before it, which may begin before the window or end after it. So it is cut at both ends, and ranges that
 * follow each other add up to the whole. Other samples stand for a moment, which is in the window or is not.
 */
#ifndef MODEL_CUT_H
#define MODEL_CUT_H

#include "model/filter.h"
#include "model/names.h"

struct cut {
	const struct window *window;
	const struct filter *filter;	/* NULL: there is none */
	uint64_t lasting;		/* events whose samples last, as bits */
	const struct names *own;	/* says which threads are arcprof's, and left out; NULL: none is */
	uint32_t wall;			/* the event of which they are */
};

/* Prepare; x must be read, window and filter are borrowed. */
static inline void cut_init(struct cut *c, const struct names *x, const struct window *window,
			    const struct filter *filter)
{
	*c = (struct cut){ window, filter, names_lasting_events(x),
			   x->nr_own && !x->o.own_threads ? x : NULL, names_find_event(x, "wall") };
}

/* Return whether the sample stands for the time before it, as long as its weight. */
static inline bool cut_lasts(const struct cut *c, const struct rec_sample *r)
{
	return r->event < 64 && c->lasting >> r->event & 1 && r->weight && r->time_ns;
}

/* Check whether it is a wait of a thread of arcprof's own, which the program does not have. */
static inline bool cut_is_own(const struct cut *c, const struct rec_sample *r)
{
	return c->own && r->event == c->wall && names_is_own_thread(c->own, r->thread);
}

/*
 * Finds the next part of a sample that is in the window and in wanted phases, a sample as long as that, which
 * ends with it. *at_ns is 0 before the first part, and belongs to this function. A sample is counted once,
 * with its first part. What does not last is one part, whose phase filter_wants_sample() has looked at.
 */
bool cut_next(const struct cut *c, const struct rec_sample *r, uint64_t *at_ns, struct rec_sample *part);
/* Add up all parts: their length together, and the end of the last. Returns false if there are none. */
bool cut_sum(const struct cut *c, const struct rec_sample *r, struct rec_sample *sum);
/* Return whether a part of it is in the window, of whatever phases. */
bool cut_in_window(const struct cut *c, const struct rec_sample *r);

#endif
