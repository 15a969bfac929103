// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vtab.c - one SQLite module for all tables (https://www.sqlite.org/vtab.html): eponymous, so they are
 * there without being created, and read-only.
 *
 * A plan is a column and whether a lower and an upper bound of it are given; the rows are then a range,
 * of the table itself where values ascend with the rows, else of an index of that column.  Bounds are
 * taken as inclusive: SQLite looks again at each row it gets.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "query/index.h"
#include "query/vtab.h"

enum plan_bits {
	PLAN_COLUMN = 0xff,
	PLAN_LOWER = 1 << 8,
	PLAN_UPPER = 1 << 9,		/* with PLAN_LOWER, in this order */
	PLAN_EQUAL = 1 << 10,		/* one value is both */
	PLAN_INDEX = 1 << 11,		/* in the order of the index, with bounds or without */
	PLAN_REVERSE = 1 << 12,		/* in descending order */
};

struct vtab {
	sqlite3_vtab base;
	struct vtab_source *source;
	struct query_index **indexes;	/* [column] */
	unsigned int nr_fixed;		/* columns that are there once */
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct query_index *index;	/* NULL: the rows themselves */
	uint32_t begin, at, end;	/* rows, or entries of the index */
	bool reverse;
};

/* ---- columns: a column of metrics is there once for each ---- */

static unsigned int nr_fixed(const struct query_table *t)
{
	unsigned int i = t->nr_columns;

	while (i && t->columns[i - 1].flags & COLUMN_OF_METRIC)
		i--;
	return i;
}

static struct query_cell cell(const struct vtab *v, uint32_t row, unsigned int column)
{
	unsigned int fixed = v->nr_fixed, per_metric = v->source->table->nr_columns - fixed;

	if (column < fixed || !per_metric)
		return (struct query_cell){ row, column, 0 };
	column -= fixed;
	return (struct query_cell){ row, fixed + column % per_metric, column / per_metric };
}

static char *declaration(const struct query_table *t, unsigned int nr_metrics)
{
	sqlite3_str *s = sqlite3_str_new(NULL);
	unsigned int fixed = nr_fixed(t), i, m;

	sqlite3_str_appendall(s, "CREATE TABLE x(");
	for (i = 0; i < fixed; i++)
		sqlite3_str_appendf(s, "%s%s %s", i ? ", " : "", t->columns[i].name,
				    t->columns[i].flags & COLUMN_TEXT ? "TEXT" : "INTEGER");
	for (m = 0; m < nr_metrics; m++)
		for (i = fixed; i < t->nr_columns; i++)
			if (m)
				sqlite3_str_appendf(s, ", %s%d INTEGER", t->columns[i].name, m + 1);
			else
				sqlite3_str_appendf(s, ", %s INTEGER", t->columns[i].name);
	sqlite3_str_appendall(s, ")");
	return sqlite3_str_finish(s);
}

/* ---- connecting: the trace is read then ---- */

static int load(struct vtab_source *s, char **message)
{
	struct err e = { 0 };
	int r = s->table->load(s->data, &e);

	if (!r)
		return SQLITE_OK;
	if (r == -ENODATA) {		/* not recorded: a table without rows */
		snprintf(s->note, sizeof(s->note), "%s is empty: %s", s->table->name, e.msg);
		return SQLITE_OK;
	}
	s->shared->failed = e;
	*message = sqlite3_mprintf("%s", e.msg);
	return SQLITE_ERROR;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **message)
{
	struct vtab_source *s = aux;
	int r = load(s, message);
	struct vtab *v;
	char *sql;

	if (r)
		return r;
	sql = declaration(s->table, query_data_nr_metrics(s->data));
	s->shared->declaring = true;
	r = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	s->shared->declaring = false;
	sqlite3_free(sql);
	if (r)
		return r;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	v = xcalloc(1, sizeof(*v));
	v->source = s;
	v->nr_fixed = nr_fixed(s->table);
	v->indexes = xcalloc(s->table->nr_columns, sizeof(struct query_index *));
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	struct vtab *v = (struct vtab *)base;
	unsigned int i;

	for (i = 0; i < v->source->table->nr_columns; i++)
		if (v->indexes[i]) {
			query_index_release(v->indexes[i]);
			free(v->indexes[i]);
		}
	free(v->indexes);
	free(v);
	return SQLITE_OK;
}

static uint32_t nr_rows(const struct vtab *v)
{
	return v->source->note[0] ? 0 : v->source->table->nr_rows(v->source->data);
}

/* ---- planning ---- */

struct plan {
	int lower, upper;		/* numbers of constraints; -1: none */
	bool equal;
	double cost;
	uint64_t rows;
};

static unsigned int flags_of(const struct vtab *v, int column)
{
	return column < 0 || column >= (int)v->nr_fixed ? 0 : v->source->table->columns[column].flags;
}

static bool finds_rows(unsigned int flags)
{
	return flags & (COLUMN_ROW | COLUMN_ROW1 | COLUMN_ASCENDS | COLUMN_INDEX);
}

