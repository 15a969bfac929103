// SPDX-License-Identifier: GPL-2.0-or-later
/* claims.c - collects what addresses of a process are used for (claims.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "resident/claims.h"

void claims_release(struct claims *c)
{
	free(c->items);
	*c = (struct claims){ 0 };
}

size_t claims_from(const struct claims *c, uint64_t addr)
{
	return BISECT(i, c->nr, c->items[i].end <= addr);
}

static void claims_insert(struct claims *c, size_t at, uint64_t start, uint64_t end, enum resident_part part,
			  const char *name)
{
	struct claim *x;

	VEC_GROW(c->items, c->nr, c->alloc);
	x = &c->items[at];
	memmove(x + 1, x, (c->nr - at) * sizeof(*x));
	c->nr++;
	*x = (struct claim){ start, end, part, "" };
	snprintf(x->name, sizeof(x->name), "%s", name);
}

void claims_add(struct claims *c, uint64_t start, uint64_t end, enum resident_part part, const char *name)
{
	size_t i = claims_from(c, start);

	while (start < end) {
		uint64_t until = i < c->nr ? MIN(end, c->items[i].start) : end;

		if (start < until) {
			claims_insert(c, i, start, until, part, name);
			i++;
		}
		if (i >= c->nr)
			return;
		start = MAX(until, c->items[i].end);
		i++;
	}
}
