// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calllist.c - single calls, a line each, in the order in which they ended: --flow; and --condu, where
 * repetitions are one line: a call, or up to MAX_PERIOD calls in turn, that made the same calls as those
 * before them, from the same call, are added to these with all their lines.
 *
 * For that, the lines of a thread wait in a buffer. When there are too many, they are printed, and the calls
 * that are open then fold no more with what was before.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/completed.h"
#include "report/sheet.h"

enum { MAX_WAITING = 4096, MAX_INDENT = 40, MAX_PERIOD = 8 };
enum { AT_N, AT_OTHERS = 5, AT_NAME = 9, NR_CELLS };

struct line {
	struct completed_call call;	/* the first; end_ns of the last; self, elapsed and others are sums */
	uint64_t n;
};

struct waiting {			/* lines of a tree */
	struct line *lines;
	size_t nr_lines, alloc_lines;
	struct level {			/* [level] */
		size_t begin;		/* of the open call: where the lines of what it called begin */
		/* where those of the calls before it, from the same call, begin; the latest last */
		size_t before[2 * MAX_PERIOD];
		unsigned int nr_before;
		bool printed;		/* some of its lines are printed already */
	} *levels;
	size_t nr_levels, alloc_levels;
};

struct list {
	struct completed c;
	struct sheet sheet;
	bool folds;
	struct waiting *trees;
	uint64_t nr_calls, nr_lines;
	uint64_t start_ns;		/* of the recording */
};

/* ---- lines ---- */

static struct cell time_cell(const struct list *l, bool known, uint64_t time_ns)
{
	return known ? cell_u64(time_ns - MIN(time_ns, l->start_ns)) : cell_none;
}

static void calllist_print_line(struct list *l, const struct line *x)
{
	const struct completed_call *call = &x->call;
	const char *name = completed_name(&l->c, call->consumer);
	struct buf b = BUF_INIT;

	if (l->c.ended)
		return;
	l->nr_lines++;
	l->c.ended = l->nr_lines == l->c.opts.limit || ferror(l->sheet.out);
	buf_fmt(&b, "%*s%s", 2 * (int)MIN(call->level, (uint32_t)MAX_INDENT), "", name);
	sheet_row(&l->sheet, NULL, (const struct cell[NR_CELLS]){
		cell_u64(x->n),
		time_cell(l, call->id, call->start_ns),
		time_cell(l, call->how != CALL_ENTERED, call->end_ns),
		call->whole ? cell_u64(call->elapsed) : cell_none,
		cell_u64(call->self),
		call->whole ? cell_u64(call->others) : cell_none,
		cell_u64(call->level),
		cell_text(completed_name(&l->c, completed_thread(&l->c, call->tree))),
		cell_text(name),
		cell_text(b.data),
	});
	buf_release(&b);
}

/* ---- repetitions ---- */

static void print_waiting(struct list *l, struct waiting *w)
{
	size_t i;

	for (i = 0; i < w->nr_lines; i++)
		calllist_print_line(l, &w->lines[i]);
	w->nr_lines = 0;
	for (i = 0; i < w->nr_levels; i++)
		w->levels[i] = (struct level){ .printed = true };
}

static struct level *level_of(struct waiting *w, uint32_t level)
{
	while (w->nr_levels <= level)
		*VEC_ADD(w->levels, w->nr_levels, w->alloc_levels) = (struct level){ .nr_before = 0 };
	return &w->levels[level];
}

static void on_entered(void *ctx, const struct completed_call *x)
{
	struct list *l = ctx;
	struct waiting *w = &l->trees[x->tree];
	struct level *at = level_of(w, x->level);

	at->begin = w->nr_lines;
	at->printed = false;
	level_of(w, x->level + 1)->nr_before = 0;
}

static bool same_lines(const struct line *a, const struct line *b, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (a[i].call.consumer != b[i].call.consumer || a[i].call.level != b[i].call.level ||
		    a[i].call.whole != b[i].call.whole)
			return false;
	return true;
}

static void add_lines(struct line *to, const struct line *from, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		to[i].n += from[i].n;
		to[i].call.end_ns = from[i].call.end_ns;
		to[i].call.elapsed += from[i].call.elapsed;
		to[i].call.self += from[i].call.self;
		to[i].call.others += from[i].call.others;
	}
}

/* Fold the last period calls into those before them if both have the same lines. */
static bool fold_period(struct waiting *w, struct level *at, unsigned int period)
{
	size_t from, middle, nr;

	if (at->nr_before < 2 * period)
		return false;
	from = at->before[at->nr_before - 2 * period];
	middle = at->before[at->nr_before - period];
	nr = w->nr_lines - middle;
	if (middle - from != nr || !same_lines(&w->lines[from], &w->lines[middle], nr))
		return false;
	add_lines(&w->lines[from], &w->lines[middle], nr);
	w->nr_lines = middle;
	at->nr_before -= period;
	return true;
}

/* Fold the call whose lines begin at at->begin. */
static void calllist_fold(struct waiting *w, struct level *at)
{
	const unsigned int max = sizeof(at->before) / sizeof(at->before[0]);
	unsigned int period;

	if (at->nr_before == max)
		memmove(at->before, at->before + 1, --at->nr_before * sizeof(at->before[0]));
	at->before[at->nr_before++] = at->begin;
	for (period = 1; period <= MAX_PERIOD; period++)
		if (fold_period(w, at, period))
			return;
}

