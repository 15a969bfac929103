// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parts.c - the table of the parts of a recording; apart from what calls them, so that no part needs all
 * others.
 */
#include "base/mem.h"
#include "collect/engine/part.h"
#include "collect/engine/recording.h"

#define PART(name) &name##_part,
static const struct part *const parts[] = { PARTS(PART) };

void parts_init(struct collect *c)
{
	size_t i;

	c->parts = parts;
	c->nr_parts = ARRAY_SIZE(parts);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i]->init)
			parts[i]->init(c);
}
