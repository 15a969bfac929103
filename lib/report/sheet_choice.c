// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_choice.c - which columns of a sheet are shown, and the order of its rows, as the user says. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "report/sheet.h"

/* Widths of columns that text does not show by itself, and of names that are not the last ones. */
enum { UNKNOWN_WIDTH = 12, UNKNOWN_NAME = 40 };
enum { MAX_TABLES = 32 };

/* A row that waits until all are there. */
struct kept {
	struct cell *cells;	/* [nr_all], with what they point to */
	enum term_style style;
	size_t number;
};

struct sheet_chosen {
	const struct sheet_choice *choice;
	const struct sheet_column *all;		/* as the caller gave them */
	size_t nr_all;
	struct sheet_column *columns;		/* those that are shown */
	size_t *from;				/* [i]: which of all columns[i] is */
	size_t by;				/* of all: the one to sort by; nr_all: none */
	struct cell *cells;			/* scratch, of a row as it is shown */
	struct kept *rows;
	size_t nr_rows, alloc_rows;
	uint64_t nr_hidden;
};

/* The chosen columns that the printed tables had. */
struct sheet_found {
	bool *columns;				/* [choice->columns.nr_items]: one of them had it */
	bool sort;
	const char *tables[MAX_TABLES];		/* by their names; NULL: it has none */
	unsigned int nr_tables;
	struct found_name {			/* each column once */
		char *name;
		uint32_t tables;		/* a set of those */
	} *names;
	size_t nr_names, alloc_names;
};

static bool is_choice(const struct sheet_choice *choice)
{
	return choice->columns.nr_items || choice->sort;
}

void sheet_choose(struct sheet *s, const struct sheet_choice *choice)
{
	if (!is_choice(choice))
		return;
	s->chosen = xcalloc(1, sizeof(*s->chosen));
	s->chosen->choice = choice;
}

/* Return what stands above the column in text, or "". */
static const char *head_of(const struct sheet_column *c)
{
	return c->head ? c->head + strspn(c->head, " ") : "";
}

/* "key", or "key:of" as CSV has it. */
static bool is_key(const struct sheet_column *c, const char *key, const char *name)
{
	size_t len = key ? strlen(key) : 0;

	if (!len || strncasecmp(key, name, len) != 0)
		return false;
	return !name[len] || (c->of && name[len] == ':' && !strcasecmp(name + len + 1, c->of));
}

/* Names are those of CSV and JSON, or what stands above the column in text, without the blanks. */
static bool is_called(const struct sheet_column *c, const char *name)
{
	const char *head = head_of(c);
	size_t len = strlen(name);

	return is_key(c, c->key, name) || is_key(c, c->json, name) ||
		(len && !strncasecmp(head, name, len) && !head[len + strspn(head + len, " ")]);
}

static bool sheet_choice_is_json(const struct sheet *s)
{
	return s->format == format_get(FORMAT_JSON);
}

/* Return whether the format can show it: text whatever has a name, the others what has one of theirs. */
static bool is_shown(const struct sheet *s, const struct sheet_column *c)
{
	if (sheet_choice_is_json(s))
		return c->outer || sheet_json_key(c);
	return c->key || (sheet_is_text(s) && c->head);
}

/*
 * Find, of several columns with that name, the one that text shows by itself; nr_all: there is none. If
 * text shows no "name", rows are about its last column, whatever stands above it.
 */
static size_t sheet_choice_find(const struct sheet *s, const char *name)
{
	const struct sheet_chosen *x = s->chosen;
	size_t i, found = x->nr_all, last = x->nr_all;

	for (i = 0; i < x->nr_all; i++) {
		const struct sheet_column *c = &x->all[i];

		if (!is_shown(s, c))
			continue;
		if (c->head)
			last = i;
		if (is_called(c, name) && (found == x->nr_all || (c->head && !x->all[found].head)))
			found = i;
	}
	if (!sheet_is_text(s) || strcasecmp(name, "name") || (found < x->nr_all && x->all[found].head))
		return found;
	return last;
}

