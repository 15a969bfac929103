// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - a row per thread: how long it ran, waited for a CPU and was blocked; then, for the whole
 * machine, a row per CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/sched.h"
#include "report/sheet.h"

struct rows {
	const struct sched_model *m;
	const struct report_opts *o;
	struct sched_kept kept;
	const struct sched_thread **list;
	size_t nr, nr_hidden;		/* shown; left out by --limit */
	struct sched_thread sum;	/* of all that were selected */
	uint64_t life_ns;
};

static bool is_kept(const struct sched_kept *k, const struct sched_thread *t)
{
	return filter_wants_event(k->filter, &(struct filter_event){
		.event = { "sched", NULL }, .duration_ns = UINT64_MAX, .thread = t->number,
	});
}

bool sched_selected(const struct selection *s, const struct sched_kept *k, const struct sched_thread *t)
{
	return t && selection_has_names(s, t->pid, t->tid, t->comm, t->name) && is_kept(k, t);
}

/* Return whether the thread has lived; the idle thread of a CPU is not counted. */
static bool has_lived(const struct sched_model *m, const struct sched_thread *t)
{
	return t->seen && t->tid && sched_life_ns(m, t);
}

int sched_kept_init(struct sched_kept *k, struct sched_model *m, const struct selection *s,
		    struct trace_reader *t, struct err *e)
{
	size_t i;
	int r;

	*k = (struct sched_kept){ .rules = s->filter };
	r = filter_new(&k->filter, &m->names, s->filter, t, e);
	for (i = 0; !r && k->filter && i < m->nr_threads; i++) {
		const struct sched_thread *x = &m->threads[i];

		k->nr_left_out += has_lived(m, x) && !is_kept(k, x) &&
				   selection_has_names(s, x->pid, x->tid, x->comm, x->name);
	}
	return r;
}

void sched_kept_release(struct sched_kept *k)
{
	filter_free(k->filter);
}

static uint64_t own_ns(const struct sched_thread *t)
{
	return t->times[SCHED_ON_CPU] - t->intr_ns;
}

static uint64_t threads_report_key_of(const struct sched_thread *t, const struct rows *r)
{
	switch (r->o->sort) {
	case SORT_CUM:
		return sched_life_ns(r->m, t);
	case SORT_N:
		return t->nr_dispatches;
	case SORT_WAIT:
		return t->times[SCHED_WAITS];
	case SORT_BLOCKED:
		return t->times[SCHED_ASLEEP] + t->times[SCHED_IN_DISK];
	case SORT_LATENCY:
		return t->wait_max_ns;
	default:
		return own_ns(t);
	}
}

static int threads_report_compare(const void *p, const void *q, void *ctx)
{
	const struct sched_thread *a = *(const struct sched_thread *const *)p,
				  *b = *(const struct sched_thread *const *)q;
	uint64_t ka = threads_report_key_of(a, ctx), kb = threads_report_key_of(b, ctx);
	const struct rows *r = ctx;
	int c = r->o->sort == SORT_NAME ? strcmp(a->name, b->name) : COMPARE(kb, ka);

	return c ?: COMPARE(a->number, b->number);
}

static void threads_report_add_up(struct rows *r, const struct sched_thread *t)
{
	struct sched_thread *s = &r->sum;
	size_t i;

	for (i = 0; i < SCHED_NR_BUCKETS; i++)
		s->times[i] += t->times[i];
	s->intr_ns += t->intr_ns;
	s->nr_dispatches += t->nr_dispatches;
	s->nr_preempted += t->nr_preempted;
	s->nr_voluntary += t->nr_voluntary;
	s->nr_migrations += t->nr_migrations;
	s->nr_intr += t->nr_intr;
	s->nr_soft += t->nr_soft;
	s->nr_waits += t->nr_waits;
	s->wait_sum_ns += t->wait_sum_ns;
	s->wait_max_ns = MAX(s->wait_max_ns, t->wait_max_ns);
	r->life_ns += sched_life_ns(r->m, t);
}

