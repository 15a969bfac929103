// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vtab.c - one SQLite module for all tables (https://www.sqlite.org/vtab.html): eponymous, so they are
 * there without being created, and read-only.
 *
 * A plan is a column and whether a lower and an upper bound of it are given; the rows are then a range,
 * of the table itself where values ascend with the rows, else of an index of that column.  Bounds are
 * taken as inclusive: SQLite looks again at each row it gets.
 *
 * Of several traces a table has the rows of one after the other; its first column says which.  Of one that
 * column is hidden: "*" does not have it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "query/vtab.h"

enum plan_bits {
	PLAN_COLUMN = 0xff,
	PLAN_LOWER = 1 << 8,
	PLAN_UPPER = 1 << 9,		/* with PLAN_LOWER, in this order */
	PLAN_EQUAL = 1 << 10,		/* one value is both */
	PLAN_INDEX = 1 << 11,		/* in the order of the index, with bounds or without */
	PLAN_REVERSE = 1 << 12,		/* in descending order */
	PLAN_TRACE = 1 << 13,		/* of one trace: the last value names it */
};

struct vtab {
	sqlite3_vtab base;
	struct vtab_source *source;
	const struct vtab_part *parts;
	size_t nr_parts;
	struct query_index **indexes;	/* [part][column] */
	unsigned int nr_fixed;		/* columns that are there once */
	int lead;			/* columns before those of the table: 1, or 0 */
};

struct cursor {
	sqlite3_vtab_cursor base;
	int plan;
	uint64_t from, to;		/* bounds of its column */
	size_t part, end_part;
	const struct query_index *index;	/* NULL: the rows themselves */
	uint32_t begin, at, end;	/* rows, or entries of the index */
};

/* ---- columns: a column of metrics is there once for each ---- */

static unsigned int nr_fixed(const struct query_table *t)
{
	unsigned int i = t->nr_columns;

	while (i && t->columns[i - 1].flags & COLUMN_OF_METRIC)
		i--;
	return i;
}

static struct query_cell query_vtab_cell(const struct vtab *v, uint32_t row, unsigned int column)
{
	unsigned int fixed = v->nr_fixed, per_metric = v->source->table->nr_columns - fixed;

	if (column < fixed || !per_metric)
		return (struct query_cell){ row, column, 0 };
	column -= fixed;
	return (struct query_cell){ row, fixed + column % per_metric, column / per_metric };
}

