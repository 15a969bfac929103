// SPDX-License-Identifier: GPL-2.0-or-later
/* kinds.c - see kinds.h. */
#include "base/mem.h"
#include "heap/kinds.h"

void kinds_change(struct object_kinds *k, struct object_kind *at, const struct object_kind *to)
{
	if (at->nr)
		*VEC_ADD(k->list, k->nr, k->alloc) = *at;
	*at = *to;
}

void kinds_finish(struct object_kinds *k)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(k->table); i++)
		kinds_change(k, &k->table[i], &(struct object_kind){ 0 });
}

void kinds_release(struct object_kinds *k)
{
	free(k->list);
	k->list = NULL;
	k->nr = k->alloc = 0;
}