static void threads_report_make_rows(struct rows *r)
{
	size_t i;

	r->list = xcalloc(r->m->nr_threads + 1, sizeof(*r->list));
	for (i = 0; i < r->m->nr_threads; i++) {
		const struct sched_thread *t = &r->m->threads[i];

		if (!has_lived(r->m, t) || !sched_selected(&r->o->select, &r->kept, t))
			continue;
		threads_report_add_up(r, t);
		r->list[r->nr++] = t;
	}
	qsort_r(r->list, r->nr, sizeof(*r->list), threads_report_compare, r);
	if (r->o->limit && r->nr > r->o->limit) {
		r->nr_hidden = r->nr - r->o->limit;
		r->nr = r->o->limit;
	}
}

/* ---- rows ---- */

/* Append how text calls a thread: its name, and that of its process if it has another. */
static void threads_report_put_name(const struct sched_thread *t, struct buf *b)
{
	quote_add(b, t->name);
	if (strcmp(t->name, t->comm) && *t->comm) {
		buf_str(b, " (");
		quote_add(b, t->comm);
		buf_putc(b, ')');
	}
}

static void put_name_of_sum(const struct rows *r, struct buf *b)
{
	buf_str(b, "=====");
	if (r->nr_hidden)
		buf_fmt(b, " of all %zu threads; %zu are not shown", r->nr + r->nr_hidden, r->nr_hidden);
}

/* Add the row of a thread; all: of the sum over the threads. */
static void threads_report_add_row(const struct rows *r, struct sheet *s, const struct sched_thread *t,
				   bool all)
{
	struct buf b = BUF_INIT;

	if (all)
		put_name_of_sum(r, &b);
	else
		threads_report_put_name(t, &b);
	sheet_row(s, all ? "totals" : NULL, (const struct cell[]){
		all ? cell_absent : cell_text(t->name),
		all ? cell_absent : cell_text(t->comm),
		all ? cell_label("") : cell_u64(t->pid),
		all ? cell_label("") : cell_u64(t->tid),
		cell_u64(all ? r->life_ns : sched_life_ns(r->m, t)),
		cell_u64(own_ns(t)),
		cell_u64(t->intr_ns),
		cell_u64(t->times[SCHED_WAITS]),
		cell_u64(t->times[SCHED_ASLEEP]),
		cell_u64(t->times[SCHED_IN_DISK]),
		cell_u64(t->times[SCHED_UNKNOWN]),
		cell_u64(t->nr_dispatches),
		cell_u64(t->nr_preempted),
		cell_u64(t->nr_voluntary),
		cell_u64(t->nr_migrations),
		cell_u64(t->nr_intr),
		cell_u64(t->nr_soft),
		cell_u64(t->nr_waits),
		cell_u64(t->wait_sum_ns),
		t->nr_waits ? cell_real(t->wait_sum_ns / 1e3 / t->nr_waits) : cell_absent,
		t->nr_waits || !sheet_is_text(s) ? cell_u64(t->wait_max_ns) : cell_absent,
		cell_u64(t->odd),
		cell_text(b.data),
	});
	buf_release(&b);
}

/* Add the CPUs; text shows percent of the time. */
static void add_cpus(const struct sched_model *m, struct sheet *s)
{
	const double percent = MAX(m->end_ns - m->start_ns, (uint64_t)1) / 100.0;
	const struct sheet_column columns[] = {
		{ "cpu", "CPU", 7 },
		{ "busy_ns", "Busy", 7, 2, .unit = percent },
		{ "idle_ns", "Idle", 7, 2, .unit = percent },
		{ "interrupt_ns", "Intr", 7, 2, .unit = percent },
		{ "unknown_ns", "Unknown", 7, 2, .unit = percent },
		{ "dispatches", "Disp", 9 },
		{ "interrupts", "Intrs", 7 },
	};
	bool irq = m->irq || !sheet_is_text(s);
	size_t i;

	s->table = "CPUs";
	sheet_columns(s, columns, ARRAY_SIZE(columns));
	for (i = 0; i < m->nr_cpus; i++) {
		const struct sched_cpu *c = &m->cpus[i];

		sheet_row(s, NULL, (const struct cell[]){
			cell_u64(i), cell_u64(c->busy_ns), cell_u64(c->idle_ns),
			irq ? cell_u64(c->intr_ns) : cell_absent, cell_u64(c->unknown_ns),
			cell_u64(c->nr_dispatches), irq ? cell_u64(c->nr_intr) : cell_absent,
		});
	}
	sheet_end_rows(s);
}