static void add_column(struct sheet *s, size_t from)
{
	struct sheet_chosen *x = s->chosen;
	struct sheet_column c = x->all[from];

	if (sheet_is_text(s) && !c.head) {
		c.head = c.json && *c.json ? c.json : c.key;
		c.width = MAX(UNKNOWN_WIDTH, (int)strlen(c.head));
		c.unit = 0;
	}
	if (c.before && !*c.before)
		c.before = NULL;
	c.note = false;
	/* a head that is not shown by default may be wider */
	if (abs(c.width) > 1 && c.head && abs(c.width) < (int)strlen(c.head))
		c.width = (c.width < 0 ? -1 : 1) * (int)strlen(c.head);
	/* a name that is no longer the last one */
	if (s->nr_columns && x->columns[s->nr_columns - 1].width >= -1 &&
	    x->columns[s->nr_columns - 1].width <= 0)
		x->columns[s->nr_columns - 1].width = -UNKNOWN_NAME;
	x->from[s->nr_columns] = from;
	x->columns[s->nr_columns++] = c;
}

static void sheet_choice_choose_columns(struct sheet *s)
{
	struct sheet_chosen *x = s->chosen;
	const struct opt_list *l = &x->choice->columns;
	size_t i, at;

	s->nr_columns = 0;
	for (i = 0; i < l->nr_items; i++) {
		at = sheet_choice_find(s, l->items[i]);
		if (at == x->nr_all)
			continue;
		if (x->choice->found)
			x->choice->found->columns[i] = true;
		if (!sheet_choice_is_json(s) || !x->all[at].outer)	/* which is there in any case */
			add_column(s, at);
	}
	for (i = 0; !l->nr_items && i < x->nr_all; i++) {
		x->from[s->nr_columns] = i;
		x->columns[s->nr_columns++] = x->all[i];
	}
	s->columns = x->columns;
}

static void note_name(struct sheet_found *f, const char *name, uint32_t table)
{
	size_t len = strlen(name), i;

	while (len && name[len - 1] == ' ')
		len--;
	for (i = 0; i < f->nr_names; i++)
		if (!strncasecmp(f->names[i].name, name, len) && !f->names[i].name[len])
			break;
	if (i == f->nr_names) {
		*VEC_ADD(f->names, f->nr_names, f->alloc_names) =
			(struct found_name){ xstrndup(name, len), 0 };
	}
	f->names[i].tables |= table;
}

static void note_names(struct sheet *s, struct sheet_found *f)
{
	unsigned int table;
	size_t i;

	for (table = 0; table < f->nr_tables && f->tables[table] != s->table; table++)
		;
	if (table == MAX_TABLES)
		return;
	if (table == f->nr_tables)
		f->tables[f->nr_tables++] = s->table;
	for (i = 0; i < s->chosen->nr_all; i++) {
		const struct sheet_column *c = &s->chosen->all[i];
		const char *name = c->key && *c->key ? c->key : c->json && *c->json ? c->json : head_of(c);

		if (!is_shown(s, c) || !*name || strstr(name, "  "))	/* that is two in one */
			continue;
		/* "Class, and who allocates" is last: the name */
		note_name(f, strchr(name, ',') ? "name" : name, 1u << table);
	}
}

void sheet_chosen_columns(struct sheet *s)
{
	struct sheet_chosen *x = s->chosen;
	const char *by = x->choice->sort;

	x->all = s->columns;
	x->nr_all = s->nr_columns;
	x->columns = xrealloc(x->columns, (x->nr_all + x->choice->columns.nr_items) * sizeof(*x->columns));
	x->cells = xrealloc(x->cells, (x->nr_all + x->choice->columns.nr_items) * sizeof(*x->cells));
	x->from = xrealloc(x->from, (x->nr_all + x->choice->columns.nr_items) * sizeof(*x->from));
	x->by = by ? sheet_choice_find(s, by + (*by == '-' || *by == '+')) : x->nr_all;
	if (x->choice->found) {
		x->choice->found->sort |= x->by < x->nr_all;
		note_names(s, x->choice->found);
	}
	sheet_choice_choose_columns(s);
}

/* ---- rows ---- */

static void sheet_choice_print(struct sheet *s, const char *key, const struct cell *cells)
{
	struct sheet_chosen *x = s->chosen;
	size_t i;

	if (!s->nr_columns)
		return;
	for (i = 0; i < s->nr_columns; i++)
		x->cells[i] = cells[x->from[i]];
	s->format->row(s, key, x->cells);
}

