// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakers.c - who ended the waits of each thread; in which code those were then; and chains of waits, each of
 * which was ended by a thread that had waited itself meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/wakers.h"
#include "report/report.h"
#include "report/sheet.h"

struct shown {
	struct wakers m;
	const struct report_opts *o;
	bool rows, codes, chains;	/* which tables were asked for */
	size_t nr_rows, nr_codes, nr_chains;	/* of them, that --limit shows */
};

static size_t limited(const struct report_opts *o, size_t nr)
{
	return o->limit && nr > o->limit ? o->limit : nr;
}

/* ---- rows ---- */

static void wakers_put_thread(const struct shown *s, uint32_t thread, struct buf *b)
{
	struct thread_name t = names_thread_name(&s->m.names, thread);

	quote_add(b, t.name);
	if (t.tid)
		buf_fmt(b, " [tid %" PRIu32 "]", t.tid);
}

static void put_waker(const struct shown *s, uint32_t kind, uint32_t thread, struct buf *b)
{
	if (kind == WAKE_THREAD)
		wakers_put_thread(s, thread, b);
	else
		buf_fmt(b, "[%s]", wakers_kind(kind));
}

static double percent_of(const struct shown *s, uint64_t ns)
{
	return s->m.ns ? 100.0 * (double)ns / (double)s->m.ns : 0;
}

/* Return a thousandth of all: text leaves out what is shorter. */
static uint64_t least_ns(const struct shown *s)
{
	return s->o->limit ? 0 : s->m.ns / 1000;
}

enum { CELLS = 3, MAX_WIDTH = 40 };	/* of text in a row; the last is as wide as it is */

static void fill_cells(const struct shown *s, const struct waker_row *r, struct buf *cells)
{
	int i;

	for (i = 0; i < CELLS; i++)
		buf_reset(&cells[i]);
	wakers_put_thread(s, r->thread, &cells[0]);
	quote_add(&cells[1], wakers_reason(&s->m, r->function));
	put_waker(s, r->kind, r->waker, &cells[2]);
}

/* Return the width of the widest text in that cell of all rows. */
static int wakers_width_of(const struct shown *s, int cell)
{
	struct buf cells[CELLS] = { BUF_INIT, BUF_INIT, BUF_INIT };
	size_t i, width = sizeof("Thread") - 1;
	int k;

	for (i = 0; i < s->nr_rows; i++) {
		fill_cells(s, &s->m.rows[i], cells);
		width = MAX(width, MIN(cells[cell].len, (size_t)MAX_WIDTH));
	}
	for (k = 0; k < CELLS; k++)
		buf_release(&cells[k]);
	return (int)width;
}

/* Return how many it leaves out. */
static size_t wakers_add_rows(const struct shown *s, struct sheet *sheet)
{
	struct buf text[CELLS] = { BUF_INIT, BUF_INIT, BUF_INIT };
	const struct sheet_column columns[] = {
		{ NULL, "Blocked", 11, 3, .unit = UNIT_MS }, { NULL, "%", 6, 2 }, { NULL, "Samples", 8 },
		{ NULL, "Thread", -wakers_width_of(s, 0), .before = "  " },
		{ NULL, "Reason", -wakers_width_of(s, 1), .before = "  " },
		{ NULL, "Ended by", .before = "  " },
		{ "thread" }, { "pid" }, { "tid" }, { "reason" }, { "ended_by" }, { "waker" }, { "waker_pid" },
		{ "waker_tid" }, { "samples" }, { "blocked_ns" },
	};
	size_t i;
	int k;

	sheet->table = "threads";
	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr_rows; i++) {
		const struct waker_row *r = &s->m.rows[i];
		struct thread_name t = names_thread_name(&s->m.names, r->thread);
		struct thread_name w = names_thread_name(&s->m.names, r->waker);
		bool by_thread = r->kind == WAKE_THREAD;

		fill_cells(s, r, text);
		sheet_row(sheet, NULL, (const struct cell[]){
			cell_u64(r->ns), cell_real(percent_of(s, r->ns)), cell_u64(r->n),
			cell_text(text[0].data), cell_text(text[1].data), cell_text(text[2].data),
			cell_text(t.name), cell_u64(t.pid), t.tid ? cell_u64(t.tid) : cell_none,
			cell_text(wakers_reason(&s->m, r->function)), cell_text(wakers_kind(r->kind)),
			by_thread ? cell_text(w.name) : cell_none, by_thread ? cell_u64(w.pid) : cell_none,
			by_thread && w.tid ? cell_u64(w.tid) : cell_none, cell_u64(r->n), cell_u64(r->ns),
		});
	}
	sheet_end_rows(sheet);
	for (k = 0; k < CELLS; k++)
		buf_release(&text[k]);
	return 0;
}

