// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * query.c - rows of a query as text, CSV or JSON. Text columns are as wide as the first rows need, with
 * numbers on the right.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/origin.h"
#include "report/report.h"
#include "show/query.h"

enum { FIRST_ROWS = 1000, WIDTH_MAX = 60 };

/* ---- cells ---- */

/* Return a blob as in SQL: X'00ff'. */
static char *blob_text(const struct query_value *v)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "X'");
	buf_hex(&b, v->bytes.data, v->bytes.len);
	buf_putc(&b, '\'');
	return buf_take(&b);
}

/* Make a cell; its text is on the heap. */
static struct cell make_cell(const struct query_rows *r, const struct query_value *v)
{
	switch (v->type) {
	case QUERY_INTEGER:
		return cell_i64(v->integer);
	case QUERY_REAL:
		return cell_real(v->real);
	case QUERY_TEXT:
		return cell_text(xstrdup(v->bytes.data));
	case QUERY_BLOB:
		return cell_text(blob_text(v));
	default:
		return sheet_is_text(&r->sheet) ? cell_absent : cell_none;
	}
}

static void free_cells(struct cell *cells, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (cells[i].type == CELL_TEXT)
			free((char *)cells[i].text);
}

/* ---- columns of text ---- */

static int digits_of(const struct query_rows *r, size_t column)
{
	double least = INFINITY, v;
	size_t i;

	for (i = column; i < r->nr_first; i += r->nr_columns) {
		v = r->first[i].type == CELL_REAL ? fabs(r->first[i].real) : 0;
		if (v > 0 && v < least)
			least = v;
	}
	return least < 0.01 ? 6 : 3;
}

/* Return the width of s, with one column per character. */
static int query_width_of(const char *s)
{
	struct buf b = BUF_INIT;
	const char *p = quote_str(&b, s);
	int n = 0;

	for (; *p; p++)
		n += (*p & 0xc0) != 0x80;
	buf_release(&b);
	return n;
}

static int cell_width(const struct cell *c, int decimals)
{
	switch (c->type) {
	case CELL_I64:
		return snprintf(NULL, 0, "%" PRId64, c->i64);
	case CELL_REAL:
		return snprintf(NULL, 0, "%.*f", decimals, c->real);
	case CELL_TEXT:
		return query_width_of(c->text);
	default:
		return 1;
	}
}

static void fit_column(struct query_rows *r, size_t column)
{
	struct sheet_column *c = &r->columns[column];
	bool has_text = false;
	int width = query_width_of(c->head);
	size_t i;

	c->decimals = digits_of(r, column);
	for (i = column; i < r->nr_first; i += r->nr_columns) {
		has_text |= r->first[i].type == CELL_TEXT;
		width = MAX(width, cell_width(&r->first[i], c->decimals));
	}
	width = has_text ? MIN(width, WIDTH_MAX) : width;
	c->width = !has_text ? width : column + 1 < r->nr_columns ? -width : 0;
}

/* ---- rows ---- */

/* trace: NULL: there is only one. */
static void json_source(struct json *j, const char *key, const char *trace, const struct origin *origin)
{
	json_object(j, key);
	if (trace)
		json_str(j, "trace", trace);
	json_str(j, "command", origin ? origin->command : NULL);
	json_str(j, "host", origin ? origin->host : NULL);
	json_u64(j, "elapsed_ns", origin ? origin->duration_ns : 0);
	json_u64(j, "lost", origin ? origin->lost : 0);
	if (origin)
		report_json_stopped(origin->stopped_ns, origin->nr_after, j);
	json_end(j);
}

static void query_json_head(struct query_rows *r)
{
	const struct query_trace *t;
	struct json *j = &r->sheet.json;
	size_t i;

	report_json_begin(j, "query");
	if (query_trace(r->query, 1)) {
		json_array(j, "sources");
		for (i = 0; (t = query_trace(r->query, i)); i++)
			json_source(j, NULL, t->name, query_origin(r->query, i));
		json_end(j);
	} else {
		json_source(j, "source", NULL, query_origin(r->query, 0));
	}
	json_str(j, "sql", r->sql);
	json_array(j, "columns");
	for (i = 0; i < r->nr_columns; i++)
		json_str(j, NULL, r->names[i]);
	json_end(j);
	json_array(j, "rows");
}

/* Print the head, now that the widths of columns are known. */
static void query_begin(struct query_rows *r)
{
	size_t i;

	r->begun = true;
	if (sheet_is_text(&r->sheet))
		for (i = 0; i < r->nr_columns; i++)
			fit_column(r, i);
	query_json_head(r);
	sheet_columns(&r->sheet, r->columns, r->nr_columns);
	for (i = 0; i < r->nr_first; i += r->nr_columns)
		sheet_row(&r->sheet, NULL, r->first + i);
	free_cells(r->first, r->nr_first);
	r->nr_first = 0;
}

static int take_head(void *ctx, const char *const *names, size_t nr)
{
	struct query_rows *r = ctx;
	struct buf b = BUF_INIT;
	size_t i;

	sheet_init(&r->sheet, r->format, r->out);
	r->nr_columns = nr;
	r->names = xcalloc(nr, sizeof(*r->names));
	r->columns = xcalloc(nr, sizeof(*r->columns));
	for (i = 0; i < nr; i++) {
		r->names[i] = xstrdup(names[i]);
		if (sheet_is_text(&r->sheet)) {		/* names are as foreign as the rows */
			quote_add(&b, names[i]);
			free(r->names[i]);
			r->names[i] = buf_take(&b);
		}
		r->columns[i] = (struct sheet_column){ .key = r->names[i], .head = r->names[i] };
	}
	if (!sheet_is_text(&r->sheet))
		query_begin(r);
	return 0;
}

static int query_take_row(void *ctx, const struct query_value *values, size_t nr)
{
	struct query_rows *r = ctx;
	struct cell *cells;
	size_t i;

	if (r->nr++ >= r->limit && r->limit)
		return 0;	/* only counted */
	cells = xcalloc(nr, sizeof(*cells));
	for (i = 0; i < nr; i++)
		cells[i] = make_cell(r, &values[i]);
	if (r->begun) {
		sheet_row(&r->sheet, NULL, cells);
		free_cells(cells, nr);
	} else {
		for (i = 0; i < nr; i++)
			*VEC_ADD(r->first, r->nr_first, r->alloc_first) = cells[i];
		if (r->nr == FIRST_ROWS)
			query_begin(r);
	}
	free(cells);
	return ferror(r->out);
}

const struct query_sink query_rows_sink = { .head = take_head, .row = query_take_row };

void query_rows_end(struct query_rows *r, bool complete)
{
	struct json *j = &r->sheet.json;
	uint64_t shown = r->limit ? MIN(r->nr, r->limit) : r->nr;
	size_t i;

	if (r->nr_columns && !r->begun && (complete || r->nr))
		query_begin(r);
	if (r->begun) {
		json_end(j);
		json_bool(j, "truncated", !complete || shown < r->nr);
		json_u64_known(j, "not_shown", complete, r->nr - shown);
		json_end(j);
	}
	for (i = 0; i < r->nr_columns; i++)
		free(r->names[i]);
	free(r->names);
	free(r->columns);
	free(r->first);
}
