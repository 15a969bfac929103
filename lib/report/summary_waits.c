// SPDX-License-Identifier: GPL-2.0-or-later
/* summary_waits.c - what threads wait for inside their work, locks, and what is allocated. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/locks.h"
#include "report/summary.h"

enum {			/* rows */
	NR_WAITS = 6,
	NR_LOCKS = 3,
	NR_OBJECTS = 5,
};

/* ---- waits ---- */

static void add_waits(const struct summary *s, struct summary_rows *r, uint64_t *whole, uint64_t *idle)
{
	const struct flow *f = &s->v->m->flow;
	uint32_t *wait = xcalloc(f->nr_nodes, sizeof(*wait));
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = flow_base(f, i)[r->metric];

		wait[i] = wait[f->nodes[i].parent];
		if (!wait[i] && consumer_is_wait(s->v->m, f->nodes[i].consumer))
			wait[i] = f->nodes[i].consumer;
		if (!n || !wait[i])
			continue;
		flow_sum(s->idle[i] ? idle : whole, n);
		if (!s->idle[i])
			flow_sum(&summary_row_of(r, summary_where(s, i), wait[i])->self, n);
	}
	free(wait);
}

static uint64_t count_idle_threads(const struct summary *s)
{
	const struct flow *f = &s->v->m->flow;
	bool *has = xcalloc(f->nr_nodes, sizeof(*has));
	uint64_t nr = 0;
	size_t i;

	for (i = f->nr_nodes; i-- > 1;) {
		has[i] |= s->idle[i];
		if (has[i] && s->v->m->consumers.items[f->nodes[i].consumer].kind == CONSUMER_THREAD)
			nr++;
		has[f->nodes[i].parent] |= has[i];
	}
	free(has);
	return nr;
}

static void put_idle(struct summary *s, unsigned int metric, uint64_t idle)
{
	static const char by[] = "with nothing to do: pools, selectors, joins, the JVM's";
	uint64_t nr = count_idle_threads(s);
	const char *wait = summary_amount(s, metric, idle).text, *plural = nr == 1 ? "" : "s";

	if (summary_is_json(s)) {
		json_object(&s->sheet.json, "idle");
		json_u64(&s->sheet.json, "wait", idle);
		json_u64(&s->sheet.json, "threads", nr);
		json_end(&s->sheet.json);
	} else if (idle) {
		fprintf(s->sheet.out, summary_is_markdown(s) ? "\n%s by %" PRIu64 " thread%s %s\n" :
			"%20s  by %" PRIu64 " thread%s %s\n", wait, nr, plural, by);
	}
}

void summary_put_waits(struct summary *s, unsigned int metric)
{
	static const struct sheet_column columns[] = {
		{ "wait" }, { .head = "%Wait", .width = 7, .decimals = 1, .before = "  " },
		{ .head = "Wait", .width = 10 },
		{ "reason", "For", -20, .before = "  " },
		{ "name", "In", -2, .cut = true },
	};
	struct summary_rows r = { .metric = metric };
	uint64_t whole = 0, idle = 0;
	size_t i;

	add_waits(s, &r, &whole, &idle);
	if (!r.nr && !idle)	/* exact calls: how long they took says nothing of waits */
		return;
	summary_sort(&r, summary_most_self_first);
	summary_begin(s, "waits", "Waits inside work");
	if (r.nr)
		sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < MIN(r.nr, (size_t)NR_WAITS); i++) {
		const struct summary_row *x = &r.list[i];

		if (summary_percent(x->self, whole) < SUMMARY_WORTH_PERCENT)
			break;
		sheet_row(&s->sheet, NULL, (const struct cell[]){
			cell_u64(x->self), cell_real(summary_percent(x->self, whole)),
			summary_amount(s, metric, x->self),
			cell_text(consumer_name(&s->v->m->consumers, x->what)),
			cell_text(summary_name(s, x->where)),
		});
	}
	sheet_end_rows(&s->sheet);
	summary_end(s);
	put_idle(s, metric, idle);
	summary_rows_release(&r);
}