/* What the constraints of one column are good for. */
static struct plan plan_of(const sqlite3_index_info *x, unsigned int column, unsigned int flags, uint64_t nr)
{
	struct plan p = { .lower = -1, .upper = -1 };
	int i;

	for (i = 0; i < x->nConstraint; i++) {
		if (!x->aConstraint[i].usable || x->aConstraint[i].iColumn != (int)column)
			continue;
		switch (x->aConstraint[i].op) {
		case SQLITE_INDEX_CONSTRAINT_EQ:
			p.lower = p.upper = i;
			p.equal = true;
			p.rows = flags & COLUMN_UNIQUE ? 1 : 1 + nr / 256;
			p.cost = 20 + p.rows;
			return p;
		case SQLITE_INDEX_CONSTRAINT_GT:
		case SQLITE_INDEX_CONSTRAINT_GE:
			p.lower = i;
			break;
		case SQLITE_INDEX_CONSTRAINT_LT:
		case SQLITE_INDEX_CONSTRAINT_LE:
			p.upper = i;
			break;
		}
	}
	if (p.lower < 0 && p.upper < 0)
		return p;
	p.rows = p.lower >= 0 && p.upper >= 0 ? 1 + nr / 20 : 1 + nr / 3;
	p.cost = 30 + p.rows;
	return p;
}

static void take_plan(sqlite3_index_info *x, const struct plan *p, unsigned int column, unsigned int flags)
{
	int nr = 0;

	x->idxNum = column | (flags & COLUMN_INDEX ? PLAN_INDEX : 0);
	if (p->lower >= 0) {
		x->aConstraintUsage[p->lower].argvIndex = ++nr;
		x->idxNum |= PLAN_LOWER;
	}
	if (p->equal) {
		x->idxNum |= PLAN_EQUAL;
	} else if (p->upper >= 0) {
		x->aConstraintUsage[p->upper].argvIndex = ++nr;
		x->idxNum |= PLAN_UPPER;
	}
	if (p->equal && p->rows == 1 && flags & COLUMN_UNIQUE)
		x->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	x->estimatedCost = p->cost;
	x->estimatedRows = p->rows;
}

