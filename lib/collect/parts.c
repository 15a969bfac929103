// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parts.c - the parts of a recording: a new source of data is a row here. Apart from what calls them, so that
 * no part needs all others.
 */
#include "base/mem.h"
#include "collect/part.h"
#include "collect/state.h"

/* Dispatches end first, and have ended last; between the others the order does not matter. */
static const struct part *const parts[] = {
	&sched_part, &footprint_part, &live_part, &virtuals_part, &wall_part, &memory_part, &locks_part,
	&triggers_part, &timed_part,
};

void parts_init(struct collect *c)
{
	c->parts = parts;
	c->nr_parts = ARRAY_SIZE(parts);
}