/* Copy what a cell points to: it is the caller's, and may not exist when all rows are there. */
static void sheet_choice_keep(struct cell *c)
{
	const char **texts;
	size_t i;
	void *copy;

	switch (c->type) {
	case CELL_TEXT:
	case CELL_LABEL:
		c->text = xstrdup(c->text);
		break;
	case CELL_LIST:
		texts = xmalloc(c->list.nr * sizeof(*texts));
		for (i = 0; i < c->list.nr; i++)
			texts[i] = xstrdup(c->list.texts[i]);
		c->list.texts = texts;
		break;
	case CELL_FIELDS:
		copy = xmalloc(c->fields.len);
		memcpy(copy, c->fields.bytes, c->fields.len);
		c->fields.bytes = copy;
		break;
	default:
		break;
	}
}

static void sheet_choice_drop(struct cell *c)
{
	size_t i;

	if (c->type == CELL_TEXT || c->type == CELL_LABEL)
		free((char *)c->text);
	else if (c->type == CELL_FIELDS)
		free((void *)c->fields.bytes);
	for (i = 0; c->type == CELL_LIST && i < c->list.nr; i++)
		free((char *)c->list.texts[i]);
	if (c->type == CELL_LIST)
		free((void *)c->list.texts);
}

void sheet_chosen_row(struct sheet *s, const char *key, const struct cell *cells)
{
	struct sheet_chosen *x = s->chosen;
	struct kept *k;
	size_t i;

	if (x->by == x->nr_all || key) {	/* one with a key is a sum, in its own place */
		sheet_choice_print(s, key, cells);
		return;
	}
	VEC_GROW(x->rows, x->nr_rows, x->alloc_rows);
	k = &x->rows[x->nr_rows];
	*k = (struct kept){
		xmalloc(x->nr_all * sizeof(*cells)), s->style, x->nr_rows,
	};
	memcpy(k->cells, cells, x->nr_all * sizeof(*cells));
	for (i = 0; i < x->nr_all; i++)
		sheet_choice_keep(&k->cells[i]);
	x->nr_rows++;
}

static bool sheet_choice_is_text(const struct cell *c)
{
	return c->type == CELL_TEXT || c->type == CELL_WORD || c->type == CELL_LABEL;
}

static const char *sheet_choice_text_of(const struct cell *c)
{
	return c->type == CELL_WORD ? c->word : c->text;
}

/* Return the value to sort by; -inf: none, which is last in either order. */
static double sheet_choice_number(const struct cell *c)
{
	switch (c->type) {
	case CELL_U64:
	case CELL_FIXED:
		return c->u64;
	case CELL_I64:
		return c->i64;
	case CELL_REAL:
		return c->real;
	case CELL_BOOL:
		return c->yes;
	default:
		return -INFINITY;
	}
}

/* Numbers from the largest on, texts by the alphabet; "+" and "-" before the name: upwards, downwards. */
static int sheet_choice_compare(const void *p, const void *q, void *ctx)
{
	const struct kept *a = p, *b = q;
	const struct sheet_chosen *x = ctx;
	const struct cell *ca = &a->cells[x->by], *cb = &b->cells[x->by];
	const char sign = *x->choice->sort;
	bool has_a = sheet_choice_is_text(ca) || sheet_choice_number(ca) > -INFINITY;
	bool has_b = sheet_choice_is_text(cb) || sheet_choice_number(cb) > -INFINITY;
	int c;

	if (has_a != has_b)
		return has_a ? -1 : 1;
	if (sheet_choice_is_text(ca) && sheet_choice_is_text(cb)) {
		c = strcmp(sheet_choice_text_of(ca), sheet_choice_text_of(cb));
		c = sign == '-' ? -c : c;
	} else {
		c = (sheet_choice_number(ca) > sheet_choice_number(cb)) -
		    (sheet_choice_number(ca) < sheet_choice_number(cb));
		c = sign == '+' ? c : -c;
	}
	return c ?: COMPARE(a->number, b->number);
}

void sheet_end_rows(struct sheet *s)
{
	struct sheet_chosen *x = s->chosen;
	enum term_style style = s->style;
	size_t i, k, nr;

	if (!x || !x->nr_rows)
		return;
	qsort_r(x->rows, x->nr_rows, sizeof(*x->rows), sheet_choice_compare, x);
	nr = x->choice->limit ? MIN((uint64_t)x->nr_rows, x->choice->limit) : x->nr_rows;
	x->nr_hidden += x->nr_rows - nr;
	for (i = 0; i < x->nr_rows; i++) {
		struct kept *r = &x->rows[i];

		s->style = r->style;
		if (i < nr)
			sheet_choice_print(s, NULL, r->cells);
		for (k = 0; k < x->nr_all; k++)
			sheet_choice_drop(&r->cells[k]);
		free(r->cells);
	}
	s->style = style;
	x->nr_rows = 0;
}

