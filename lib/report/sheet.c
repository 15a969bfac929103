// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet.c - collects the rows of a table, and passes them to the format (sheet.h). */
#include <inttypes.h>

#include "report/sheet.h"

void sheet_init(struct sheet *s, int format, FILE *out)
{
	*s = (struct sheet){ .format = format_get(format), .out = out };
	json_init(&s->json, format == FORMAT_JSON ? out : NULL);
}

void sheet_set_columns(struct sheet *s, const struct sheet_column *columns, size_t nr)
{
	if (s->chosen)
		sheet_end_rows(s);
	s->columns = columns;
	s->nr_columns = nr;
	if (s->chosen)
		sheet_chosen_columns(s);
}

void sheet_columns(struct sheet *s, const struct sheet_column *columns, size_t nr)
{
	sheet_set_columns(s, columns, nr);
	if (s->format->begin && (s->nr_columns || !s->chosen))
		s->format->begin(s);
}

void sheet_row(struct sheet *s, const char *key, const struct cell *cells)
{
	if (s->chosen)
		sheet_chosen_row(s, key, cells);
	else
		s->format->row(s, key, cells);
}

void sheet_put_fixed(struct buf *b, uint64_t v, int decimals)
{
	char digits[40], *to;
	int nr = 0, i;

	/* Reports of large trees have millions of these: printf() would take most of their time. */
	for (i = 0; v || i <= decimals; i++, v /= 10) {
		if (i && i == decimals)
			digits[nr++] = '.';
		digits[nr++] = '0' + v % 10;
	}
	to = buf_room(b, nr);
	for (i = 0; i < nr; i++)
		to[i] = digits[nr - 1 - i];
	to[nr] = '\0';
	b->len += nr;
}

bool sheet_is_text(const struct sheet *s)
{
	return s->format == format_get(FORMAT_TEXT);
}

/* ---- only the values of rows, one per line, for scripts ---- */

static void put_values(struct sheet *s, const struct cell *cells, const char *format)
{
	size_t i;

	for (i = 0; i < s->nr_columns; i++)
		if (s->columns[i].value && cells[i].type == CELL_U64)
			fprintf(s->out, format, cells[i].u64);
}

void sheet_hex_row(struct sheet *s, const char *key, const struct cell *cells)
{
	put_values(s, cells, "0x%" PRIx64 "\n");
}

void sheet_dec_row(struct sheet *s, const char *key, const struct cell *cells)
{
	put_values(s, cells, "%" PRIu64 "\n");
}