/* Set the functions of a place, innermost first; return their number. */
static size_t functions_of(const struct shown *s, uint32_t at, uint32_t *functions)
{
	size_t nr = 0;

	for (; at && nr < WAKERS_MAX_FRAMES; at = s->m.places[at].parent)
		functions[nr++] = s->m.places[at].consumer;
	return nr;
}

static void print_functions(const struct shown *s, uint32_t place, FILE *out)
{
	enum { FEW = 12 };	/* of a table among others */
	uint32_t functions[WAKERS_MAX_FRAMES];
	size_t nr = functions_of(s, place, functions), shown = s->rows ? MIN(nr, (size_t)FEW) : nr, i;
	struct buf name = BUF_INIT;

	for (i = 0; i < shown; i++) {
		buf_reset(&name);
		quote_add(&name, wakers_function(&s->m, functions[i]));
		fprintf(out, "%31s%s\n", "", name.data);
	}
	if (shown < nr)
		fprintf(out, "%31s... %zu more\n", "", nr - shown);
	if (!nr)
		fprintf(out, "%31sn/a\n", "");
	buf_release(&name);
}

/* Append the functions outermost first, as in folded stacks; none: not known. */
static void wakers_put_functions(const struct shown *s, uint32_t place, struct buf *b)
{
	uint32_t functions[WAKERS_MAX_FRAMES];
	size_t nr = functions_of(s, place, functions);

	while (nr--) {
		buf_str(b, wakers_function(&s->m, functions[nr]));
		buf_str(b, nr ? ";" : "");
	}
}

/*
 * Write objects of JSON for cells; of: shown; the number is a thread's, a place's, or that of a chain's last
 * step.
 */
static void wakers_json_thread(struct json *j, const char *name, const void *of, uint64_t thread)
{
	const struct shown *s = of;
	struct thread_name t = names_thread_name(&s->m.names, thread);

	json_object(j, name);
	json_str(j, "thread", t.name);
	json_u64(j, "pid", t.pid);
	json_u64_known(j, "tid", t.tid, t.tid);
	json_end(j);
}

static void json_functions(struct json *j, const char *name, const void *of, uint64_t place)
{
	const struct shown *s = of;
	uint32_t functions[WAKERS_MAX_FRAMES];
	size_t nr = functions_of(s, place, functions);

	json_array(j, name);
	while (nr--)
		json_str(j, NULL, wakers_function(&s->m, functions[nr]));
	json_end(j);
}

/*
 * Add the rows, in text without those below a thousandth of the time, as chains are. Below each are its
 * functions, unless the user chose columns. Returns how many were left out.
 */