uint64_t sheet_nr_hidden(const struct sheet *s)
{
	return s->chosen ? s->chosen->nr_hidden : 0;
}

void sheet_end(struct sheet *s)
{
	struct sheet_chosen *x = s->chosen;

	if (!x)
		return;
	sheet_end_rows(s);
	free(x->columns);
	free(x->from);
	free(x->cells);
	free(x->rows);
	free(x);
	s->chosen = NULL;
}

/* ---- whether there are such columns ---- */

static uint32_t all_tables(const struct sheet_found *f)
{
	return (1ull << f->nr_tables) - 1;
}

/* Names of the columns that these tables have and no others, after the tables' names if not all do. */
static void put_names_of(const struct sheet_found *f, uint32_t tables, struct buf *b)
{
	const char *between = tables == all_tables(f) ? "" : b->len ? "; of " : "of ";
	size_t i;

	for (i = 0; i < f->nr_tables && tables != all_tables(f); i++)
		if (tables >> i & 1) {
			buf_fmt(b, "%s%s", between, f->tables[i] ? f->tables[i] : "rows");
			between = " and ";
		}
	between = i ? ": " : between;
	for (i = 0; i < f->nr_names; i++)
		if (f->names[i].tables == tables) {
			buf_fmt(b, "%s%s", between, f->names[i].name);
			between = ", ";
		}
}

static bool is_first_of(const struct sheet_found *f, size_t name)
{
	size_t i = 0;

	while (f->names[i].tables != f->names[name].tables)
		i++;
	return i == name;
}

static int not_found(const struct sheet_choice *c, struct err *e)
{
	const struct sheet_found *f = c->found;
	bool sort = c->sort && !f->sort;
	struct buf b = BUF_INIT;
	size_t k = 0, i;

	while (k < c->columns.nr_items && f->columns[k])
		k++;
	if (!f->nr_tables || (!sort && k == c->columns.nr_items))
		return 0;
	put_names_of(f, all_tables(f), &b);
	for (i = 0; i < f->nr_names; i++)
		if (f->names[i].tables != all_tables(f) && is_first_of(f, i))
			put_names_of(f, f->names[i].tables, &b);
	err_set(e, EINVAL, "--%s=%s: no such column (expected one of: %s)", sort ? "sort" : "columns",
		sort ? c->sort : c->columns.items[k], b.data);
	buf_release(&b);
	return -EINVAL;
}

FILE *sheet_hold(struct sheet_held *h, const struct sheet_choice *choice, FILE *out)
{
	*h = (struct sheet_held){ *choice, out };
	if (!is_choice(choice))
		return out;
	h->choice.found = xcalloc(1, sizeof(*h->choice.found));
	h->choice.found->columns = xcalloc(choice->columns.nr_items + 1, sizeof(bool));
	h->to = open_memstream(&h->text, &h->len);
	if (!h->to)
		abort();
	return h->to;
}

int sheet_let_go(struct sheet_held *h, int r, struct err *e)
{
	struct sheet_found *f = h->choice.found;
	size_t i;

	if (!f)
		return r;
	fclose(h->to);
	if (r >= 0 && not_found(&h->choice, e))
		r = -EINVAL;
	if (r >= 0 && h->out)
		fwrite(h->text, 1, h->len, h->out);
	for (i = 0; i < f->nr_names; i++)
		free(f->names[i].name);
	free(f->names);
	free(f->columns);
	free(f);
	free(h->text);
	return r;
}

int sheet_check(const struct sheet_choice *choice, int format, const struct sheet_column *columns, size_t nr,
		struct err *e)
{
	struct sheet_held h;
	struct sheet s;

	sheet_init(&s, format, sheet_hold(&h, choice, NULL));
	sheet_choose(&s, &h.choice);
	sheet_set_columns(&s, columns, nr);
	sheet_end(&s);
	return sheet_let_go(&h, 0, e);
}
