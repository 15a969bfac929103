// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_text.c - rows as text: columns of fixed width, names with their control characters escaped. */
#include <inttypes.h>

#include "base/fields.h"
#include "base/quote.h"
#include "report/sheet.h"

static const char *before(const struct sheet_column *c)
{
	return c->before ? c->before : " ";
}

void sheet_text_begin(struct sheet *s)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];

		if (!c->head)
			continue;
		fprintf(s->out, "%s%*s", any ? before(c) : "", c->width, c->head);
		any = true;
	}
	if (any)
		putc('\n', s->out);
}

static void put_text(const struct sheet_column *c, const char *text, FILE *out)
{
	struct buf b = BUF_INIT;

	fprintf(out, "%*s", c->width, quote_str(&b, text));
	buf_release(&b);
}

static void put_cell(const struct sheet_column *c, const struct cell *cell, FILE *out)
{
	struct buf b = BUF_INIT;

	switch (cell->type) {
	case CELL_U64:
		if (c->unit)
			fprintf(out, "%*.*f", c->width, c->decimals, cell->u64 / c->unit);
		else
			fprintf(out, "%*" PRIu64, c->width, cell->u64);
		break;
	case CELL_I64:
		fprintf(out, "%*" PRId64, c->width, cell->i64);
		break;
	case CELL_REAL:
		fprintf(out, "%*.*f", c->width, c->decimals, c->unit ? cell->real / c->unit : cell->real);
		break;
	case CELL_BOOL:
		put_text(c, cell->yes ? "yes" : "no", out);
		break;
	case CELL_TEXT:
	case CELL_LABEL:
		put_text(c, cell->text, out);
		break;
	case CELL_FIELDS:
		fields_put_text(&b, cell->fields.bytes, cell->fields.len);
		fprintf(out, "%*s", c->width, b.data);
		buf_release(&b);
		break;
	case CELL_NONE:
	case CELL_ABSENT:
		put_text(c, cell->type == CELL_NONE ? "n/a" : "-", out);
	}
}

void sheet_text_row(struct sheet *s, const char *key, const struct cell *cells)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];

		if (c->note ? cells[i].type != CELL_TEXT : !c->head)
			continue;
		fputs(any ? before(c) : "", s->out);
		put_cell(c, &cells[i], s->out);
		any = true;
	}
	if (any)
		putc('\n', s->out);
}
