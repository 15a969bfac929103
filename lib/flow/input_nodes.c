// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * input_nodes.c - trees as rows of nodes in any order, each with the name of its parent.
 *
 * All rows are read before the first node is made; then each row makes those above it first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "flow/tree.h"

enum { NOT_MADE = 0, BEING_MADE = UINT32_MAX };

struct row {
	size_t line_nr;
	const char *path, *parent;	/* in the text */
	uint32_t path_len, parent_len;	/* 0: none */
	uint32_t consumer;
	uint32_t node;			/* or NOT_MADE, BEING_MADE */
	uint64_t n;
};

struct nodes {
	struct tree_parser *x;
	struct row *rows;
	uint64_t *base;			/* [row][metric] */
	size_t nr_rows, alloc_rows, alloc_base;
	struct map row_of;		/* hash of a path, or the next that is free -> row */
	struct map named_of;		/* hash of what a line says behind its numbers -> index in named */
	struct nodes_named {
		const char *text;
		size_t len;
		uint32_t consumer;
	} *named;
	size_t nr_named, alloc_named;
	uint32_t *stack;		/* rows from the one that is wanted up to one whose parent exists */
	size_t nr_stack, alloc_stack;
	uint32_t above;			/* the row of that parent; MAP_NONE: a root has none */
};

static const char *path_field(const char **p, const char *end, uint32_t *len)
{
	size_t n;
	const char *s = tree_field(p, end, &n);

	*len = n == 1 && *s == '0' ? 0 : MIN(n, (size_t)UINT32_MAX);
	return s;
}

/* Return the row of that path, or MAP_NONE; *key is where it is, or belongs. */
static uint32_t find_row(const struct nodes *d, const char *path, uint32_t len, uint64_t *key)
{
	uint32_t at;

	for (*key = hash_bytes(path, len);; ++*key) {
		at = map_get(&d->row_of, *key);
		if (at == MAP_NONE ||
		    (d->rows[at].path_len == len && !memcmp(d->rows[at].path, path, len)))
			return at;
	}
}

/* Parse the rest of a line as tree_consumer() does: once, however many nodes a function has. */
static int find_consumer(struct nodes *d, const char *p, const char *end, uint32_t *id, struct err *e)
{
	size_t len = end - p;
	uint32_t *at = map_put(&d->named_of, hash_bytes(p, len));
	int r;

	if (*at != MAP_NONE && d->named[*at].len == len && !memcmp(d->named[*at].text, p, len)) {
		*id = d->named[*at].consumer;
		return 0;
	}
	r = tree_consumer(d->x, p, end, id, e);
	if (!r) {
		*at = d->nr_named;
		*VEC_ADD(d->named, d->nr_named, d->alloc_named) = (struct nodes_named){ p, len, *id };
	}
	return r;
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

	if (known->parent_len != r->parent_len || memcmp(known->parent, r->parent, r->parent_len) != 0 ||
	    known->consumer != r->consumer)
		return text_bad(&d->x->t, e, "path '%.*s' has another parent or name than in line %zu",
				MIN((int)r->path_len, 40), r->path, known->line_nr);
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
	uint64_t key;
	int r;

	VEC_GROW(d->rows, d->nr_rows, d->alloc_rows);
	if (d->alloc_base < d->alloc_rows) {
		d->alloc_base = d->alloc_rows;
		d->base = xrealloc(d->base, d->alloc_base * nr_metrics * sizeof(*d->base));
	}
	row.path = path_field(&p, end, &row.path_len);
	row.parent = path_field(&p, end, &row.parent_len);
	if (!row.path_len || !tree_numbers(d->x, &p, end, &row.n, row_base(d, d->nr_rows)) || !p)
		return text_bad(&d->x->t, e, "want path, parent, n, %u number%s and a name, with tabs between",
				nr_metrics, plural(nr_metrics));
	if ((r = find_consumer(d, p, end, &row.consumer, e)))
		return r;
	known = find_row(d, row.path, row.path_len, &key);
	if (known != MAP_NONE)
		return add_to(d, known, &row, e);
	*map_put(&d->row_of, key) = d->nr_rows;
	d->rows[d->nr_rows++] = row;
	return 0;
}

static int bad_row(struct nodes *d, const struct row *row, const char *what, struct err *e)
{
	d->x->t.line_nr = row->line_nr;
	return text_bad(&d->x->t, e, "the parent '%.*s' %s", MIN((int)row->parent_len, 40), row->parent,
			what);
}

/* Fills the stack with the row and those above it that have no node yet. */
static int climb(struct nodes *d, uint32_t at, struct err *e)
{
	struct row *row = &d->rows[at];
	uint64_t key;
	uint32_t up;

	for (d->nr_stack = 0;; row = &d->rows[at = up]) {
		row->node = BEING_MADE;
		*VEC_ADD(d->stack, d->nr_stack, d->alloc_stack) = at;
		d->above = MAP_NONE;
		if (!row->parent_len)
			return 0;
		up = d->above = find_row(d, row->parent, row->parent_len, &key);
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
	uint32_t node;
	int r;

	if (d->rows[at].node != NOT_MADE)
		return 0;
	if ((r = climb(d, at, e)))
		return r;
	node = d->above == MAP_NONE ? FLOW_NONE : d->rows[d->above].node;
	while (d->nr_stack) {
		uint32_t i = d->stack[--d->nr_stack];
		struct row *row = &d->rows[i];

		row->node = node = flow_child(f, node, row->consumer);
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

	while (!r && (line = text_line(&x->t, &len)))
		if (len && *line != '#')
			r = read_row(&d, line, len, e);
	for (i = 0; !r && i < d.nr_rows; i++)
		r = make_node(&d, i, e);
	map_release(&d.row_of);
	map_release(&d.named_of);
	free(d.named);
	free(d.rows);
	free(d.base);
	free(d.stack);
	return r;
}