static size_t add_codes(const struct shown *s, struct sheet *sheet)
{
	static const struct sheet_column columns[] = {
		{ NULL, "Blocked", 11, 3, .unit = UNIT_MS, .json = "blocked_ns" }, { NULL, "%", 6, 2 },
		{ NULL, "Samples", 8, .json = "samples" },
		{ NULL, "Ended by, whose wait", .before = "  " },
		{ "thread", .json = "" }, { "pid", .json = "" }, { "tid", .json = "" },
		{ .json = "waker" }, { .json = "waiter" },
		{ "reason" },
		{ "waker", .json = "" }, { "waker_pid", .json = "" }, { "waker_tid", .json = "" },
		{ .json = "known" }, { .json = "stack" },
		{ "stack", .json = "" }, { "samples", .json = "" }, { "blocked_ns", .json = "" },
	};
	bool text = sheet_is_text(sheet);
	struct buf cells[CELLS] = { BUF_INIT, BUF_INIT, BUF_INIT }, stack = BUF_INIT;
	size_t nr_small = 0, i;
	int k;

	sheet->table = "code";
	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr_codes; i++) {
		const struct waker_code *x = &s->m.codes[i];
		const struct waker_row *r = &s->m.rows[x->row];
		struct thread_name t = names_thread_name(&s->m.names, r->thread);
		struct thread_name w = names_thread_name(&s->m.names, r->waker);

		if (text && x->ns < least_ns(s)) {
			nr_small++;
			continue;
		}
		fill_cells(s, r, cells);
		buf_fmt(&cells[2], ", %s %s", cells[0].data, cells[1].data);
		buf_reset(&stack);
		wakers_put_functions(s, x->place, &stack);
		sheet_row(sheet, NULL, (const struct cell[]){
			cell_u64(x->ns), cell_real(percent_of(s, x->ns)), cell_u64(x->n),
			cell_text(cells[2].data), cell_text(t.name), cell_u64(t.pid),
			t.tid ? cell_u64(t.tid) : cell_none,
			cell_made(wakers_json_thread, s, r->waker),
			cell_made(wakers_json_thread, s, r->thread),
			cell_text(wakers_reason(&s->m, r->function)),
			cell_text(w.name), cell_u64(w.pid), w.tid ? cell_u64(w.tid) : cell_none,
			cell_bool(x->place), cell_made(json_functions, s, x->place),
			x->place ? cell_text(stack.data) : cell_none, cell_u64(x->n), cell_u64(x->ns),
		});
		if (text && !sheet->chosen)
			print_functions(s, x->place, sheet->out);
	}
	sheet_end_rows(sheet);
	for (k = 0; k < CELLS; k++)
		buf_release(&cells[k]);
	buf_release(&stack);
	return nr_small;
}

/* Set the step and those before it, first the one without a parent; return their number. */
static size_t steps_of(const struct shown *s, uint32_t at, uint32_t *steps)
{
	size_t nr = 0, i;

	for (; at && nr < CHAINS_MAX_DEPTH + 2; at = s->m.chains.steps[at].parent)
		steps[nr++] = at;
	for (i = 0; i < nr / 2; i++) {
		uint32_t other = steps[nr - 1 - i];

		steps[nr - 1 - i] = steps[i];
		steps[i] = other;
	}
	return nr;
}

static void put_chain(const struct shown *s, uint32_t at, struct buf *b)
{
	uint32_t steps[CHAINS_MAX_DEPTH + 2];
	size_t nr = steps_of(s, at, steps), i;

	for (i = 0; i < nr; i++) {
		const struct chain_step *x = &s->m.chains.steps[steps[i]];

		buf_str(b, i ? " <- " : "");
		if (i + 1 < nr) {
			wakers_put_thread(s, x->thread, b);
			buf_putc(b, ' ');
			quote_add(b, wakers_reason(&s->m, x->what));
		} else {
			put_waker(s, x->kind, x->thread, b);
			buf_str(b, x->cut ? " ..." : "");
		}
	}
}

static void json_steps(struct json *j, const char *name, const void *of, uint64_t at)
{
	const struct shown *s = of;
	uint32_t steps[CHAINS_MAX_DEPTH + 2];
	size_t nr = steps_of(s, at, steps), i;

	json_array(j, name);
	for (i = 0; i < nr; i++) {
		const struct chain_step *x = &s->m.chains.steps[steps[i]];
		struct thread_name t = names_thread_name(&s->m.names, x->thread);
		bool last = i + 1 == nr, thread = !last || x->kind == WAKE_THREAD;

		json_object(j, NULL);
		json_str(j, "thread", thread ? t.name : NULL);
		json_u64_known(j, "pid", thread, t.pid);
		json_u64_known(j, "tid", thread && t.tid, t.tid);
		json_str(j, "reason", last ? NULL : wakers_reason(&s->m, x->what));
		if (last)
			json_str(j, "ended_by", wakers_kind(x->kind));
		json_end(j);
	}
	json_end(j);
}

