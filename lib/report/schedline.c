// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schedline.c - the timeline of dispatches and interrupts, a line each, and the first lines of
 * both reports of them.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/sched.h"
#include "report/sheet.h"

void sched_head_text(const struct sched_model *m, const struct sched_kept *k, size_t nr_threads, FILE *out)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%" PRIu64 " dispatches", m->nr_dispatches);
	if (m->irq)
		buf_fmt(&b, ", %" PRIu64 " interrupts", m->nr_intr);
	if (nr_threads)
		buf_fmt(&b, " of %zu thread%s", nr_threads, nr_threads == 1 ? "" : "s");
	buf_str(&b, " over ");
	report_put_duration(&b, m->end_ns - m->start_ns);
	buf_str(&b, ", ");
	report_put_lost(m->nr_lost, names_stopped_ns(&m->names), m->nr_after, &b);
	if (m->nr_odd)
		buf_fmt(&b, ", %" PRIu64 " do not fit the one before", m->nr_odd);
	if (names_label(&m->names, "command")) {
		buf_str(&b, "; ");
		quote_add(&b, names_label(&m->names, "command"));
	}
	buf_putc(&b, '\n');
	report_put_filter(k->rules, k->nr_left_out, "thread", &b);
	if (names_label(&m->names, "refused.sched")) {
		buf_str(&b, "not recorded: ");
		quote_add(&b, names_label(&m->names, "refused.sched"));
		buf_putc(&b, '\n');
	}
	fwrite(b.data, 1, b.len, out);
	buf_release(&b);
}

void sched_head_json(const struct sched_model *m, const struct sched_kept *k, struct json *j,
		     const char *report)
{
	report_json_begin(j, report);
	json_object(j, "source");
	json_str(j, "command", names_label(&m->names, "command"));
	json_str(j, "host", names_label(&m->names, "host"));
	json_str(j, "scope", m->system ? "system" : "threads");
	json_bool(j, "states", m->states);
	json_bool(j, "interrupts", m->irq);
	json_u64(j, "elapsed_ns", m->end_ns - m->start_ns);
	json_u64(j, "lost", m->nr_lost);
	report_json_stopped(names_stopped_ns(&m->names), m->nr_after, j);
	report_json_filter(k->rules, k->nr_left_out, j);
	json_u64(j, "inconsistent", m->nr_odd);
	json_u64(j, "dispatches", m->nr_dispatches);
	json_u64(j, "interrupts_taken", m->nr_intr);
	json_str(j, "refused_sched", names_label(&m->names, "refused.sched"));
	json_end(j);
}

struct printer {
	struct sched_model *m;
	const struct sched_model *sums;		/* the same when all is read */
	const struct report_opts *o;
	struct sched_kept kept;
	FILE *out;
	struct sheet sheet;
	uint64_t nr, nr_hidden;
	bool begun;
};

/* JSON has objects of threads in place of these. */
static const struct sheet_column columns[] = {
	{ "time_ns", "Time", 13, 6, .unit = UNIT_S },
	{ "cpu", "CPU", 4 },
	{ "kind" }, { "out" }, { "out_tid" }, { "state" },
	{ "ran_ns", "Ran", 10, 1, .unit = UNIT_US },
	{ NULL, "S" },
	{ "in" }, { "in_tid" },
	{ "waited_ns", "Waited", 10, 1, .unit = UNIT_US },
	{ "interrupt" },
	{ NULL, "Thread -> thread that gets the CPU, or (interrupt)", .before = "  " },
};

static void begin(struct printer *p)
{
	p->begun = true;
	sheet_init(&p->sheet, p->o->format, p->out);
	sched_head_json(p->sums, &p->kept, &p->sheet.json, "sched");
	json_array(&p->sheet.json, "lines");
	if (sheet_is_text(&p->sheet)) {
		sched_head_text(p->sums, &p->kept, 0, p->out);
		fprintf(p->out, " Units :: s; Ran, Waited :: us\n\n");
	}
	sheet_columns(&p->sheet, columns, ARRAY_SIZE(columns));
}

static void put_thread(struct buf *b, const struct sched_thread *t)
{
	if (!t) {
		buf_str(b, "[other]");
	} else if (!t->tid) {
		buf_str(b, "[idle]");
	} else {
		quote_add(b, t->name);
		buf_fmt(b, " [%" PRIu32 "]", t->tid);
	}
}

/* What text says of the threads: "a [1] -> b [2]", or "a [1] (interrupt)". */
static void put_threads(const struct sched_line *l, const char *interrupt, struct buf *b)
{
	put_thread(b, l->out);
	buf_str(b, l->is_intr ? " (" : " -> ");
	if (l->is_intr)
		quote_add(b, interrupt);
	else
		put_thread(b, l->in);
	buf_str(b, l->is_intr ? ")" : "");
}

