// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * input_nodes.c - trees as rows of nodes in any order, each with the name of its parent.
 *
 * All rows are read before the first node is made; then each row makes those above it first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "flow/tree.h"

enum { NOT_MADE = 0, BEING_MADE = UINT32_MAX };

struct row {
	size_t line_nr;
	uint32_t path, parent;		/* in paths; 0: none */
	uint32_t consumer;
	uint32_t node;			/* or NOT_MADE, BEING_MADE */
	uint64_t n;
};

struct nodes {
	struct tree_parser *x;
	struct row *rows;
	uint64_t *base;			/* [row][metric] */
	size_t nr_rows, alloc_rows, alloc_base;
	struct strtab paths;
	struct map row_of;		/* path -> row */
	uint32_t *stack;		/* rows from the one that is wanted up to one whose parent exists */
	size_t nr_stack, alloc_stack;
};

static uint32_t path_field(struct nodes *d, const char **p, const char *end)
{
	size_t len;
	const char *s = tree_field(p, end, &len);

	if (!len || (len == 1 && *s == '0'))
		return 0;
	return strtab_add(&d->paths, s, len);
}

static uint64_t *row_base(struct nodes *d, size_t row)
{
	return d->base + row * d->x->m->flow.nr_metrics;
}

/* Add the values of the last row, which is another one of a known node. */
static int add_to(struct nodes *d, uint32_t to, const struct row *r, struct err *e)
{
	struct row *known = &d->rows[to];
	unsigned int i;

	if (known->parent != r->parent || known->consumer != r->consumer)
		return text_bad(&d->x->t, e, "path '%.40s' has another parent or name than in line %zu",
				strtab_get(&d->paths, r->path), known->line_nr);
	known->n += r->n;
	for (i = 0; i < d->x->m->flow.nr_metrics; i++)
		row_base(d, to)[i] += row_base(d, d->nr_rows)[i];
	return 0;
}

static int read_row(struct nodes *d, const char *line, size_t len, struct err *e)
{
	const char *p = line, *end = line + len;
	unsigned int nr_metrics = d->x->m->flow.nr_metrics;
	struct row row = { .line_nr = d->x->t.line_nr };
	uint32_t known;
	int r;

	VEC_GROW(d->rows, d->nr_rows, d->alloc_rows);
	if (d->alloc_base < d->alloc_rows) {
		d->alloc_base = d->alloc_rows;
		d->base = xrealloc(d->base, d->alloc_base * nr_metrics * sizeof(*d->base));
	}
	row.path = path_field(d, &p, end);
	row.parent = path_field(d, &p, end);
	if (!row.path || !tree_numbers(d->x, &p, end, &row.n, row_base(d, d->nr_rows)) || !p)
		return text_bad(&d->x->t, e, "want path, parent, n, %u number%s and a name, with tabs between",
				nr_metrics, plural(nr_metrics));
	if ((r = tree_consumer(d->x, p, end, &row.consumer, e)))
		return r;
	known = map_get(&d->row_of, row.path);
	if (known != MAP_NONE)
		return add_to(d, known, &row, e);
	*map_put(&d->row_of, row.path) = d->nr_rows;
	d->rows[d->nr_rows++] = row;
	return 0;
}

static int bad_row(struct nodes *d, const struct row *row, const char *what, struct err *e)
{
	d->x->t.line_nr = row->line_nr;
	return text_bad(&d->x->t, e, "the parent '%.40s' %s", strtab_get(&d->paths, row->parent), what);
}

/* Fills the stack with the row and those above it that have no node yet. */
static int climb(struct nodes *d, uint32_t at, struct err *e)
{
	struct row *row = &d->rows[at];
	uint32_t up;

	for (d->nr_stack = 0;; row = &d->rows[at = up]) {
		row->node = BEING_MADE;
		*VEC_ADD(d->stack, d->nr_stack, d->alloc_stack) = at;
		if (!row->parent)
			return 0;
		up = map_get(&d->row_of, row->parent);
		if (up == MAP_NONE)
			return bad_row(d, row, "has no row", e);
		if (d->rows[up].node == BEING_MADE)
			return bad_row(d, row, "is below this node itself", e);
		if (d->rows[up].node != NOT_MADE)
			return 0;
	}
}

static int make_node(struct nodes *d, uint32_t at, struct err *e)
{
	struct flow *f = &d->x->m->flow;
	int r;

	if (d->rows[at].node != NOT_MADE)
		return 0;
	if ((r = climb(d, at, e)))
		return r;
	while (d->nr_stack) {
		uint32_t i = d->stack[--d->nr_stack];
		struct row *row = &d->rows[i];
		uint32_t parent = row->parent ? d->rows[map_get(&d->row_of, row->parent)].node : FLOW_NONE;

		row->node = flow_child(f, parent, row->consumer);
		flow_add(f, row->node, row->n, row_base(d, i));
	}
	return 0;
}

int tree_nodes(struct tree_parser *x, struct err *e)
{
	struct nodes d = { .x = x };
	const char *line;
	size_t len, i;
	int r = 0;

	strtab_init(&d.paths);
	while (!r && (line = text_line(&x->t, &len)))
		if (len && *line != '#')
			r = read_row(&d, line, len, e);
	for (i = 0; !r && i < d.nr_rows; i++)
		r = make_node(&d, i, e);
	strtab_release(&d.paths);
	map_release(&d.row_of);
	free(d.rows);
	free(d.base);
	free(d.stack);
	return r;
}
