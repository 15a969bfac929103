// SPDX-License-Identifier: GPL-2.0-or-later
/* cut.c - cuts samples to a window of time and to phases (cut.h). */
#include "base/mem.h"
#include "model/cut.h"

static bool is_in_window(const struct window *w, uint64_t time_ns)
{
	return time_ns >= w->reset_ns && window_has(w, time_ns);
}

static uint64_t lower_bound(const struct window *w)
{
	return MAX(w->from_ns, w->reset_ns);
}

bool cut_in_window(const struct cut *c, const struct rec_sample *r)
{
	const struct window *w = c->window;

	if (!cut_lasts(c, r))
		return is_in_window(w, r->time_ns);
	return MAX(r->time_ns - MIN(r->weight, r->time_ns), lower_bound(w)) < MIN(r->time_ns, w->to_ns);
}

bool cut_next(const struct cut *c, const struct rec_sample *r, uint64_t *at_ns, struct rec_sample *part)
{
	const struct window *w = c->window;
	uint64_t from = r->time_ns - MIN(r->weight, r->time_ns), to = MIN(r->time_ns, w->to_ns);
	const bool first = !*at_ns;

	*part = *r;
	if (!cut_lasts(c, r)) {
		*at_ns = UINT64_MAX;
		return first && is_in_window(w, r->time_ns);
	}
	from = MAX(MAX(from, *at_ns), lower_bound(w));
	if (from >= to || !filter_next_part(c->filter, r->thread, &from, to, &to))
		return false;
	part->time_ns = *at_ns = to;
	part->weight = to - from;
	/* a clock that began later than the wait: no sum may lose that */
	if (!from)
		part->weight += r->weight - MIN(r->weight, r->time_ns);
	if (!first)
		part->more = -1;
	return true;
}

bool cut_sum(const struct cut *c, const struct rec_sample *r, struct rec_sample *sum)
{
	struct rec_sample part;
	uint64_t at = 0;

	if (!cut_next(c, r, &at, sum))
		return false;
	while (cut_next(c, r, &at, &part)) {
		sum->weight += part.weight;
		sum->time_ns = part.time_ns;
	}
	return true;
}