static struct cell cell_thread(const struct sched_thread *t)
{
	return cell_text(!t ? NULL : t->tid ? t->name : "[idle]");
}

static struct cell cell_known(bool known, uint64_t val)
{
	return known ? cell_u64(val) : cell_absent;
}

static void add_row(struct printer *p, const struct sched_line *l)
{
	const char *state = l->is_intr || !l->out ? NULL : sched_state_letter(l->state);
	struct buf interrupt = BUF_INIT, threads = BUF_INIT;

	if (l->is_intr)
		sched_intr_name(p->m, l->intr, &interrupt);
	if (sheet_is_text(&p->sheet))
		put_threads(l, interrupt.data, &threads);
	sheet_row(&p->sheet, NULL, (const struct cell[]){
		cell_u64(l->time_ns - p->m->trace_start_ns),
		cell_u64(l->cpu),
		cell_text(l->is_intr ? "interrupt" : "dispatch"),
		cell_thread(l->out),
		cell_known(l->out, l->out ? l->out->tid : 0),
		cell_text(state),
		cell_known(l->ran_known, l->ran_ns),
		state && l->out->tid ? cell_text(state) : cell_absent,
		cell_thread(l->in),
		cell_known(l->in, l->in ? l->in->tid : 0),
		cell_known(l->waited_known, l->waited_ns),
		cell_text(interrupt.data),
		cell_text(threads.data),
	});
	buf_release(&threads);
	buf_release(&interrupt);
}

static void json_thread(struct json *j, const char *key, const struct sched_thread *t)
{
	if (!t) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_str(j, "name", t->tid ? t->name : "[idle]");
	json_u64(j, "pid", t->pid);
	json_u64(j, "tid", t->tid);
	json_end(j);
}

static void json_line(struct printer *p, const struct sched_line *l)
{
	struct json *j = &p->sheet.json;
	struct buf name = BUF_INIT;

	json_object(j, NULL);
	json_u64(j, "time_ns", l->time_ns - p->m->trace_start_ns);
	json_u64(j, "cpu", l->cpu);
	json_str(j, "kind", l->is_intr ? "interrupt" : "dispatch");
	json_thread(j, l->is_intr ? "thread" : "out", l->out);
	json_u64_known(j, "ran_ns", l->ran_known, l->ran_ns);
	if (l->is_intr) {
		sched_intr_name(p->m, l->intr, &name);
		json_str(j, "interrupt", name.data);
	} else {
		json_str(j, "state", l->out ? sched_state_letter(l->state) : NULL);
		json_thread(j, "in", l->in);
		json_u64_known(j, "waited_ns", l->waited_known, l->waited_ns);
	}
	json_end(j);
	buf_release(&name);
}

static void print_line(void *ctx, const struct sched_line *l)
{
	struct printer *p = ctx;
	const struct report_opts *o = p->o;
	const struct selection *s = &o->select;
	bool all = !(selection_wants(s) & SELECT_BY_THREAD) && !p->kept.filter;

	if (!select_number(&o->select.cpus, l->cpu))
		return;
	if (!all && !sched_selected(s, &p->kept, l->out) && !sched_selected(s, &p->kept, l->in))
		return;
	if (o->limit && p->nr >= o->limit) {
		p->nr_hidden++;
		return;
	}
	p->nr++;
	if (!p->begun)
		begin(p);
	if (o->format == FORMAT_JSON)
		json_line(p, l);
	else
		add_row(p, l);
}

static int sched_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct sched_model m = { .nr_threads = 0 }, sums;
	struct printer p = { .m = &m, .sums = &sums, .o = o, .out = out };
	struct sched_opts opts = { .select = &o->select };
	int r = sched_read(&sums, t, &opts, e);

	/* Once for the sums that are said first, once for the lines. */
	opts.line = print_line;
	opts.line_ctx = &p;
	if (!r)
		r = sched_kept_init(&p.kept, &sums, &o->select, t, e);
	if (!r)
		r = sched_read(&m, t, &opts, e);
	if (!r && !p.begun)
		begin(&p);
	if (!r && o->format == FORMAT_JSON) {
		json_end(&p.sheet.json);
		report_json_hidden(&p.sheet.json, p.nr_hidden);
		json_end(&p.sheet.json);
	}
	if (!r)
		r = !p.nr;
	sched_kept_release(&p.kept);
	sched_release(&m);
	sched_release(&sums);
	return r;
}

const struct report report_sched = {
	.name = "sched",
	.help = "list dispatches and interrupts in time order",
	.formats = FORMATS_TABLE,
	.filters = RULES_OF_THREADS,
	.needs = "a trace with dispatches",
	.follows = FOLLOWS_THREADS FOLLOWS_TIMES "cpu limit",
	.print_trace = sched_print,
};
