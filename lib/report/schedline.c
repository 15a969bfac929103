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
		buf_fmt(&b, " of %zu thread%s", nr_threads, plural(nr_threads));
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
	report_json_source(j, report, &m->names);
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

/* JSON has objects of threads. */
static const struct sheet_column columns[] = {
	{ "time_ns", "Time", 13, 6, .unit = UNIT_S },
	{ "cpu", "CPU", 4 },
	{ "kind" },
	{ .json = "thread" }, { .json = "out" },
	{ "out", .json = "" }, { "out_tid", .json = "" }, { "state", .json = "" },
	{ "ran_ns", "Ran", 10, 1, .unit = UNIT_US },
	{ NULL, "S" },
	{ .json = "interrupt" }, { .json = "state" }, { .json = "in" },
	{ "in", .json = "" }, { "in_tid", .json = "" },
	{ "waited_ns", "Waited", 10, 1, .unit = UNIT_US },
	{ "interrupt", .json = "" },
	{ NULL, "Thread -> thread that gets the CPU, or (interrupt)", .before = "  " },
};

static void schedline_begin(struct printer *p)
{
	p->begun = true;
	sheet_init(&p->sheet, p->o->format, p->out);
	sheet_choose(&p->sheet, &p->o->choice);
	sched_head_json(p->sums, &p->kept, &p->sheet.json, "sched");
	json_array(&p->sheet.json, "lines");
	if (sheet_is_text(&p->sheet)) {
		sched_head_text(p->sums, &p->kept, 0, p->out);
		fprintf(p->out, " Units :: s; Ran, Waited :: us\n\n");
	}
	sheet_columns(&p->sheet, columns, ARRAY_SIZE(columns));
}

static void schedline_put_thread(struct buf *b, const struct sched_thread *t)
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

/* Append what text shows of the threads: "a [1] -> b [2]", or "a [1] (interrupt)". */
static void schedline_put_threads(const struct sched_line *l, const char *interrupt, struct buf *b)
{
	schedline_put_thread(b, l->out);
	buf_str(b, l->is_intr ? " (" : " -> ");
	if (l->is_intr)
		quote_add(b, interrupt);
	else
		schedline_put_thread(b, l->in);
	buf_str(b, l->is_intr ? ")" : "");
}

static struct cell cell_thread(const struct sched_thread *t)
{
	return cell_text(!t ? NULL : t->tid ? t->name : "[idle]");
}

/* Write a thread; of: the model; at: the thread's index, or SIZE_MAX for none. */
static void schedline_json_thread(struct json *j, const char *key, const void *of, uint64_t at)
{
	const struct sched_model *m = of;
	const struct sched_thread *t;

	if (at == SIZE_MAX) {
		json_null(j, key);
		return;
	}
	t = &m->threads[at];
	json_object(j, key);
	json_str(j, "name", t->tid ? t->name : "[idle]");
	json_u64(j, "pid", t->pid);
	json_u64(j, "tid", t->tid);
	json_end(j);
}

static struct cell cell_object(const struct sched_model *m, const struct sched_thread *t)
{
	return cell_made(schedline_json_thread, m, t ? (uint64_t)(t - m->threads) : SIZE_MAX);
}

static void schedline_add_row(struct printer *p, const struct sched_line *l)
{
	const struct cell none = p->o->format == FORMAT_JSON ? cell_none : cell_absent;
	const char *state = l->is_intr || !l->out ? NULL : sched_state_letter(l->state);
	struct cell ran = l->ran_known ? cell_u64(l->ran_ns) : none, intr = cell_absent;
	struct cell waited = l->waited_known ? cell_u64(l->waited_ns) : none;
	struct cell out = cell_object(p->m, l->out), in = cell_object(p->m, l->in);
	struct buf interrupt = BUF_INIT, threads = BUF_INIT;

	if (l->is_intr) {
		sched_intr_name(p->m, l->intr, &interrupt);
		intr = cell_text(interrupt.data);
	}
	if (sheet_is_text(&p->sheet))
		schedline_put_threads(l, interrupt.data, &threads);
	sheet_row(&p->sheet, NULL, (const struct cell[ARRAY_SIZE(columns)]){
		cell_u64(l->time_ns - p->m->trace_start_ns),
		cell_u64(l->cpu),
		cell_text(l->is_intr ? "interrupt" : "dispatch"),
		l->is_intr ? out : cell_absent, l->is_intr ? cell_absent : out,
		cell_thread(l->out), l->out ? cell_u64(l->out->tid) : cell_absent, cell_text(state),
		ran,
		state && l->out->tid ? cell_text(state) : cell_absent,
		intr, l->is_intr ? cell_absent : cell_text(state), l->is_intr ? cell_absent : in,
		cell_thread(l->in), l->in ? cell_u64(l->in->tid) : cell_absent,
		l->is_intr && p->o->format == FORMAT_JSON ? cell_absent : waited,
		intr,
		cell_text(threads.data),
	});
	buf_release(&threads);
	buf_release(&interrupt);
}

static void schedline_print_line(void *ctx, const struct sched_line *l)
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
		schedline_begin(p);
	schedline_add_row(p, l);
}

static int sched_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct sched_model m = { .nr_threads = 0 }, sums;
	struct printer p = { .m = &m, .sums = &sums, .o = o, .out = out };
	struct sched_opts opts = { .select = &o->select };
	int r = sched_read(&sums, t, &opts, e);

	/* Read once for the sums, which come first, and once for the lines. */
	opts.line = schedline_print_line;
	opts.line_ctx = &p;
	if (!r)
		r = sched_kept_init(&p.kept, &sums, &o->select, t, e);
	if (!r)
		r = sched_read(&m, t, &opts, e);
	if (!r && !p.begun)
		schedline_begin(&p);
	if (p.begun) {
		sheet_end_rows(&p.sheet);
		json_end(&p.sheet.json);
		report_json_hidden(&p.sheet.json, p.nr_hidden + sheet_nr_hidden(&p.sheet));
		json_end(&p.sheet.json);
		sheet_end(&p.sheet);
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
	.follows = FOLLOWS_THREADS FOLLOWS_TIMES FOLLOWS_CHOICE "cpu limit",
	.print_trace = sched_print,
};