/* Add the threads; text has only columns of what was recorded, and the sum at the end. */
static void add_threads(const struct rows *r, struct sheet *s)
{
	const bool irq = r->m->irq, states = r->m->states;
	const struct sheet_column columns[] = {
		{ "name" },
		{ "process" },
		{ "pid", "PID", 7 },
		{ "tid", "TID", 7 },
		{ "life_ns" },
		{ "cpu_ns", "CPU", 10, 3, .unit = UNIT_MS },
		{ "interrupt_ns", irq ? "Intr" : NULL, 9, 3, .unit = UNIT_MS },
		{ "runnable_ns", states ? "Runnable" : "Preempted", 10, 3, .unit = UNIT_MS },
		{ "sleep_ns", states ? "Sleep" : "OffCPU", 11, 3, .unit = UNIT_MS },
		{ "disk_ns", states ? "Disk" : NULL, 9, 3, .unit = UNIT_MS },
		{ "unknown_ns", "Unknown", 9, 3, .unit = UNIT_MS },
		{ "dispatches", "Disp", 7 },
		{ "preemptions", "Preempt", 7 },
		{ "voluntary", "Volunt", 7 },
		{ "migrations", "Migr", 6 },
		{ "interrupts", irq ? "Intrs" : NULL, 6 },
		{ "softirqs", irq ? "Softs" : NULL, 6 },
		{ "waits" },
		{ "wait_sum_ns" },
		{ NULL, "WaitAvg", 8, 1 },
		{ "wait_max_ns", "WaitMax", 9, 1, .unit = UNIT_US },
		{ "inconsistent" },
		{ NULL, "Name", .before = "  " },
	};
	size_t i;

	s->table = "threads";
	sheet_columns(s, columns, ARRAY_SIZE(columns));
	if (r->o->format == FORMAT_JSON)
		threads_report_add_row(r, s, &r->sum, true);
	json_array(&s->json, "threads");
	for (i = 0; i < r->nr; i++)
		threads_report_add_row(r, s, r->list[i], false);
	sheet_end_rows(s);
	json_end(&s->json);
	if (sheet_is_text(s))
		threads_report_add_row(r, s, &r->sum, true);
}

/* Print the rows; CSV has only threads. */
static void threads_report_print_rows(const struct rows *r, FILE *out)
{
	struct sheet s;
	bool text;

	sheet_init(&s, r->o->format, out);
	sheet_choose(&s, &r->o->choice);
	text = sheet_is_text(&s);
	if (text) {
		sched_head_text(r->m, &r->kept, r->nr + r->nr_hidden, out);
		fprintf(out, " Units :: ms; WaitAvg, WaitMax :: us; CPU is without interrupts where they were recorded\n\n");
	}
	sched_head_json(r->m, &r->kept, &s.json, "threads");
	add_threads(r, &s);
	if (text && r->m->system)
		fprintf(out, "\n Units :: %%, of the time between start and end\n\n");
	json_array(&s.json, "cpus");
	if (r->m->system && r->o->format != FORMAT_CSV)
		add_cpus(r->m, &s);
	json_end(&s.json);
	report_json_hidden(&s.json, r->nr_hidden + sheet_nr_hidden(&s));
	json_end(&s.json);
	sheet_end(&s);
}

static int threads_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct sched_model m;
	struct rows r = { .m = &m, .o = o };
	const struct sched_opts opts = { .select = &o->select };
	int ret = sched_read(&m, t, &opts, e);
	bool of_wall = ret == -ENODATA;

	if (of_wall)
		ret = wall_threads_print(t, o, out, e);
	else if (!ret)
		ret = sched_kept_init(&r.kept, &m, &o->select, t, e);
	if (!ret && !of_wall) {
		threads_report_make_rows(&r);
		threads_report_print_rows(&r, out);
		ret = !r.nr;
	}
	free(r.list);
	sched_kept_release(&r.kept);
	sched_release(&m);
	return ret;
}

const struct report report_threads = {
	.name = "threads",
	.help = "show how long each thread ran, waited and was blocked",
	.formats = FORMATS_TABLE,
	.sorts_by_wait = true,
	.filters = RULE_BIT(RULE_EVENT) | RULES_OF_THREADS,
	.needs = "a trace with dispatches or wall",
	/* of the event wall also what selects among samples */
	.follows = FOLLOWS_THREADS FOLLOWS_GROUPS FOLLOWS_TIMES FOLLOWS_CHOICE
		   "module symbol cpu off-cpu limit sort own-threads",
	.print_trace = threads_print,
};
