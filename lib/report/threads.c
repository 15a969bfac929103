// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - a row per thread: how long it ran, waited for a CPU and was blocked; then, for the whole
 * machine, a row per CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/sched.h"
#include "report/sheet.h"
#include "report/wallthreads.h"

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

static bool is_listed(const struct selection *s, const struct sched_thread *t)
{
	return t && select_number(s->pids, t->pid) && select_number(s->tids, t->tid) &&
	       select_name(s->comms, t->comm) && select_name(s->threads, t->name);
}

bool sched_selected(const struct selection *s, const struct sched_kept *k, const struct sched_thread *t)
{
	return is_listed(s, t) && is_kept(k, t);
}

/* The idle thread of a CPU is no thread. */
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

		k->nr_left_out += has_lived(m, x) && is_listed(s, x) && !is_kept(k, x);
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

static uint64_t key_of(const struct sched_thread *t, const struct rows *r)
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

static int compare(const void *p, const void *q, void *ctx)
{
	const struct sched_thread *a = *(const struct sched_thread *const *)p,
				  *b = *(const struct sched_thread *const *)q;
	uint64_t ka = key_of(a, ctx), kb = key_of(b, ctx);
	const struct rows *r = ctx;
	int c = r->o->sort == SORT_NAME ? strcmp(a->name, b->name) : 0;

	if (c || r->o->sort == SORT_NAME)
		return c ? c : a->number < b->number ? -1 : 1;
	return ka != kb ? (ka > kb ? -1 : 1) : a->number < b->number ? -1 : a->number > b->number;
}

static void add_up(struct rows *r, const struct sched_thread *t)
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

static void make_rows(struct rows *r)
{
	size_t i;

	r->list = xcalloc(r->m->nr_threads + 1, sizeof(*r->list));
	for (i = 0; i < r->m->nr_threads; i++) {
		const struct sched_thread *t = &r->m->threads[i];

		if (!has_lived(r->m, t) || !sched_selected(&r->o->select, &r->kept, t))
			continue;
		add_up(r, t);
		r->list[r->nr++] = t;
	}
	qsort_r(r->list, r->nr, sizeof(*r->list), compare, r);
	if (r->o->limit && r->nr > r->o->limit) {
		r->nr_hidden = r->nr - r->o->limit;
		r->nr = r->o->limit;
	}
}

/* ---- text ---- */

static void put_row(const struct rows *r, const struct sched_thread *t, FILE *out)
{
	double ms = 1e6;

	fprintf(out, " %10.3f", own_ns(t) / ms);
	if (r->m->irq)
		fprintf(out, " %9.3f", t->intr_ns / ms);
	if (r->m->states)
		fprintf(out, " %10.3f %11.3f %9.3f", t->times[SCHED_WAITS] / ms, t->times[SCHED_ASLEEP] / ms,
			t->times[SCHED_IN_DISK] / ms);
	else
		fprintf(out, " %10.3f %11.3f", t->times[SCHED_WAITS] / ms, t->times[SCHED_ASLEEP] / ms);
	fprintf(out, " %9.3f %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %6" PRIu64, t->times[SCHED_UNKNOWN] / ms,
		t->nr_dispatches, t->nr_preempted, t->nr_voluntary, t->nr_migrations);
	if (r->m->irq)
		fprintf(out, " %6" PRIu64 " %6" PRIu64, t->nr_intr, t->nr_soft);
	if (t->nr_waits)
		fprintf(out, " %8.1f %9.1f", t->wait_sum_ns / 1e3 / t->nr_waits, t->wait_max_ns / 1e3);
	else
		fprintf(out, " %8s %9s", "-", "-");
}

static void put_head(const struct rows *r, FILE *out)
{
	fprintf(out, "%7s %7s %10s", "PID", "TID", "CPU");
	if (r->m->irq)
		fprintf(out, " %9s", "Intr");
	if (r->m->states)
		fprintf(out, " %10s %11s %9s", "Runnable", "Sleep", "Disk");
	else
		fprintf(out, " %10s %11s", "Preempted", "OffCPU");
	fprintf(out, " %9s %7s %7s %7s %6s", "Unknown", "Disp", "Preempt", "Volunt", "Migr");
	if (r->m->irq)
		fprintf(out, " %6s %6s", "Intrs", "Softs");
	fprintf(out, " %8s %9s  Name\n", "WaitAvg", "WaitMax");
}

static void put_cpus(const struct sched_model *m, FILE *out)
{
	double all = MAX(m->end_ns - m->start_ns, (uint64_t)1) / 100.0;
	size_t i;

	fprintf(out, "\n Units :: %%, of the time between start and end\n\n%7s %7s %7s %7s %7s %9s %7s\n", "CPU", "Busy",
		"Idle", "Intr", "Unknown", "Disp", "Intrs");
	for (i = 0; i < m->nr_cpus; i++) {
		const struct sched_cpu *c = &m->cpus[i];

		fprintf(out, "%7zu %7.2f %7.2f ", i, c->busy_ns / all, c->idle_ns / all);
		if (m->irq)
			fprintf(out, "%7.2f", c->intr_ns / all);
		else
			fprintf(out, "%7s", "-");
		fprintf(out, " %7.2f %9" PRIu64, c->unknown_ns / all, c->nr_dispatches);
		if (m->irq)
			fprintf(out, " %7" PRIu64 "\n", c->nr_intr);
		else
			fprintf(out, " %7s\n", "-");
	}
}

