// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_csv.c - rows as CSV: quoted where necessary, names escaped so that none is a formula. */
#include <inttypes.h>
#include <string.h>

#include "base/fields.h"
#include "base/quote.h"
#include "report/sheet.h"

void sheet_csv_begin(struct sheet *s)
{
	struct buf line = BUF_INIT, name = BUF_INIT;
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];

		if (!c->key)
			continue;
		buf_reset(&name);
		buf_str(&name, c->key);
		if (c->of)
			buf_fmt(&name, ":%s", c->of);
		buf_str(&line, line.len ? "," : "");
		quote_csv(&line, name.data, name.len);
	}
	buf_putc(&line, '\n');
	fwrite(line.data, 1, line.len, s->out);
	buf_release(&name);
	buf_release(&line);
}

static void sheet_csv_put_field(const struct sheet_column *c, const struct cell *cell, struct buf *line)
{
	struct buf text = BUF_INIT;

	switch (cell->type) {
	case CELL_U64:
		sheet_put_fixed(line, cell->u64, 0);
		break;
	case CELL_I64:
		buf_fmt(line, "%" PRId64, cell->i64);
		break;
	case CELL_REAL:
		buf_fmt(line, "%.*g", c->digits ? c->digits : 15, cell->real);
		break;
	case CELL_FIXED:
		sheet_put_fixed(line, cell->u64, c->decimals);
		break;
	case CELL_BOOL:
		buf_str(line, cell->yes ? "true" : "false");
		break;
	case CELL_TEXT:
	case CELL_LABEL:
		quote_csv(line, cell->text, strlen(cell->text));
		break;
	case CELL_WORD:
		quote_csv(line, cell->word, strlen(cell->word));
		break;
	case CELL_FIELDS:
		fields_put_text(&text, cell->fields.bytes, cell->fields.len);
		quote_csv(line, text.data, text.len);
		buf_release(&text);
		break;
	case CELL_LIST:
	case CELL_MADE:
	case CELL_NONE:
	case CELL_ABSENT:
		break;
	}
}

void sheet_csv_row(struct sheet *s, const char *key, const struct cell *cells)
{
	struct buf line = BUF_INIT;
	bool any = false;
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		if (!s->columns[i].key)
			continue;
		buf_str(&line, any ? "," : "");
		sheet_csv_put_field(&s->columns[i], &cells[i], &line);
		any = true;
	}
	buf_putc(&line, '\n');
	fwrite(line.data, 1, line.len, s->out);
	buf_release(&line);
}
