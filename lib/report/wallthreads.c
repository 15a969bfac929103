// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wallthreads.c - a row per thread: how long it ran, waited for a CPU and was blocked, for what most of all.
 * Reasons are columns by what is before the colon: "[read: pipe]" and "[read: file]" are both read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/sched.h"
#include "report/sheet.h"

enum { MAX_KINDS = 256, SHOWN_KINDS = 4, NOT_SHOWN = UINT32_MAX };

/* Cells of a row: in text those of kinds and what follows are behind the others. */
enum {
	AT_PROCESS = 1, AT_PID, AT_TID, AT_MOST = 8, AT_KINDS = 10, AT_OTHERS = AT_KINDS + SHOWN_KINDS,
	AT_NAME, AT_TOP, NR_CELLS
};

struct thread {
	uint32_t consumer, process;
	uint64_t cpu_ns, runnable_ns, blocked_ns;
	uint64_t *kinds;		/* [MAX_KINDS]: of blocked_ns */
	uint32_t top;			/* consumer of the longest reason; 0: none */
	uint64_t top_ns;
};

struct rows {
	const struct view *v;
	struct thread *list;		/* then the sum of all */
	size_t nr, nr_hidden;
	uint32_t *row_of;		/* [node] -> index in list */
	char *kinds[MAX_KINDS];		/* "read" */
	size_t nr_kinds;
	uint32_t columns[SHOWN_KINDS];	/* the longest kinds */
	size_t nr_columns;
};

static uint64_t wall_of(const struct thread *t)
{
	return t->cpu_ns + t->runnable_ns + t->blocked_ns;
}

static const struct thread *sum_of(const struct rows *r)
{
	return &r->list[r->nr + r->nr_hidden];
}

/* ---- from the tree to rows ---- */

static uint32_t wallthreads_kind_of(struct rows *r, const char *reason)
{
	const char *word = reason + (*reason == '[');
	size_t len = strcspn(word, ":]"), i;

	for (i = 0; i < r->nr_kinds; i++)
		if (strlen(r->kinds[i]) == len && !memcmp(r->kinds[i], word, len))
			return i;
	if (r->nr_kinds == MAX_KINDS)
		return MAX_KINDS - 1;
	r->kinds[r->nr_kinds] = xstrndup(word, len);
	return r->nr_kinds++;
}

static void add_reason(struct rows *r, struct thread *t, uint32_t consumer, uint64_t ns)
{
	const char *reason = model_str(r->v->m, r->v->m->consumers.items[consumer].name);

	if (!strcmp(reason, REASON_ON_CPU)) {
		t->cpu_ns += ns;
	} else if (!strcmp(reason, REASON_RUNNABLE)) {
		t->runnable_ns += ns;
	} else {
		t->blocked_ns += ns;
		t->kinds[wallthreads_kind_of(r, reason)] += ns;
	}
}

static uint32_t new_row(struct rows *r, uint32_t node)
{
	const struct flow *f = &r->v->m->flow;
	uint32_t parent = f->nodes[node].parent;

	r->list = xrealloc(r->list, (r->nr + 2) * sizeof(*r->list));
	r->list[r->nr] = (struct thread){
		.consumer = f->nodes[node].consumer, .process = parent ? f->nodes[parent].consumer : 0,
		.kinds = xcalloc(MAX_KINDS, sizeof(uint64_t)),
	};
	return r->nr++;
}

/* Return the consumer whose time the node's is: its own, or above a file its parent's; 0 without a reason. */
static uint32_t reason_at(const struct model *m, uint32_t node)
{
	const struct flow_node *n = &m->flow.nodes[node];

	if (m->consumers.items[n->consumer].kind == CONSUMER_WAIT_FILE)
		n = &m->flow.nodes[n->parent];
	return m->consumers.items[n->consumer].kind == CONSUMER_REASON ? n->consumer : 0;
}