static char *declaration(const struct vtab_shared *shared, const struct query_table *t)
{
	unsigned int fixed = nr_fixed(t), nr_metrics = query_data_nr_metrics(shared->parts[0].data), i, m;
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendall(s, "CREATE TABLE x(");
	if (shared->parts[0].name)
		sqlite3_str_appendall(s, shared->nr_parts > 1 ? "trace TEXT, " : "trace TEXT HIDDEN, ");
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

/* ---- connecting: the traces are read then ---- */

static int load_part(struct vtab_source *s, size_t part, struct err *e)
{
	const struct vtab_part *p = &s->shared->parts[part];
	bool several = s->shared->nr_parts > 1;
	int r = s->table->load(p->data, e);

	if (r == -ENODATA) {		/* not recorded: a table without rows */
		snprintf(s->notes[part], sizeof(s->notes[part]), "%s is empty%s%s: %s", s->table->name,
			 several ? " for " : "", several ? p->name : "", e->msg);
		return 0;
	}
	return r && several ? err_wrap(e, "%s", p->name) : r;
}

static void list_metrics(const struct query_data *d, struct buf *b)
{
	unsigned int i;

	for (i = 0; i < query_data_nr_metrics(d); i++) {
		const struct model_metric *m = &d->model.metrics[i];

		buf_fmt(b, "%s%s", i ? ", " : "", query_data_str(d, m->name));
		if (m->unit)
			buf_fmt(b, " (%s)", query_data_str(d, m->unit));
	}
}

/* "base" of one trace is to be that of another. */
static int check_metrics(const struct vtab_shared *shared, struct err *e)
{
	struct buf first = BUF_INIT, other = BUF_INIT;
	size_t i;
	int r = 0;

	list_metrics(shared->parts[0].data, &first);
	for (i = 1; i < shared->nr_parts && !r; i++) {
		buf_reset(&other);
		list_metrics(shared->parts[i].data, &other);
		if (!strcmp(first.data ? first.data : "", other.data ? other.data : ""))
			continue;
		r = err_set(e, EINVAL, "%s has the metrics %s, and %s has %s", shared->parts[0].name,
			    first.data ? first.data : "none", shared->parts[i].name,
			    other.data ? other.data : "none");
		err_hint(e, "--metric chooses those that all have");
	}
	buf_release(&first);
	buf_release(&other);
	return r;
}

static int query_vtab_load(struct vtab_source *s, char **message)
{
	struct err e = { 0 };
	size_t i;
	int r = 0;

	for (i = 0; i < s->shared->nr_parts && !r; i++)
		r = load_part(s, i, &e);
	if (!r && nr_fixed(s->table) < s->table->nr_columns)
		r = check_metrics(s->shared, &e);
	if (!r)
		return SQLITE_OK;
	s->shared->failed = e;
	*message = sqlite3_mprintf("%s", e.msg);
	return SQLITE_ERROR;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **message)
{
	struct vtab_source *s = aux;
	int r = query_vtab_load(s, message);
	struct vtab *v;
	char *sql;

	if (r)
		return r;
	sql = declaration(s->shared, s->table);
	s->shared->declaring = true;
	r = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	s->shared->declaring = false;
	sqlite3_free(sql);
	if (r)
		return r;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	v = xcalloc(1, sizeof(*v));
	v->source = s;
	v->parts = s->shared->parts;
	v->nr_parts = s->shared->nr_parts;
	v->nr_fixed = nr_fixed(s->table);
	v->lead = v->parts[0].name ? 1 : 0;
	v->indexes = xcalloc(v->nr_parts * s->table->nr_columns, sizeof(struct query_index *));
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	struct vtab *v = (struct vtab *)base;
	size_t i;

	for (i = 0; i < v->nr_parts * v->source->table->nr_columns; i++)
		if (v->indexes[i]) {
			query_index_release(v->indexes[i]);
			free(v->indexes[i]);
		}
	free(v->indexes);
	free(v);
	return SQLITE_OK;
}

static uint32_t query_vtab_nr_rows(const struct vtab *v, size_t part)
{
	return v->source->notes[part][0] ? 0 : v->source->table->nr_rows(v->parts[part].data);
}

static uint64_t nr_all_rows(const struct vtab *v)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 0; i < v->nr_parts; i++)
		nr += query_vtab_nr_rows(v, i);
	return nr;
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