static void wait_for_more(struct list *l, const struct completed_call *x)
{
	struct waiting *w = &l->trees[x->tree];
	struct level *at;

	if (!x->id)		/* it contains all that was before */
		print_waiting(l, w);
	at = level_of(w, x->level);
	if (x->selected)
		*VEC_ADD(w->lines, w->nr_lines, w->alloc_lines) = (struct line){ *x, 1 };
	if (!x->id || at->printed || !x->selected) {
		/* of what is not shown, nothing that it called either, or all */
		if (w->nr_lines != at->begin || x->selected)
			at->nr_before = 0;
	} else {
		calllist_fold(w, at);
	}
	if (w->nr_lines >= MAX_WAITING)
		print_waiting(l, w);
}

static void calllist_on_left(void *ctx, const struct completed_call *x)
{
	struct list *l = ctx;

	l->nr_calls += x->selected;
	if (l->folds)
		wait_for_more(l, x);
	else if (x->selected)
		calllist_print_line(l, &(struct line){ *x, 1 });
}

/* ---- the report ---- */

static const struct sheet_column columns[NR_CELLS] = {
	[AT_N] = { "n", "n", 9 },
	{ "start_ns", "Start", 14, 9, .unit = UNIT_S },
	{ "stop_ns", "Stop", 14, 9, .unit = UNIT_S },
	{ "elapsed", "Elapsed", 13, 3, .unit = UNIT_US },
	{ "base", "Base", 13, 3, .unit = UNIT_US },
	[AT_OTHERS] = { "others", "Others", 13, 3, .unit = UNIT_US },
	{ "level", NULL },
	{ "thread", "Thread", -20 },
	{ "name", NULL },
	[AT_NAME] = { NULL, "Name", -1 },
};

static void calllist_begin(struct list *l, struct sheet_column *own, FILE *out)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < NR_CELLS; i++) {
		own[i] = columns[i];
		if (own[i].unit == UNIT_US && !completed_in_ns(&l->c))
			own[i].unit = 0;
	}
	if (!completed_has_others(&l->c))
		own[AT_OTHERS] = (struct sheet_column){ .width = 0 };
	if (!l->folds)
		own[AT_N] = (struct sheet_column){ .width = 0 };
	sheet_init(&l->sheet, l->c.opts.format, out);
	sheet_choose(&l->sheet, &l->c.opts.choice);
	completed_json(&l->c, &l->sheet.json);
	json_array(&l->sheet.json, "calls");
	if (sheet_is_text(&l->sheet)) {
		completed_head(&l->c, &b);
		fprintf(out, "%s\n Units :: s (Start, Stop), %s (Elapsed, Base%s)\n\n", b.data,
			completed_in_ns(&l->c) ? "us" : completed_unit(&l->c),
			completed_has_others(&l->c) ? ", Others" : "");
	}
	sheet_columns(&l->sheet, own, NR_CELLS);
	buf_release(&b);
}

static int read_calls(struct list *l, struct trace_reader *t, FILE *out, struct err *e)
{
	const struct completed_sink sink = {
		.left = calllist_on_left, .entered = l->folds ? on_entered : NULL
	};
	struct sheet_column own[NR_CELLS];
	size_t i;
	int r;

	l->start_ns = names_label_u64(&l->c.names, "start.mono_ns");
	l->trees = xcalloc(l->c.calls.nr_trees + 1, sizeof(*l->trees));
	calllist_begin(l, own, out);
	r = completed_read(&l->c, t, &sink, l, e);
	for (i = 0; i < l->c.calls.nr_trees; i++) {
		print_waiting(l, &l->trees[i]);
		free(l->trees[i].lines);
		free(l->trees[i].levels);
	}
	free(l->trees);
	sheet_end(&l->sheet);
	json_end(&l->sheet.json);
	json_end(&l->sheet.json);
	return r ? r : !l->nr_lines;
}

static int calllist_print(struct trace_reader *t, const struct report_opts *o, bool folds, FILE *out,
			  struct err *e)
{
	struct list l = { .folds = folds };
	int r = completed_init(&l.c, t, o, e);

	if (!r)
		r = read_calls(&l, t, out, e);
	completed_release(&l.c);
	return r;
}

static int flow_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	return calllist_print(t, o, false, out, e);
}

static int condu_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	return calllist_print(t, o, true, out, e);
}

#define CALL_LIST                                                             \
	.formats = FORMATS_TABLE, .check = completed_check,                   \
	.filters = FILTERS_OF_CALLS, .has_functions = true,                   \
	.needs = "a call trace",                                              \
	.follows = FOLLOWS_OF_CALLS, .reasons = calls_have_no_cpu

const struct report report_flow = {
	.name = "flow",
	.help = "list single calls in the order in which they ended: start, stop, elapsed, base",
	CALL_LIST,
	.print_trace = flow_print,
};

const struct report report_condu = {
	.name = "condu",
	.help = "list calls like --flow, with repeated calls in one line",
	CALL_LIST,
	.print_trace = condu_print,
};