/*
 * Add the chains; text leaves out the short ones, of which there can be hundreds. Returns how many were left
 * out.
 */
static size_t add_chains(const struct shown *s, struct sheet *sheet)
{
	static const struct sheet_column columns[] = {
		{ NULL, "Blocked", 11, 3, .unit = UNIT_MS, .json = "blocked_ns" }, { NULL, "%", 6, 2 },
		{ .json = "cut" }, { .json = "chain" },
		{ "chain", "Chain", .before = "  ", .json = "" }, { "blocked_ns", .json = "" },
	};
	struct buf chain = BUF_INIT;
	size_t nr_small = 0, i;

	sheet->table = "chains";
	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr_chains; i++) {
		const struct chain_step *x = &s->m.chains.steps[s->m.chains.ends[i]];

		if (sheet_is_text(sheet) && x->ns < least_ns(s)) {
			nr_small++;
			continue;
		}
		buf_reset(&chain);
		put_chain(s, s->m.chains.ends[i], &chain);
		sheet_row(sheet, NULL, (const struct cell[]){
			cell_u64(x->ns), cell_real(percent_of(s, x->ns)), cell_bool(x->cut),
			cell_made(json_steps, s, s->m.chains.ends[i]), cell_text(chain.data),
			cell_u64(x->ns) });
	}
	sheet_end_rows(sheet);
	buf_release(&chain);
	return nr_small;
}

static uint64_t kind_ns(const struct shown *s, uint32_t kind)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < s->m.nr_rows; i++)
		ns += s->m.rows[i].kind == kind ? s->m.rows[i].ns : 0;
	return ns;
}

static void wakers_print_head(const struct shown *s, FILE *out)
{
	static const struct {
		uint32_t kind;
		const char *by;
	} parts[] = {
		{ WAKE_THREAD, "ended by threads" }, { WAKE_TIMER, "by timers" }, { WAKE_INTERRUPT, "by interrupts" },
		{ WAKE_UNKNOWN, "by whom is not known" }, { WAKE_NOT_ENDED, "not ended" },
	};
	struct buf b = BUF_INIT;
	size_t i, nr = 0;

	report_put_duration(&b, s->m.ns);
	buf_fmt(&b, " blocked in %" PRIu64 " thread%s: ", s->m.nr_threads, plural(s->m.nr_threads));
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!kind_ns(s, parts[i].kind))
			continue;
		buf_str(&b, nr++ ? ", " : "");
		report_put_duration(&b, kind_ns(s, parts[i].kind));
		buf_fmt(&b, " %s", parts[i].by);
	}
	buf_str(&b, "; ");
	report_put_lost_of(&s->m.names, &b);
	fprintf(out, "%s\n", b.data);
	report_print_filter(s->o->select.filter, s->m.nr_left_out, "wait", out);
	fputs(" Units :: ms", out);
	if (s->m.interval_ns)
		fprintf(out, "; waits of %g ms or longer are exact, shorter ones are sampled",
			s->m.interval_ns / 1e6);
	fputc('\n', out);
	buf_release(&b);
}

static void wakers_json_head(const struct shown *s, struct json *j)
{
	report_json_source(j, "wakers", &s->m.names);
	report_json_lost_of(&s->m.names, j);
	report_json_filter(s->o->select.filter, s->m.nr_left_out, j);
	json_u64(j, "threads", s->m.nr_threads);
	json_u64_known(j, "interval_ns", s->m.interval_ns, s->m.interval_ns);
	json_u64(j, "blocked_ns", s->m.ns);
	json_u64(j, "not_ended_ns", kind_ns(s, WAKE_NOT_ENDED));
	json_u64(j, "not_known_ns", kind_ns(s, WAKE_UNKNOWN));
	json_end(j);
}

