// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_value.c - only the values of rows, one per line, for scripts. */
#include <inttypes.h>

#include "report/sheet.h"

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