/* Make the rows. Parents have lower numbers than their children. */
static void wallthreads_make_rows(struct rows *r)
{
	const struct model *m = r->v->m;
	const struct flow *f = &m->flow;
	uint32_t i, reason;

	r->row_of = xcalloc(f->nr_nodes, sizeof(*r->row_of));
	r->row_of[0] = NOT_SHOWN;
	for (i = 1; i < f->nr_nodes; i++) {
		unsigned int kind = m->consumers.items[f->nodes[i].consumer].kind;

		r->row_of[i] = kind == CONSUMER_THREAD ? new_row(r, i) : r->row_of[f->nodes[i].parent];
		reason = reason_at(m, i);
		if (reason && r->row_of[i] != NOT_SHOWN)
			add_reason(r, &r->list[r->row_of[i]], reason, flow_base(f, i)[0]);
	}
}

/* Find the reason with the most time for each thread. */
static void find_tops(struct rows *r)
{
	const struct model *m = r->v->m;
	const struct flow *f = &m->flow;
	struct map sums = { 0 };
	uint64_t *ns = NULL;
	size_t nr = 0, alloc = 0;
	uint32_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t consumer = reason_at(m, i), row = r->row_of[i], *at;
		const char *name = model_str(m, m->consumers.items[consumer].name);

		if (!consumer || row == NOT_SHOWN ||
		    !strcmp(name, REASON_ON_CPU) || !strcmp(name, REASON_RUNNABLE))
			continue;
		at = map_put(&sums, (uint64_t)row << 32 | consumer);
		if (*at == MAP_NONE) {
			*at = nr;
			*VEC_ADD(ns, nr, alloc) = 0;
		}
		ns[*at] += flow_base(f, i)[0];
		if (ns[*at] > r->list[row].top_ns) {
			r->list[row].top_ns = ns[*at];
			r->list[row].top = consumer;
		}
	}
	free(ns);
	map_release(&sums);
}

static uint64_t wallthreads_key_of(const struct thread *t, int sort)
{
	switch (sort) {
	case SORT_BASE:
		return t->cpu_ns;
	case SORT_WAIT:
		return t->runnable_ns;
	case SORT_BLOCKED:
		return t->blocked_ns;
	default:
		return wall_of(t);
	}
}

static int wallthreads_compare(const void *p, const void *q, void *ctx)
{
	const struct thread *a = p, *b = q;
	const struct rows *r = ctx;
	uint64_t ka = wallthreads_key_of(a, r->v->o->sort), kb = wallthreads_key_of(b, r->v->o->sort);
	const struct consumer *c = r->v->m->consumers.items;
	int by_name = r->v->o->sort != SORT_NAME ? 0 :
			      strcmp(model_str(r->v->m, c[a->consumer].name),
				     model_str(r->v->m, c[b->consumer].name));

	if (by_name)
		return by_name;
	return ka != kb && r->v->o->sort != SORT_NAME ? (ka > kb ? -1 : 1) :
	       COMPARE(a->consumer, b->consumer);
}

static void wallthreads_add_up(struct rows *r)
{
	struct thread *sum;
	size_t i, k;

	r->list = xrealloc(r->list, (r->nr + 1) * sizeof(*r->list));
	sum = &r->list[r->nr];
	*sum = (struct thread){ .kinds = xcalloc(MAX_KINDS, sizeof(uint64_t)) };
	for (i = 0; i < r->nr; i++) {
		const struct thread *t = &r->list[i];

		sum->cpu_ns += t->cpu_ns;
		sum->runnable_ns += t->runnable_ns;
		sum->blocked_ns += t->blocked_ns;
		for (k = 0; k < r->nr_kinds; k++)
			sum->kinds[k] += t->kinds[k];
	}
}

static void wallthreads_choose_columns(struct rows *r)
{
	const uint64_t *kinds = r->list[r->nr].kinds;
	bool taken[MAX_KINDS] = { false };
	size_t i;

	while (r->nr_columns < SHOWN_KINDS && r->nr_columns < r->nr_kinds) {
		size_t best = r->nr_kinds;

		for (i = 0; i < r->nr_kinds; i++)
			if (!taken[i] && (best == r->nr_kinds || kinds[i] > kinds[best]))
				best = i;
		taken[best] = true;
		r->columns[r->nr_columns++] = best;
	}
}

/* ---- rows ---- */