static void print_tables(const struct shown *s, FILE *out)
{
	const bool csv = s->o->format == FORMAT_CSV;	/* which is one table */
	const struct {
		bool wanted;
		const char *title, *key;
		size_t (*add)(const struct shown *s, struct sheet *sheet);
		size_t nr_hidden;
	} tables[] = {
		{ s->rows, "Who ended the waits of each thread", "wakers", wakers_add_rows,
		  s->m.nr_rows - s->nr_rows },
		{ s->codes && !(csv && s->rows), "Where those were who ended them, innermost first", "code",
		  add_codes, s->m.nr_codes - s->nr_codes },
		{ s->chains && !(csv && (s->rows || s->codes)), "What they waited for meanwhile", "chains",
		  add_chains, s->m.chains.nr_ends - s->nr_chains },
	};
	size_t nr_hidden = 0, i;
	struct sheet sheet;

	sheet_init(&sheet, s->o->format, out);
	sheet_choose(&sheet, &s->o->choice);
	if (sheet_is_text(&sheet))
		wakers_print_head(s, out);
	wakers_json_head(s, &sheet.json);
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!tables[i].wanted)
			continue;
		if (sheet_is_text(&sheet))
			fprintf(out, "\n %s\n\n", tables[i].title);
		json_array(&sheet.json, tables[i].key);
		nr_hidden += tables[i].add(s, &sheet) + tables[i].nr_hidden;
		json_end(&sheet.json);
	}
	nr_hidden += sheet_nr_hidden(&sheet);
	report_json_hidden(&sheet.json, nr_hidden);
	json_end(&sheet.json);
	if (sheet_is_text(&sheet))
		report_print_hidden(nr_hidden, out);
	sheet_end(&sheet);
}

static int wakers_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	bool only_chains = o->argument && !strcmp(o->argument, "chains");
	bool only_codes = o->argument && !strcmp(o->argument, "code");
	struct shown s = { .o = o, .rows = !only_chains && !only_codes, .chains = !only_codes };
	int r = wakers_read(&s.m, t, &o->select, e);

	s.codes = s.m.has_codes && !only_chains;
	if (!r && only_codes && !s.codes) {
		r = err_set(e, ENODATA, "it was not recorded in which code wakers were");
		err_hint(e, "arcprof record -e wall,wakers");
	} else if (!r && !s.m.nr_rows) {
		r = 1;
	} else if (!r) {
		s.nr_rows = limited(o, s.m.nr_rows);
		s.nr_codes = limited(o, s.m.nr_codes);
		s.nr_chains = limited(o, s.m.chains.nr_ends);
		print_tables(&s, out);
	}
	wakers_release(&s.m);
	return r;
}

static int wakers_check(const struct report_opts *o, struct err *e)
{
	if (o->argument && *o->argument && strcmp(o->argument, "chains") && strcmp(o->argument, "code"))
		return err_set(e, EINVAL, "invalid value '%s' of --wakers (expected: chains or code)",
			       o->argument);
	return 0;
}

static const struct report_reason reasons[] = {
	{ "module symbol", "its rows are threads" },
	{ "cpu", "who waits is on no CPU" },
	{ NULL, NULL },
};

const struct report report_wakers = {
	.name = "wakers",
	.help = "show who ended the waits of threads, in which code, and what those waited for meanwhile",
	.argument = "chains|code",
	.argument_optional = true,
	.formats = FORMATS_TABLE,
	.legend = "\n A [reason] <- B: A waited until B ended that, while B waited itself; the last in a chain did not\n",
	.check = wakers_check,
	.filters = RULE_BIT(RULE_EVENT) | RULES_OF_THREADS | RULE_BIT(RULE_PHASE),
	.has_functions = true,
	.needs = "a trace with waits",
	.follows = FOLLOWS_THREADS FOLLOWS_TIMES FOLLOWS_CHOICE "limit",
	.reasons = reasons,
	.print_trace = wakers_print,
};
