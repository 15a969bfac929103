// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - prints a list of rows as text, CSV or JSON. */
#include "report/list.h"

bool contexts_next(struct contexts *w)
{
	const struct flow *f = &w->v->m->flow;
	uint32_t next = flow_next(f, w->node), i = w->node;

	if (!next || (w->v->o->limit && w->nr >= w->v->o->limit))
		return false;
	if (f->nodes[next].parent == i)
		w->level += i != FLOW_NONE;
	else
		for (; f->nodes[i].parent != f->nodes[next].parent; i = f->nodes[i].parent)
			w->level--;
	w->nr++;
	w->node = next;
	return true;
}

static void print_text(const struct list *l, const struct view *v, void *rows, FILE *out)
{
	struct buf name = BUF_INIT;
	struct table t;
	struct row r;

	head_text(v, out);
	table_init(&t, v, out, l->columns);
	table_units(&t);
	putc('\n', out);
	table_head(&t, l->name_head);
	while (l->next(rows, &r)) {
		if (l->heading && l->heading(v, &r, out))
			continue;
		table_cells(&t, &r);
		if (l->indent)
			l->indent(&r, &t.line);
		buf_reset(&name);
		l->name(v, &r, &name);
		table_end(&t, name.data);
	}
	if (l->foot)
		l->foot(v, rows, out);
	buf_release(&name);
	table_release(&t);
}

static void print_csv(const struct list *l, const struct view *v, void *rows, FILE *out)
{
	struct table t;
	struct row r;

	table_init(&t, v, out, l->csv_columns);
	table_csv_head(&t);
	while (l->next(rows, &r))
		table_csv(&t, &r);
	table_release(&t);
}

static void print_json(const struct list *l, const struct view *v, void *rows, FILE *out)
{
	struct json j;
	struct row r;

	json_init(&j, out);
	head_json(v, &j);
	json_array(&j, l->json_rows);
	while (l->next(rows, &r)) {
		json_object(&j, NULL);
		l->json(v, &r, &j);
		json_end(&j);
	}
	json_end(&j);
	if (l->hidden)
		report_json_hidden(&j, l->hidden(v, rows));
	if (l->json_foot)
		l->json_foot(v, rows, &j);
	json_end(&j);
}

int list_print(const struct list *l, const struct view *v, void *rows, FILE *out)
{
	if (v->o->format == FORMAT_JSON)
		print_json(l, v, rows, out);
	else if (v->o->format == FORMAT_CSV)
		print_csv(l, v, rows, out);
	else
		print_text(l, v, rows, out);
	return 0;
}