static int width_of_names(const struct rows *r)
{
	const struct model *m = r->v->m;
	struct buf b = BUF_INIT;
	size_t i, width = 0;

	for (i = 0; i < r->nr; i++) {
		buf_reset(&b);
		quote_add(&b, model_str(m, m->consumers.items[r->list[i].consumer].name));
		width = MAX(width, b.len);
	}
	buf_release(&b);
	return (int)width;
}

/* Write the reasons; of: rows; at: the index of a thread, or of the sum. */
static void json_reasons(struct json *j, const char *key, const void *of, uint64_t at)
{
	const struct rows *r = of;
	size_t i;

	json_object(j, key);
	for (i = 0; i < r->nr_kinds; i++)
		if (r->list[at].kinds[i])
			json_u64(j, r->kinds[i], r->list[at].kinds[i]);
	json_end(j);
}

static void wallthreads_add_row(const struct rows *r, const struct thread *t, struct sheet *s)
{
	const struct model *m = r->v->m;
	const struct consumer *c = &m->consumers.items[t->consumer];
	const char *name = model_str(m, c->name);
	const char *process = t->process ? model_str(m, m->consumers.items[t->process].name) : NULL;
	const char *top = t->top ? model_str(m, m->consumers.items[t->top].name) : NULL;
	struct cell cells[NR_CELLS] = {
		cell_text(name), cell_text(process),
		cell_u64(c->key >> 32), cell_u64((uint32_t)c->key), cell_u64(wall_of(t)), cell_u64(t->cpu_ns),
		cell_u64(t->runnable_ns), cell_u64(t->blocked_ns), cell_text(top),
		cell_made(json_reasons, r, t - r->list),
		[AT_OTHERS] = cell_u64(t->blocked_ns), cell_text(name), cell_text(top ? top : "-"),
	};
	struct buf sum = BUF_INIT;
	size_t i;

	for (i = 0; i < r->nr_columns; i++) {
		cells[AT_KINDS + i] = cell_u64(t->kinds[r->columns[i]]);
		cells[AT_OTHERS].u64 -= t->kinds[r->columns[i]];
	}
	if (t == sum_of(r)) {
		buf_str(&sum, "=====");
		if (r->nr_hidden)
			buf_fmt(&sum, " of all %zu threads; %zu are not shown", r->nr + r->nr_hidden,
				r->nr_hidden);
		cells[AT_PID] = cells[AT_TID] = cell_label("");
		cells[0] = cells[AT_PROCESS] = cells[AT_MOST] = cells[AT_NAME] = cell_absent;
		cells[AT_TOP] = cell_text(sum.data);
	}
	sheet_row(s, t == sum_of(r) ? "totals" : NULL, cells);
	buf_release(&sum);
}

static void wallthreads_add_rows(const struct rows *r, struct sheet *s)
{
	const bool others = r->nr_kinds > r->nr_columns;
	struct sheet_column columns[NR_CELLS] = {
		{ "name" }, { "process" },
		{ "pid", "PID", 7 },
		{ "tid", "TID", 7 },
		{ "wall_ns", "Wall", 11, 1, .unit = UNIT_MS },
		{ "cpu_ns", "CPU", 10, 1, .unit = UNIT_MS },
		{ "runnable_ns", "Runnable", 10, 1, .unit = UNIT_MS },
		{ "blocked_ns", "Blocked", 11, 1, .unit = UNIT_MS },
		{ "most_blocked_in" },
		{ .json = "reasons" },
		[AT_OTHERS] = { NULL, others ? "(others)" : NULL, 9, 1, .unit = UNIT_MS },
		{ NULL, "Name", -width_of_names(r), .before = "  ", .note = true },
		{ NULL, "Most blocked in", .before = "  ", .note = true },
	};
	char heads[SHOWN_KINDS][12];	/* as wide as the columns */
	size_t i;

	for (i = 0; i < r->nr_columns; i++) {
		snprintf(heads[i], sizeof(heads[i]), "%s", r->kinds[r->columns[i]]);
		columns[AT_KINDS + i] = (struct sheet_column){ NULL, heads[i], 11, 1, .unit = UNIT_MS };
	}
	sheet_columns(s, columns, NR_CELLS);
	if (r->v->o->format == FORMAT_JSON)
		wallthreads_add_row(r, sum_of(r), s);
	json_array(&s->json, "threads");
	for (i = 0; i < r->nr; i++)
		wallthreads_add_row(r, &r->list[i], s);
	sheet_end_rows(s);
	json_end(&s->json);
	if (sheet_is_text(s))
		wallthreads_add_row(r, sum_of(r), s);
}

