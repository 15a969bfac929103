// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_json.c - rows as JSON objects. */
#include <string.h>

#include "base/fields.h"
#include "report/sheet.h"

static void put_list(struct json *j, const char *key, const struct cell *cell)
{
	size_t i;

	json_array(j, key);
	for (i = 0; i < cell->list.nr; i++)
		json_str(j, NULL, cell->list.texts[i]);
	json_end(j);
}

static void put_member(struct json *j, const struct sheet_column *c, const char *key, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_U64:
		json_u64(j, key, cell->u64);
		break;
	case CELL_I64:
		json_i64(j, key, cell->i64);
		break;
	case CELL_REAL:
		json_rounded(j, key, cell->real, c->digits);
		break;
	case CELL_FIXED:
		json_decimal(j, key, cell->u64, c->decimals);
		break;
	case CELL_BOOL:
		json_bool(j, key, cell->yes);
		break;
	case CELL_TEXT:
		json_str(j, key, cell->text);
		break;
	case CELL_WORD:
		json_str(j, key, cell->word);
		break;
	case CELL_LIST:
		put_list(j, key, cell);
		break;
	case CELL_FIELDS:
		json_object(j, key);
		fields_put_json(j, cell->fields.bytes, cell->fields.len);
		json_end(j);
		break;
	case CELL_MADE:
		cell->made.put(j, key, cell->made.of, cell->made.at);
		break;
	case CELL_NONE:
		json_null(j, key);
		break;
	case CELL_ABSENT:
	case CELL_LABEL:
		break;
	}
}

void sheet_member(struct sheet *s, const char *key, const struct cell *cell)
{
	put_member(&s->json, &(struct sheet_column){ .key = key }, key, cell);
}

const char *sheet_json_key(const struct sheet_column *c)
{
	const char *key = c->json ? c->json : c->key;

	return c->outer || !key || !*key ? NULL : key;
}

void sheet_json_row(struct sheet *s, const char *key, const struct cell *cells)
{
	const char *array = NULL;	/* the key of the open one */
	size_t i;

	json_object(&s->json, key);
	for (i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];
		const char *name = sheet_json_key(c);

		if (!name)
			continue;
		if (array && (!c->of || strcmp(array, name) != 0)) {
			json_end(&s->json);
			array = NULL;
		}
		if (c->of && !array) {
			json_array(&s->json, name);
			array = name;
		}
		put_member(&s->json, c, array ? NULL : name, &cells[i]);
	}
	if (array)
		json_end(&s->json);
	json_end(&s->json);
}