/* Rows that SQLite keeps of all it gets: a name chooses few, and then what is joined is looked up for few. */
static uint64_t nr_left(const sqlite3_index_info *x, uint64_t nr)
{
	int i;

	for (i = 0; i < x->nConstraint; i++)
		if (x->aConstraint[i].usable && x->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			nr = 1 + nr / 256;
	return nr;
}

/* The column by which the rows can be read in the order that is wanted; -1: none. */
static int ordered_by(const struct vtab *v, const sqlite3_index_info *x)
{
	int column = x->nOrderBy == 1 ? x->aOrderBy[0].iColumn : -1;

	return finds_rows(flags_of(v, column)) ? column : -1;
}

/* Groups may come in any order. */
static int direction(sqlite3_index_info *x)
{
	return x->aOrderBy[0].desc && !sqlite3_vtab_distinct(x) ? PLAN_REVERSE : 0;
}

/* An index leaves out rows without a value. */
static bool has_nulls(struct vtab *v, unsigned int column);

static int fail(struct vtab *v, const struct err *e)
{
	v->source->shared->failed = *e;
	sqlite3_free(v->base.zErrMsg);
	v->base.zErrMsg = sqlite3_mprintf("%s", e->msg);
	return SQLITE_ERROR;
}

static int use_columns(struct vtab *v, uint64_t columns)
{
	const struct query_table *t = v->source->table;
	struct err e = { 0 };

	return t->use && t->use(v->source->data, columns, &e) ? fail(v, &e) : SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *x)
{
	struct vtab *v = (struct vtab *)base;
	const struct query_table *t = v->source->table;
	struct plan best = { .cost = INFINITY }, p;
	uint64_t nr = nr_rows(v);
	int column = -1, order = ordered_by(v, x);
	unsigned int i;

	if (use_columns(v, x->colUsed))
		return SQLITE_ERROR;
	for (i = 0; i < v->nr_fixed; i++) {
		if (!finds_rows(t->columns[i].flags))
			continue;
		p = plan_of(x, i, t->columns[i].flags, nr);
		if (p.rows && p.cost < best.cost) {
			best = p;
			column = i;
		}
	}
	if (column >= 0 && best.cost < nr + 40.0) {
		take_plan(x, &best, column, t->columns[column].flags);
		x->orderByConsumed = order == column;
		x->idxNum |= order == column ? direction(x) : 0;
		return SQLITE_OK;
	}
	x->estimatedCost = nr + 10.0;
	x->estimatedRows = nr_left(x, nr);
	if (order < 0 || (flags_of(v, order) & COLUMN_INDEX && has_nulls(v, order)))
		return SQLITE_OK;
	x->orderByConsumed = true;
	x->idxNum = direction(x);
	if (flags_of(v, order) & COLUMN_INDEX) {
		x->idxNum |= order | PLAN_INDEX;
		x->estimatedCost *= 1.2;
	}
	return SQLITE_OK;
}

/* ---- rows ---- */

/* NULL: there is no room for it. */
static const struct query_index *index_of(struct vtab *v, unsigned int column, struct err *e)
{
	struct query_data *d = v->source->data;

	if (!v->indexes[column] &&
	    !query_data_charge(d, (uint64_t)nr_rows(v) * sizeof(struct query_index_entry), e)) {
		v->indexes[column] = xcalloc(1, sizeof(*v->indexes[column]));
		query_index_init(v->indexes[column], d, v->source->table, column);
	}
	return v->indexes[column];
}

static bool has_nulls(struct vtab *v, unsigned int column)
{
	struct err e;
	const struct query_index *x = nr_rows(v) ? index_of(v, column, &e) : NULL;

	return !x || x->has_nulls;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *c = xcalloc(1, sizeof(*c));

	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

/*
 * Widens [*from, *to] no further than the bound allows; false: nothing can be within it.  What is no number
 * bounds nothing here.
 */
static bool bound(sqlite3_value *value, bool lower, bool upper, uint64_t *from, uint64_t *to)
{
	double real;
	int64_t v;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_NULL:
		return false;
	case SQLITE_INTEGER:
		v = sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (!(real > -9e18 && real < 9e18))
			return true;
		v = floor(real);
		if (upper && !lower)
			v = ceil(real);
		break;
	default:
		return true;
	}
	if (v < 0)
		return !upper;
	if (lower)
		*from = MAX(*from, (uint64_t)v);
	if (upper)
		*to = MIN(*to, (uint64_t)v);
	return true;
}

/* The first row whose value is at least v; values ascend, what is NULL comes before them. */
static uint32_t first_row(const struct vtab *v, unsigned int column, unsigned int flags, uint64_t value)
{
	const struct query_table *t = v->source->table;
	uint32_t lo = 0, hi = nr_rows(v), mid;
	uint64_t at;

	if (flags & (COLUMN_ROW | COLUMN_ROW1)) {
		value -= value && flags & COLUMN_ROW1;
		return MIN(value, (uint64_t)hi);
	}
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (!t->number(v->source->data, &(struct query_cell){ mid, column, 0 }, &at) || at < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void take_range(struct vtab *v, struct cursor *c, int plan, uint64_t from, uint64_t to)
{
	unsigned int column = plan & PLAN_COLUMN, flags = v->source->table->columns[column].flags;

	if (c->index) {
		c->at = from ? query_index_find(c->index, from) : 0;
		c->end = to == UINT64_MAX ? c->index->nr : query_index_find(c->index, to + 1);
	} else {
		c->at = from ? first_row(v, column, flags, from) : 0;
		c->end = to == UINT64_MAX ? nr_rows(v) : first_row(v, column, flags, to + 1);
	}
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct vtab *v = (struct vtab *)base->pVtab;
	uint64_t from = 0, to = UINT64_MAX;
	bool any = true, equal = plan & PLAN_EQUAL;
	struct err e = { 0 };
	int at = 0;

	c->at = c->end = 0;
	c->reverse = plan & PLAN_REVERSE;
	if (!nr_rows(v))
		return SQLITE_OK;
	c->index = plan & PLAN_INDEX ? index_of(v, plan & PLAN_COLUMN, &e) : NULL;
	if (plan & PLAN_INDEX && !c->index)
		return fail(v, &e);
	if (plan & PLAN_LOWER && at < argc)
		any = bound(argv[at++], true, equal, &from, &to);
	if (plan & PLAN_UPPER && at < argc)
		any = bound(argv[at], false, true, &from, &to) && any;
	if (any && from <= to)
		take_range(v, c, plan, from, to);
	c->begin = c->at;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->at >= c->end;
}

static uint32_t row_of(const struct cursor *c)
{
	uint32_t at = c->reverse ? c->end - 1 - (c->at - c->begin) : c->at;

	return c->index ? c->index->list[at].row : at;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = row_of((const struct cursor *)base);
	return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	const struct vtab *v = (const struct vtab *)base->pVtab;
	const struct query_table *t = v->source->table;
	struct query_cell at = cell(v, row_of((const struct cursor *)base), i);
	struct query_data *d = v->source->data;
	const char *text;
	uint64_t n;

	if (t->columns[at.column].flags & COLUMN_TEXT) {
		if ((text = t->text(d, &at)))
			sqlite3_result_text(to, text, -1, text == d->scratch.data ? SQLITE_TRANSIENT :
										    SQLITE_STATIC);
	} else if (t->number(d, &at, &n)) {
		if (n <= INT64_MAX)
			sqlite3_result_int64(to, n);
		else
			sqlite3_result_double(to, n);
	}
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = row_id,
};

int vtab_add(sqlite3 *db, struct vtab_source *s)
{
	return sqlite3_create_module_v2(db, s->table->name, &module, s, NULL);
}
