// SPDX-License-Identifier: GPL-2.0-or-later
/* index.c - sorts the rows of a table by a column (index.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "query/vtab.h"

enum { DIGIT_BITS = 11, DIGITS = 3 };

/* Sort by a digit, stably, so that rows with the same value stay in order. */
static void sort_by_digit(const struct query_index_entry *from, struct query_index_entry *to, uint32_t nr,
			  unsigned int shift)
{
	enum { NR = 1 << DIGIT_BITS };
	uint32_t at[NR + 1] = { 0 }, i;

	for (i = 0; i < nr; i++)
		at[(from[i].value >> shift) % NR + 1]++;
	for (i = 0; i < NR; i++)
		at[i + 1] += at[i];
	for (i = 0; i < nr; i++)
		to[at[(from[i].value >> shift) % NR]++] = from[i];
}

static void query_index_sort(struct query_index *x)
{
	struct query_index_entry *other = xcalloc(x->nr + 1, sizeof(*other)), *sorted = other;
	unsigned int i;

	for (i = 0; i < DIGITS; i++) {
		sort_by_digit(x->list, other, x->nr, i * DIGIT_BITS);
		sorted = other;
		other = x->list;
		x->list = sorted;
	}
	free(other);
}

void query_index_init(struct query_index *x, const struct query_data *d, const struct query_table *t,
		      unsigned int column)
{
	uint32_t nr = t->nr_rows(d), row;
	uint64_t v;

	*x = (struct query_index){ .list = xcalloc((size_t)nr + 1, sizeof(*x->list)) };
	for (row = 0; row < nr; row++)
		if (t->number(d, &(struct query_cell){ row, column, 0 }, &v) && v <= UINT32_MAX)
			x->list[x->nr++] = (struct query_index_entry){ v, row };
		else
			x->has_nulls = true;
	query_index_sort(x);
}

void query_index_release(struct query_index *x)
{
	free(x->list);
	*x = (struct query_index){ .list = NULL };
}

uint32_t query_index_find(const struct query_index *x, uint64_t v)
{
	return BISECT(i, x->nr, x->list[i].value < v);
}
