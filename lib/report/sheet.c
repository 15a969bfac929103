// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/sheet.h"

void sheet_init(struct sheet *s, int format, FILE *out)
{
	*s = (struct sheet){ .format = format_get(format), .out = out };
	json_init(&s->json, format == FORMAT_JSON ? out : NULL);
}

void sheet_columns(struct sheet *s, const struct sheet_column *columns, size_t nr)
{
	s->columns = columns;
	s->nr_columns = nr;
	if (s->format->begin)
		s->format->begin(s);
}

void sheet_row(struct sheet *s, const char *key, const struct cell *cells)
{
	s->format->row(s, key, cells);
}

bool sheet_is_text(const struct sheet *s)
{
	return s->format == format_get(FORMAT_TEXT);
}
