// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_json.c - rows as JSON objects. */
#include "base/fields.h"
#include "report/sheet.h"

static void put_member(struct json *j, const char *key, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_U64:
		json_u64(j, key, cell->u64);
		break;
	case CELL_I64:
		json_i64(j, key, cell->i64);
		break;
	case CELL_REAL:
		json_double(j, key, cell->real);
		break;
	case CELL_BOOL:
		json_bool(j, key, cell->yes);
		break;
	case CELL_TEXT:
		json_str(j, key, cell->text);
		break;
	case CELL_FIELDS:
		json_object(j, key);
		fields_put_json(j, cell->fields.bytes, cell->fields.len);
		json_end(j);
		break;
	case CELL_NONE:
		json_null(j, key);
		break;
	case CELL_ABSENT:
	case CELL_LABEL:
		break;
	}
}

void sheet_json_row(struct sheet *s, const char *key, const struct cell *cells)
{
	size_t i;

	json_object(&s->json, key);
	for (i = 0; i < s->nr_columns; i++)
		if (s->columns[i].key && !s->columns[i].outer)
			put_member(&s->json, s->columns[i].key, &cells[i]);
	json_end(&s->json);
}
