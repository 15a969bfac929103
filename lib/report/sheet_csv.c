// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_csv.c - rows as CSV: quoted where necessary, names escaped so that none is a formula. */
#include <inttypes.h>
#include <string.h>

#include "base/fields.h"
#include "base/quote.h"
#include "report/sheet.h"

void sheet_csv_begin(struct sheet *s)
{
	const char *sep = "";
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		if (!s->columns[i].key)
			continue;
		fprintf(s->out, "%s%s", sep, s->columns[i].key);
		sep = ",";
	}
	putc('\n', s->out);
}

static void put_field(const struct cell *cell, FILE *out)
{
	struct buf b = BUF_INIT, text = BUF_INIT;

	switch (cell->type) {
	case CELL_U64:
		fprintf(out, "%" PRIu64, cell->u64);
		break;
	case CELL_I64:
		fprintf(out, "%" PRId64, cell->i64);
		break;
	case CELL_REAL:
		fprintf(out, "%.15g", cell->real);
		break;
	case CELL_BOOL:
		fputs(cell->yes ? "true" : "false", out);
		break;
	case CELL_TEXT:
	case CELL_LABEL:
		quote_csv(&b, cell->text, strlen(cell->text));
		fwrite(b.data, 1, b.len, out);
		break;
	case CELL_FIELDS:
		fields_put_text(&text, cell->fields.bytes, cell->fields.len);
		quote_csv(&b, text.data, text.len);
		fwrite(b.data, 1, b.len, out);
		break;
	case CELL_NONE:
	case CELL_ABSENT:
		break;
	}
	buf_release(&text);
	buf_release(&b);
}

void sheet_csv_row(struct sheet *s, const char *key, const struct cell *cells)
{
	const char *sep = "";
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		if (!s->columns[i].key)
			continue;
		fputs(sep, s->out);
		put_field(&cells[i], s->out);
		sep = ",";
	}
	putc('\n', s->out);
}
