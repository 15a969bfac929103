// SPDX-License-Identifier: GPL-2.0-or-later
/* top_rows.c - folds samples into the rows of arcprof top (top_rows.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "show/top_rows.h"

const char *const top_folds[] = { "function", "module", "thread", "process", NULL };
const char *const top_sorts[] = { "self", "total", "n", NULL };

/* The keys of consumers in a fold by modules; code of the JVM's compilers is one module. */
enum { KEY_JAVA = 1, KEY_MODULE, KEY_NAME };

static uint64_t top_rows_key_of(const struct consumer *c, enum top_fold fold)
{
	if (fold == TOP_THREAD || fold == TOP_PROCESS)
		return c->key;
	if (c->kind == CONSUMER_THREAD || c->kind == CONSUMER_PROCESS)
		return (uint64_t)c->name << 32 | UINT32_MAX;	/* where there are no stacks */
	if (fold == TOP_FUNCTION)
		return (uint64_t)c->name << 32 | c->module;
	if (kind_is(c->kind, KIND_JVM))
		return KEY_JAVA;
	return c->module ? (uint64_t)c->module << 32 | KEY_MODULE : (uint64_t)c->name << 32 | KEY_NAME;
}

static uint32_t row_for(struct top_rows *r, const struct model *m, uint32_t consumer)
{
	uint32_t *at = map_put(&r->row_of, top_rows_key_of(&m->consumers.items[consumer], r->fold));

	if (*at == MAP_NONE) {
		*at = r->nr;
		*VEC_ADD(r->list, r->nr, r->alloc) = (struct top_row){ .consumer = consumer };
	}
	return *at;
}

/* Return the row of each node; a process or thread includes everything below it. */
static uint32_t *rows_of_nodes(struct top_rows *r, const struct model *m, const struct flow *f)
{
	uint32_t *row = xcalloc(f->nr_nodes, sizeof(*row));
	const uint32_t kind = r->fold == TOP_THREAD ? CONSUMER_THREAD :
			      r->fold == TOP_PROCESS ? CONSUMER_PROCESS : CONSUMER_NR;
	size_t i;

	row[0] = MAP_NONE;
	for (i = 1; i < f->nr_nodes; i++) {
		const struct flow_node *x = &f->nodes[i];

		if (kind == CONSUMER_NR || m->consumers.items[x->consumer].kind == kind)
			row[i] = row_for(r, m, x->consumer);
		else
			row[i] = row[x->parent];
	}
	return row;
}

/* Return the size of each subtree. A parent comes before its children. */
static uint32_t *subtree_sizes(const struct flow *f)
{
	uint32_t *size = xcalloc(f->nr_nodes, sizeof(*size));
	size_t i;

	for (i = f->nr_nodes; i-- > 1;)
		size[f->nodes[i].parent] += ++size[i];
	return size;
}

/*
 * Add up in preorder, so that a node is below one of the same row exactly when that one's subtree is not
 * over.
 */
static void top_rows_add_up(struct top_rows *r, const struct flow *f, const uint32_t *row)
{
	uint32_t *size = subtree_sizes(f), *over = xcalloc(r->nr + 1, sizeof(*over)), at = 0, i;

	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i), at++) {
		struct top_row *x;

		r->n += f->nodes[i].n;
		r->total += *flow_base(f, i);
		if (row[i] == MAP_NONE)
			continue;
		x = &r->list[row[i]];
		x->self += *flow_base(f, i);
		x->n += f->nodes[i].n;
		if (at < over[row[i]])
			continue;
		over[row[i]] = at + size[i];
		x->total += *flow_cum(f, i);
	}
	free(size);
	free(over);
}

static bool top_rows_is_wanted(const struct top_rows *r, const struct model *m, const struct top_row *x,
			       const char *filter)
{
	const uint32_t kind = m->consumers.items[x->consumer].kind;
	const bool holds = kind == CONSUMER_PROCESS || kind == CONSUMER_THREAD;

	/* it is a row among functions only with samples that have no stack */
	if (holds && r->fold != TOP_PROCESS && r->fold != TOP_THREAD ? !x->self : !x->total)
		return false;
	return !*filter || strcasestr(top_row_name(r, m, x), filter) ||
	       strcasestr(top_row_module(r, m, x), filter);
}

static int top_rows_compare(const void *p, const void *q, void *ctx)
{
	const struct top_row *a = p, *b = q;
	const enum top_sort *by = ctx;
	int self = COMPARE(b->self, a->self), total = COMPARE(b->total, a->total);
	int n = COMPARE(b->n, a->n), first = *by == TOP_SELF ? self : *by == TOP_TOTAL ? total : n;

	return first ?: self ?: total ?: COMPARE(a->consumer, b->consumer);
}

void top_rows_make(struct top_rows *r, const struct model *m, const struct flow *f, enum top_fold fold,
		   enum top_sort sort, const char *filter)
{
	uint32_t *row;
	size_t i, nr = 0;

	r->fold = fold;
	r->nr = 0;
	r->total = r->n = 0;
	map_reset(&r->row_of);
	if (f->nr_nodes > 1) {
		row = rows_of_nodes(r, m, f);
		top_rows_add_up(r, f, row);
		free(row);
	}
	for (i = 0; i < r->nr; i++)
		if (top_rows_is_wanted(r, m, &r->list[i], filter))
			r->list[nr++] = r->list[i];
	r->nr = nr;
	if (nr)
		qsort_r(r->list, nr, sizeof(*r->list), top_rows_compare, &sort);
}

void top_rows_release(struct top_rows *r)
{
	free(r->list);
	map_release(&r->row_of);
}

static const char *top_rows_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *top_row_module(const struct top_rows *r, const struct model *m, const struct top_row *row)
{
	const struct consumer *c = &m->consumers.items[row->consumer];

	if (r->fold != TOP_FUNCTION)
		return "";
	if (kind_is(c->kind, KIND_JVM))
		return "[java]";
	return c->module ? top_rows_base_name(model_str(m, c->module)) : "";
}

const char *top_row_name(const struct top_rows *r, const struct model *m, const struct top_row *row)
{
	const struct consumer *c = &m->consumers.items[row->consumer];

	if (r->fold == TOP_MODULE && kind_is(c->kind, KIND_JVM))
		return "[java]";
	if (r->fold == TOP_MODULE && c->module)
		return top_rows_base_name(model_str(m, c->module));
	return model_str(m, c->name);
}

uint32_t top_row_id(const struct model *m, const struct top_row *row)
{
	const struct consumer *c = &m->consumers.items[row->consumer];

	return c->kind == CONSUMER_PROCESS ? c->key >> 32 : c->kind == CONSUMER_THREAD ? (uint32_t)c->key : 0;
}