/* Return what the constraints of one column are good for; nr_equal: rows that a unique value has. */
static struct plan plan_of(const sqlite3_index_info *x, int column, unsigned int flags, uint64_t nr,
			   uint64_t nr_equal)
{
	struct plan p = { .lower = -1, .upper = -1 };
	int i;

	for (i = 0; i < x->nConstraint; i++) {
		if (!x->aConstraint[i].usable || x->aConstraint[i].iColumn != column)
			continue;
		switch (x->aConstraint[i].op) {
		case SQLITE_INDEX_CONSTRAINT_EQ:
			p.lower = p.upper = i;
			p.equal = true;
			p.rows = flags & COLUMN_UNIQUE ? nr_equal : 1 + nr / 256;
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

/* Returns how many values the plan takes. */
static int take_plan(sqlite3_index_info *x, const struct plan *p, unsigned int column, unsigned int flags)
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
	return nr;
}

/* Return the constraint that chooses one of several traces, -1 for none. */
static int find_trace(const struct vtab *v, const sqlite3_index_info *x)
{
	int i;

	for (i = 0; v->nr_parts > 1 && i < x->nConstraint; i++)
		if (x->aConstraint[i].usable && !x->aConstraint[i].iColumn &&
		    x->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			return i;
	return -1;
}

/*
 * Estimate how many rows SQLite keeps: constraints on names select few, so that little is looked up in joined
 * tables.
 */
static uint64_t nr_left(const sqlite3_index_info *x, uint64_t nr)
{
	int i;

	for (i = 0; i < x->nConstraint; i++)
		if (x->aConstraint[i].usable && x->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			nr = 1 + nr / 256;
	return nr;
}

/* Return the column by which rows can be read in the wanted order, -1 for none; never with several traces. */
static int ordered_by(const struct vtab *v, const sqlite3_index_info *x)
{
	int column = x->nOrderBy == 1 && v->nr_parts == 1 ? x->aOrderBy[0].iColumn - v->lead : -1;

	return finds_rows(flags_of(v, column)) ? column : -1;
}

/* Groups may come in any order. */
static int direction(sqlite3_index_info *x)
{
	return x->aOrderBy[0].desc && !sqlite3_vtab_distinct(x) ? PLAN_REVERSE : 0;
}

/* An index leaves out rows without a value. */
static bool has_nulls(struct vtab *v, unsigned int column);

static int query_vtab_fail(struct vtab *v, const struct err *e)
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
	size_t i;

	for (i = 0; t->use && i < v->nr_parts; i++)
		if (t->use(v->parts[i].data, columns >> v->lead, &e))
			return query_vtab_fail(v, &e);
	return SQLITE_OK;
}

/* Return the column whose bounds leave the fewest rows, with the plan; -1: none. */
static int find_plan(const struct vtab *v, const sqlite3_index_info *x, uint64_t nr, uint64_t nr_equal,
		     struct plan *best)
{
	const struct query_table *t = v->source->table;
	struct plan p;
	unsigned int i;
	int column = -1;

	*best = (struct plan){ .cost = INFINITY };
	for (i = 0; i < v->nr_fixed; i++) {
		if (!finds_rows(t->columns[i].flags))
			continue;
		p = plan_of(x, i + v->lead, t->columns[i].flags, nr, nr_equal);
		if (p.rows && p.cost < best->cost) {
			*best = p;
			column = i;
		}
	}
	return best->cost < nr + 40.0 ? column : -1;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *x)
{
	struct vtab *v = (struct vtab *)base;
	int trace = find_trace(v, x), order = ordered_by(v, x), column, nr_values = 0;
	uint64_t nr = nr_all_rows(v) / (trace < 0 ? 1 : v->nr_parts);
	struct plan best;

	if (use_columns(v, x->colUsed))
		return SQLITE_ERROR;
	column = find_plan(v, x, nr, trace < 0 ? v->nr_parts : 1, &best);
	if (column >= 0) {
		nr_values = take_plan(x, &best, column, flags_of(v, column));
		x->orderByConsumed = order == column;
		x->idxNum |= order == column ? direction(x) : 0;
	} else {
		x->estimatedCost = nr + 10.0;
		x->estimatedRows = nr_left(x, nr);
	}
	if (trace >= 0) {
		x->aConstraintUsage[trace].argvIndex = nr_values + 1;
		x->idxNum |= PLAN_TRACE;
	}
	if (column >= 0 || order < 0 || (flags_of(v, order) & COLUMN_INDEX && has_nulls(v, order)))
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

/* Return the index of a column, NULL without memory. */
static const struct query_index *index_of(struct vtab *v, size_t part, unsigned int column, struct err *e)
{
	struct query_index **x = &v->indexes[part * v->source->table->nr_columns + column];
	struct query_data *d = v->parts[part].data;

	if (!*x && !query_data_charge(d, (uint64_t)query_vtab_nr_rows(v, part) *
					 sizeof(struct query_index_entry), e)) {
		*x = xcalloc(1, sizeof(**x));
		query_index_init(*x, d, v->source->table, column);
	}
	return *x;
}

/* Return whether the column has NULLs; for one trace, as several are in no order. */
static bool has_nulls(struct vtab *v, unsigned int column)
{
	struct err e;
	const struct query_index *x = query_vtab_nr_rows(v, 0) ? index_of(v, 0, column, &e) : NULL;

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
 * Widens [*from, *to] no further than the bound allows; false: nothing can be within it.  A value that
 * is not a number bounds nothing here.
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

/* Return the first row whose value is at least v; values ascend, after the NULLs. */
static uint32_t first_row(const struct vtab *v, size_t part, unsigned int column, uint64_t value)
{
	const struct query_table *t = v->source->table;
	const struct query_data *d = v->parts[part].data;
	unsigned int flags = t->columns[column].flags;
	uint32_t nr = query_vtab_nr_rows(v, part);
	uint64_t at;

	if (flags & (COLUMN_ROW | COLUMN_ROW1)) {
		value -= value && flags & COLUMN_ROW1;
		return MIN(value, (uint64_t)nr);
	}
	return BISECT(i, nr, !t->number(d, &(struct query_cell){ i, column, 0 }, &at) || at < value);
}

/* Set the range of rows that the plan leaves of the cursor's part. */
static int take_range(struct vtab *v, struct cursor *c)
{
	unsigned int column = c->plan & PLAN_COLUMN;
	struct err e = { 0 };

	c->at = c->begin = c->end = 0;
	if (!query_vtab_nr_rows(v, c->part))
		return SQLITE_OK;
	c->index = c->plan & PLAN_INDEX ? index_of(v, c->part, column, &e) : NULL;
	if (c->plan & PLAN_INDEX && !c->index)
		return query_vtab_fail(v, &e);
	if (c->index) {
		c->at = c->from ? query_index_find(c->index, c->from) : 0;
		c->end = c->to == UINT64_MAX ? c->index->nr : query_index_find(c->index, c->to + 1);
	} else {
		c->at = c->from ? first_row(v, c->part, column, c->from) : 0;
		c->end = c->to == UINT64_MAX ? query_vtab_nr_rows(v, c->part) :
			 first_row(v, c->part, column, c->to + 1);
	}
	c->begin = c->at;
	return SQLITE_OK;
}

/* Go on to a part that has rows. */
static int query_vtab_settle(struct vtab *v, struct cursor *c)
{
	int r = SQLITE_OK;

	while (!r && c->at >= c->end && c->part + 1 < c->end_part) {
		c->part++;
		r = take_range(v, c);
	}
	return r;
}

/* Choose the parts that the value names: one, or none. */
static void choose_part(const struct vtab *v, struct cursor *c, sqlite3_value *value)
{
	const char *name = sqlite3_value_type(value) == SQLITE_TEXT ?
			   (const char *)sqlite3_value_text(value) : NULL;
	size_t i;

	for (i = 0; name && i < v->nr_parts && strcmp(name, v->parts[i].name); i++)
		;
	c->part = name ? i : v->nr_parts;
	c->end_part = MIN(c->part + 1, v->nr_parts);
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct vtab *v = (struct vtab *)base->pVtab;
	bool any = true, equal = plan & PLAN_EQUAL;
	int at = 0, r;

	c->at = c->begin = c->end = 0;
	c->plan = plan;
	c->from = 0;
	c->to = UINT64_MAX;
	c->part = 0;
	c->end_part = v->nr_parts;
	if (plan & PLAN_LOWER && at < argc)
		any = bound(argv[at++], true, equal, &c->from, &c->to);
	if (plan & PLAN_UPPER && at < argc)
		any = bound(argv[at++], false, true, &c->from, &c->to) && any;
	if (plan & PLAN_TRACE && at < argc)
		choose_part(v, c, argv[at]);
	if (!any || c->from > c->to)
		c->part = c->end_part;
	if (c->part >= c->end_part)
		return SQLITE_OK;
	r = take_range(v, c);
	return r ? r : query_vtab_settle(v, c);
}

static int query_vtab_next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->at++;
	return query_vtab_settle((struct vtab *)base->pVtab, c);
}

static int at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->at >= c->end;
}

static uint32_t row_of(const struct cursor *c)
{
	uint32_t at = c->plan & PLAN_REVERSE ? c->end - 1 - (c->at - c->begin) : c->at;

	return c->index ? c->index->list[at].row : at;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	const struct cursor *c = (const struct cursor *)base;

	*id = (sqlite3_int64)c->part << 32 | row_of(c);
	return SQLITE_OK;
}

static void give_value(sqlite3_context *to, const struct query_table *t, struct query_data *d,
		       const struct query_cell *at)
{
	const char *text;
	uint64_t n;

	if (t->columns[at->column].flags & COLUMN_TEXT) {
		if ((text = t->text(d, at)))
			sqlite3_result_text(to, text, -1, text == d->scratch.data ? SQLITE_TRANSIENT :
										    SQLITE_STATIC);
	} else if (t->number(d, at, &n)) {
		if (n <= INT64_MAX)
			sqlite3_result_int64(to, n);
		else
			sqlite3_result_double(to, n);
	}
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	const struct cursor *c = (const struct cursor *)base;
	const struct vtab *v = (const struct vtab *)base->pVtab;
	const struct vtab_part *p = &v->parts[c->part];
	struct query_cell at;

	if (i < v->lead) {
		sqlite3_result_text(to, p->name, -1, SQLITE_STATIC);
	} else {
		at = query_vtab_cell(v, row_of(c), i - v->lead);
		give_value(to, v->source->table, p->data, &at);
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
	.xNext = query_vtab_next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = row_id,
};

int vtab_add(sqlite3 *db, struct vtab_source *s)
{
	return sqlite3_create_module_v2(db, s->table->name, &module, s, NULL);
}
