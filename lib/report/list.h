/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list.h - reports that are one list of rows: text, CSV and JSON of each come from one description. */
#ifndef REPORT_LIST_H
#define REPORT_LIST_H

#include "report/table.h"

struct list {
	const struct column *const *columns, *const *csv_columns;	/* end with NULL */
	const char *name_head;		/* of text, over the names */
	const char *json_rows;		/* of JSON, the key of the rows */
	/* The next row; false: there are no more. */
	bool (*next)(void *rows, struct row *r);
	/* Of text, a row that has no cells: prints it, and says so.  NULL: all have. */
	bool (*heading)(const struct view *v, const struct row *r, FILE *out);
	/* Printed between cells and name, and never truncated; NULL: nothing. */
	void (*indent)(const struct row *r, struct buf *line);
	void (*name)(const struct view *v, const struct row *r, struct buf *b);
	/* After the last row of text; NULL: nothing. */
	void (*foot)(const struct view *v, void *rows, FILE *out);
	/* The members of a row's object. */
	void (*json)(const struct view *v, const struct row *r, struct json *j);
	/* Members of the outer object, behind the rows; NULL: none. */
	/* Rows that --limit left out, when all others were handed out. */
	uint64_t (*hidden)(const struct view *v, void *rows);
	void (*json_foot)(const struct view *v, void *rows, struct json *j);
};

/* Prints what l->next() makes of rows; a print() of struct report returns its result. */
int list_print(const struct list *l, const struct view *v, void *rows, FILE *out);

/* The contexts of a view in the order of its tree, at most as many as v->o->limit. */
struct contexts {
	const struct view *v;
	uint32_t node;
	uint32_t level;		/* of node; a root is at level 0 */
	uint64_t nr;		/* contexts so far */
};

bool contexts_next(struct contexts *w);

#endif