static void print_text(const struct rows *r, FILE *out)
{
	struct buf b = BUF_INIT;
	size_t i;

	sched_head_text(r->m, &r->kept, r->nr + r->nr_hidden, out);
	fprintf(out, " Units :: ms; WaitAvg, WaitMax :: us; CPU is without interrupts where they were recorded\n\n");
	put_head(r, out);
	for (i = 0; i < r->nr; i++) {
		const struct sched_thread *t = r->list[i];

		fprintf(out, "%7" PRIu32 " %7" PRIu32, t->pid, t->tid);
		put_row(r, t, out);
		buf_reset(&b);
		quote_add(&b, t->name);
		if (strcmp(t->name, t->comm) && *t->comm) {
			buf_str(&b, " (");
			quote_add(&b, t->comm);
			buf_putc(&b, ')');
		}
		fprintf(out, "  %s\n", b.data ? b.data : "");
	}
	fprintf(out, "%7s %7s", "", "");
	put_row(r, &r->sum, out);
	fprintf(out, "  =====");
	if (r->nr_hidden)
		fprintf(out, " of all %zu threads; %zu are not shown", r->nr + r->nr_hidden, r->nr_hidden);
	putc('\n', out);
	if (r->m->system)
		put_cpus(r->m, out);
	buf_release(&b);
}

/* ---- rows of the other formats ---- */

/* all: the sum over the threads, which is no thread. */
static void add_row(const struct rows *r, struct sheet *s, const struct sched_thread *t, bool all)
{
	sheet_row(s, all ? "totals" : NULL, (const struct cell[]){
		all ? cell_absent : cell_text(t->name),
		all ? cell_absent : cell_text(t->comm),
		all ? cell_absent : cell_u64(t->pid),
		all ? cell_absent : cell_u64(t->tid),
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
		cell_u64(t->wait_max_ns),
		cell_u64(t->odd),
	});
}

static void json_cpus(struct json *j, const struct sched_model *m)
{
	size_t i;

	json_array(j, "cpus");
	for (i = 0; i < m->nr_cpus && m->system; i++) {
		const struct sched_cpu *c = &m->cpus[i];

		json_object(j, NULL);
		json_u64(j, "cpu", i);
		json_u64(j, "busy_ns", c->busy_ns);
		json_u64(j, "idle_ns", c->idle_ns);
		json_u64(j, "interrupt_ns", c->intr_ns);
		json_u64(j, "unknown_ns", c->unknown_ns);
		json_u64(j, "dispatches", c->nr_dispatches);
		json_u64(j, "interrupts", c->nr_intr);
		json_end(j);
	}
	json_end(j);
}

/* CSV has the threads alone. */
static void print_rows(const struct rows *r, FILE *out)
{
	static const struct sheet_column columns[] = {
		{ "name" }, { "process" }, { "pid" }, { "tid" }, { "life_ns" }, { "cpu_ns" }, { "interrupt_ns" },
		{ "runnable_ns" }, { "sleep_ns" }, { "disk_ns" }, { "unknown_ns" }, { "dispatches" },
		{ "preemptions" }, { "voluntary" }, { "migrations" }, { "interrupts" }, { "softirqs" },
		{ "waits" }, { "wait_sum_ns" }, { "wait_max_ns" }, { "inconsistent" },
	};
	struct sheet s;
	size_t i;

	sheet_init(&s, r->o->format, out);
	sched_head_json(r->m, &r->kept, &s.json, "threads");
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	if (r->o->format == FORMAT_JSON)
		add_row(r, &s, &r->sum, true);
	json_array(&s.json, "threads");
	for (i = 0; i < r->nr; i++)
		add_row(r, &s, r->list[i], false);
	json_end(&s.json);
	json_cpus(&s.json, r->m);
	if (r->o->format == FORMAT_JSON)
		report_json_hidden(&s.json, r->nr_hidden);
	json_end(&s.json);
}

static int threads_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct sched_model m;
	struct rows r = { .m = &m, .o = o };
	const struct sched_opts opts = { .from_ns = o->profile->from_ns, .to_ns = o->profile->to_ns };
	int ret = sched_read(&m, t, &opts, e);
	bool of_wall = ret == -ENODATA;

	if (of_wall)
		ret = wall_threads_print(t, o, out, e);
	else if (!ret)
		ret = sched_kept_init(&r.kept, &m, &o->select, t, e);
	if (!ret && !of_wall) {
		make_rows(&r);
		if (o->format == FORMAT_TEXT)
			print_text(&r, out);
		else
			print_rows(&r, out);
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
	.follows = FOLLOWS_LIMIT | FOLLOWS_SORT | FOLLOWS_OWN,
	.print_trace = threads_print,
};
