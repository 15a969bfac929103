// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * drain.c - lets every file ask for what was recorded up to a moment, without knowing the files that take it
 * in: collect.c names these (struct collect).
 */
#include "collect/engine/recording.h"

void collect_merge(struct collect *c, uint64_t until_ns)
{
	if (until_ns <= c->merged_ns)
		return;
	c->merged_ns = until_ns;
	merge_drain(c->ev.rings, c->ev.nr_rings, until_ns, c->record, c);
}

void collect_hear_agents(struct collect *c, bool all)
{
	c->hear_agents(c, all);
}