static int longest_first(const void *p, const void *q)
{
	const struct lock_row *a = p, *b = q;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->class_name, b->class_name);
}

void summary_put_locks(struct summary *s)
{
	static const struct sheet_column columns[] = {
		{ "wait_ns" }, { "n", "Waits", 9 }, { .head = "Wait", .width = 10 },
		{ "name", "Lock", -40, .before = "  " }, { "owner", "Mostly held by", -14 },
	};
	struct buf name = BUF_INIT, owner = BUF_INIT, time = BUF_INIT;
	struct locks_model m;
	struct err e;
	size_t i, nr = 0;

	if (locks_read(&m, s->v->trace, s->v->o->select.filter, &e) < 0)
		m.nr_rows = 0;
	if (m.nr_rows)
		qsort(m.rows, m.nr_rows, sizeof(*m.rows), longest_first);
	summary_begin(s, "locks", "Locks that threads waited for longest");
	if (m.nr_rows)
		sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < m.nr_rows && nr < NR_LOCKS; i++) {
		const struct lock_row *x = &m.rows[i];

		if (!x->ns || !locks_is_lock(x) || !select_number(&s->v->o->select.pids, x->pid) ||
		    !select_name(&s->v->o->select.comms, x->process))
			continue;
		buf_reset(&name);
		buf_reset(&owner);
		buf_reset(&time);
		locks_put_name(x, &name);
		locks_put_owner(x, &owner);
		report_put_duration(&time, x->ns);
		sheet_row(&s->sheet, NULL, (const struct cell[]){
			cell_u64(x->ns), cell_u64(x->n), cell_text(time.data), cell_text(name.data),
			cell_text(owner.data),
		});
		nr++;
	}
	sheet_end_rows(&s->sheet);
	summary_end(s);
	locks_model_release(&m);
	buf_release(&name);
	buf_release(&owner);
	buf_release(&time);
}

/* ---- objects ---- */

/* Check whether the stacks of a metric end in classes of objects. */
bool summary_is_of_objects(const struct summary *s, unsigned int metric)
{
	const struct flow *f = &s->v->m->flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		if (flow_base(f, i)[metric] &&
		    s->v->m->consumers.items[f->nodes[i].consumer].kind == CONSUMER_CLASS)
			return true;
	return false;
}

void summary_put_objects(struct summary *s, unsigned int metric)
{
	static const struct sheet_column columns[] = {
		{ "allocated" }, { .head = "%Bytes", .width = 7, .decimals = 1, .before = "  " },
		{ .head = "Bytes", .width = 10 },
		{ "name", "By", -46, .before = "  " }, { "class", "Class", -5, .cut = true },
	};
	const struct flow *f = &s->v->m->flow;
	struct summary_rows r = { .metric = metric };
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = flow_base(f, i)[metric];

		if (n)
			flow_sum(&summary_row_of(&r, summary_where(s, i), f->nodes[i].consumer)->self,
				 n);
	}
	summary_sort(&r, summary_most_self_first);
	summary_begin(s, "allocations", "What allocates most");
	sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < MIN(r.nr, (size_t)NR_OBJECTS); i++) {
		const struct summary_row *x = &r.list[i];

		if (summary_percent(x->self, s->v->total[metric]) < SUMMARY_WORTH_PERCENT)
			break;
		sheet_row(&s->sheet, NULL, (const struct cell[]){
			cell_u64(x->self), cell_real(summary_percent(x->self, s->v->total[metric])),
			summary_amount(s, metric, x->self), cell_text(summary_name(s, x->where)),
			cell_text(consumer_name(&s->v->m->consumers, x->what)),
		});
	}
	sheet_end_rows(&s->sheet);
	summary_end(s);
	summary_rows_release(&r);
}