static void wallthreads_print_head(const struct rows *r, FILE *out)
{
	const struct origin *origin = r->v->origin;
	struct buf b = BUF_INIT;

	report_put_duration(&b, wall_of(sum_of(r)));
	fprintf(out, "%s of wall in %zu thread%s over ", b.data, r->nr + r->nr_hidden,
		plural(r->nr + r->nr_hidden));
	buf_reset(&b);
	report_put_duration(&b, origin->duration_ns);
	buf_str(&b, ", ");
	report_put_lost(origin->lost, origin->stopped_ns, origin->nr_after, &b);
	fprintf(out, "%s\n", b.data);
	buf_reset(&b);
	report_put_filters(origin->filters, origin->nr_filters, origin->begin_ns, &b);
	report_put_filter(r->v->o->select.filter, origin->nr_left_out, "sample", &b);
	report_put_refused(origin, &b);
	report_put_own(origin, &b);
	fprintf(out, "%s Units :: ms\n\n", b.data ? b.data : "");
	buf_release(&b);
}

static void wallthreads_json_head(const struct rows *r, struct json *j)
{
	const struct origin *origin = r->v->origin;

	json_object(j, NULL);
	json_object(j, "source");
	json_u64(j, "duration_ns", origin->duration_ns);
	json_u64(j, "lost", origin->lost);
	report_json_stopped(origin->stopped_ns, origin->nr_after, j);
	report_json_filters(origin->filters, origin->nr_filters, origin->begin_ns, j);
	report_json_filter(r->v->o->select.filter, origin->nr_left_out, j);
	report_json_refused(origin, j);
	json_end(j);
}

static void wallthreads_print_rows(const struct rows *r, FILE *out)
{
	struct sheet s;

	sheet_init(&s, r->v->o->format, out);
	sheet_choose(&s, &r->v->o->choice);
	if (sheet_is_text(&s))
		wallthreads_print_head(r, out);
	wallthreads_json_head(r, &s.json);
	wallthreads_add_rows(r, &s);
	report_json_hidden(&s.json, r->nr_hidden + sheet_nr_hidden(&s));
	json_end(&s.json);
	sheet_end(&s);
}

static int print_view(struct view *v, FILE *out)
{
	struct rows r = { .v = v };
	size_t i;

	wallthreads_make_rows(&r);
	if (r.nr) {
		find_tops(&r);
		wallthreads_add_up(&r);
		wallthreads_choose_columns(&r);
		qsort_r(r.list, r.nr, sizeof(*r.list), wallthreads_compare, &r);
		if (v->o->limit && r.nr > v->o->limit) {
			r.nr_hidden = r.nr - v->o->limit;
			r.nr = v->o->limit;
		}
		wallthreads_print_rows(&r, out);
	}
	for (i = 0; i < r.nr_kinds; i++)
		free(r.kinds[i]);
	for (i = 0; r.list && i <= r.nr + r.nr_hidden; i++)
		free(r.list[i].kinds);
	free(r.list);
	free(r.row_of);
	return !r.nr;
}

int wall_threads_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	static char wall[] = "wall";
	static char *names_of[] = { wall };
	struct profile_opts po = *o->profile;
	struct origin origin;
	struct names names;
	struct model model;
	struct view view = { 0 };
	struct err err = { 0 };
	int r;

	po.metrics = (struct opt_list){ .items = names_of, .nr_items = 1 };
	r = profile_read(&names, &model, &origin, t, &po, &err);
	/* exact calls have a metric of that name, which knows no states of threads */
	if ((!r || r == -EINVAL) && names_find_event(&names, "wall") == UINT32_MAX)
		r = -ENODATA;
	else if (r)
		*e = err;
	else
		r = view_init(&view, &model, &origin, o, e);
	if (!r)
		r = print_view(&view, out);
	view_release(&view);
	names_release(&names);
	model_release(&model);
	return r;
}
