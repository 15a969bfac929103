// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top.c - "arcprof top": a recording that is shown while it goes on.
 *
 * What the recorder writes goes to memory instead of a file; at the end of each interval it becomes a
 * model, and is forgotten.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/screen.h"
#include "cmd.h"
#include "model/live.h"
#include "sampling.h"
#include "show/top_text.h"

enum { PLAIN_ROWS = 30, PLAIN_PROCS = 10, IDLE_MS = 100, EPOCH_BYTES = 4 << 20, MAX_FILTER = 64 };
enum { DEFAULT_HZ = 499, SYSTEM_HZ = 999, LEAST_HZ = 49 };	/* of all CPUs together; of each, at least */

struct top_opts {			/* behind a struct sampling_opts */
	uint64_t interval_ns, screens, limit;
	int sort, fold;
	const char *filter;
};

#define O struct top_opts
static const struct opt rate_table[] = { OPT_FREQ("samples per second of CPU time, or max (default: 499, less for a whole machine)"), OPT_END };

static const struct opt show_table[] = {
	OPT_GROUP("What to show"),
	OPT_SPAN('I', "interval", O, interval_ns, "time", "2", "update the screen at this interval"),
	OPT_COUNT('n', "screens", O, screens, "n", NULL, "print this many screens as plain text, then stop"),
	OPT_ENUM(0, "sort", O, sort, top_sorts, "self", "sort rows by this key"),
	OPT_ENUM(0, "fold", O, fold, top_folds, "function", "what each row stands for"),
	OPT_STR(0, "filter", O, filter, "text", NULL, "show only rows with <text> in their name or module"),
	OPT_COUNT(0, "limit", O, limit, "n", NULL, "show at most <n> rows"),
	OPT_END
};
#undef O

struct top {
	const struct top_opts *o;
	struct sampling s;
	struct collect_watcher watcher;
	struct live live;
	struct buf part;		/* of the trace: what came since the last interval */
	struct top_rows rows;
	struct top_procs procs;
	enum top_sort sort;
	enum top_fold fold;
	char filter[MAX_FILTER], targets[256], freq[16];
	bool full;			/* a screen, not plain text */
	bool typing, help, frozen, dirty, quit;
	size_t first_row;
	struct flow held;		/* of when the screen was frozen */
	bool has_held;
	uint64_t begun_ns, next_ns;	/* of this interval */
	uint64_t elapsed_ns;		/* of what is shown */
	uint64_t nr_lost, lost_before;
	uint64_t nr_shown;
	struct err error;
};

static void join_opts(struct opt_join *j)
{
	size_t shared = opt_join_struct(j, sizeof(struct sampling_opts));
	size_t own = opt_join_struct(j, sizeof(struct top_opts));

	opt_join_add(j, sampling_target_opts, shared);
	opt_join_add(j, sampling_event_opts, shared);
	opt_join_add(j, rate_table, shared);
	opt_join_add(j, sampling_rate_opts, shared);
	opt_join_add(j, sampling_when_opts, shared);
	opt_join_add(j, sampling_means_opts, shared);
	opt_join_add(j, sampling_stack_opts, shared);
	opt_join_add(j, show_table, own);
}

/* ---- drawing ---- */

/* Fit the lines on the screen; processes take up to a third. */
static void fit(const struct top *t, struct top_text *x)
{
	size_t nr_active = top_procs_nr_active(&t->procs);
	int rows = 0, columns, left;

	x->nr_procs = PLAIN_PROCS;
	x->nr_rows = t->o->limit ? t->o->limit : PLAIN_ROWS;
	if (!t->full)
		return;
	screen_size(&rows, &columns);
	left = MAX(rows - top_text_head_lines(x), 0);
	x->nr_procs = MIN(nr_active, (size_t)left / 3);
	x->nr_rows = left - x->nr_procs;
	if (t->o->limit)
		x->nr_rows = MIN(x->nr_rows, (size_t)t->o->limit);
}

static void draw(struct top *t)
{
	const struct flow *f = t->has_held ? &t->held : &t->live.model.flow;
	const struct model *m = &t->live.model;
	struct top_text x = {
		.model = m, .rows = &t->rows, .procs = &t->procs, .targets = t->targets,
		.event = t->s.events[0].name, .sort = t->sort, .elapsed_ns = t->elapsed_ns,
		.nr_lost = t->nr_lost, .frozen = t->frozen, .filter = t->filter, .typing = t->typing,
		.keys = t->full,
	};
	struct buf b = BUF_INIT;

	top_rows_make(&t->rows, m, f, t->fold, t->sort, t->filter);
	fit(t, &x);
	t->first_row = MIN(t->first_row, t->rows.nr ? t->rows.nr - 1 : 0);
	x.first_row = t->first_row;
	if (t->help)
		top_text_help(&b);
	else
		top_text(&x, &b);
	if (t->full) {
		screen_draw(&b);
	} else {
		fputs(b.data, stdout);
		fputs(t->o->screens != 1 ? "\n" : "", stdout);
		fflush(stdout);
	}
	buf_release(&b);
	t->dirty = false;
}

/* ---- keys ---- */

static void type_filter(struct top *t, int key)
{
	size_t len = strlen(t->filter);

	if (key == KEY_ENTER || key == KEY_ESCAPE)
		t->typing = false;
	if (key == KEY_ESCAPE)
		t->filter[0] = '\0';
	else if (key == KEY_BACKSPACE && len)
		t->filter[len - 1] = '\0';
	else if (key >= ' ' && key < KEY_UP && len + 1 < sizeof(t->filter))
		memcpy(t->filter + len, (char[]){ (char)key, '\0' }, 2);
	t->first_row = 0;
}

/*
 * Freeze the screen, or let it go on. What is shown stays, and can be sorted and folded again, while the
 * recording continues.
 */
static void freeze(struct top *t)
{
	t->frozen = !t->frozen;
	if (!t->frozen && t->has_held) {
		flow_release(&t->held);
		t->has_held = false;
	}
}

static void scroll(struct top *t, int key)
{
	int rows, columns;
	size_t page;

	screen_size(&rows, &columns);
	page = MAX(rows / 2, 1);
	if (key == KEY_HOME)
		t->first_row = 0;
	else if (key == KEY_DOWN || key == KEY_PAGE_DOWN)
		t->first_row += key == KEY_DOWN ? 1 : page;
	else
		t->first_row -= MIN(t->first_row, key == KEY_UP ? 1 : page);
}

static void press(struct top *t, int key)
{
	switch (key) {
	case 's': t->sort = TOP_SELF; break;
	case 't': t->sort = TOP_TOTAL; break;
	case 'n': t->sort = TOP_N; break;
	case 'f': t->fold = (t->fold + 1) % TOP_NR_FOLDS; break;
	case 'F': t->fold = (t->fold + TOP_NR_FOLDS - 1) % TOP_NR_FOLDS; break;
	case '1': case '2': case '3': case '4':
		t->fold = (enum top_fold)(key - '1');
		break;
	case ' ': freeze(t); break;
	case '/':
		t->typing = true;
		t->filter[0] = '\0';
		break;
	case KEY_ESCAPE: t->filter[0] = '\0'; break;
	case 'h': case '?': t->help = true; break;
	case 'q': t->quit = true; break;
	case KEY_UP: case KEY_DOWN: case KEY_PAGE_UP: case KEY_PAGE_DOWN: case KEY_HOME:
		scroll(t, key);
		break;
	}
}

static void take_keys(struct top *t)
{
	int key;

	while (!t->quit && (key = screen_key()) != KEY_NONE) {
		t->dirty = true;
		if (key == KEY_INTERRUPT || key == KEY_END)
			t->quit = true;
		else if (t->help)
			t->help = false;
		else if (t->typing)
			type_filter(t, key);
		else
			press(t, key);
	}
}

/* ---- the recording ---- */

static void take_bytes(void *ctx, const void *p, size_t len)
{
	struct top *t = ctx;

	buf_add(&t->part, p, len);
}

static enum collect_next on_turn(void *ctx, uint64_t now_ns)
{
	struct top *t = ctx;

	if (!t->begun_ns) {
		t->begun_ns = now_ns;
		t->next_ns = now_ns + t->o->interval_ns;
	}
	if (t->full) {
		take_keys(t);
		t->dirty |= screen_is_stale();
	}
	if (t->quit || t->error.code)
		return COLLECT_STOP;
	if (now_ns >= t->next_ns)
		return COLLECT_STORE;
	if (t->dirty)
		draw(t);
	return COLLECT_GO_ON;
}

/* Hold the tree for its users before it is rebuilt. */
static void top_hold(struct top *t)
{
	if (!t->frozen || t->has_held)
		return;
	live_take_flow(&t->live, &t->held);
	t->has_held = true;
}

static void on_stored(void *ctx, const struct collect_status *s, bool end)
{
	struct top *t = ctx;
	uint64_t now = clock_mono_ns();

	if (end && (t->full || t->quit || t->error.code))
		return;
	top_hold(t);
	live_take(&t->live, t->part.data, t->part.len, &t->error);
	buf_reset(&t->part);
	if (t->error.code || (end && t->nr_shown && !t->live.model.flow.nodes[0].child))
		return;
	if (!t->frozen) {
		top_procs_update(&t->procs, &t->live.model, &t->live.model.flow, now);
		t->elapsed_ns = now - t->begun_ns;
		t->nr_lost = s->nr_lost - t->lost_before;
		draw(t);
	}
	t->begun_ns = now;
	t->lost_before = s->nr_lost;
	t->next_ns = MAX(t->next_ns + t->o->interval_ns, now);
	t->quit = ++t->nr_shown == t->o->screens;
}

/* ---- the command ---- */

static int check(const struct top_opts *o, struct err *e)
{
	if (o->interval_ns < 50000000)
		return err_set(e, EINVAL, "--interval: at least 50 ms");
	if (o->filter && strlen(o->filter) >= MAX_FILTER)
		return err_set(e, EINVAL, "--filter: at most %d characters", MAX_FILTER - 1);
	return 0;
}

/*
 * Return the rate: a screen needs no more than a thousand samples, so the recorder's work is bounded, however
 * many CPUs are watched.
 */
static const char *default_freq(struct top *t, bool system_wide)
{
	long nr_cpus = MAX(sysconf(_SC_NPROCESSORS_ONLN), 1l);
	long hz = system_wide ? MIN(MAX(SYSTEM_HZ / nr_cpus, (long)LEAST_HZ), (long)DEFAULT_HZ) : DEFAULT_HZ;

	snprintf(t->freq, sizeof(t->freq), "%ld", hz);
	return t->freq;
}

/* Prepare; without anything to record it is the whole machine, as in other top programs. */
static int top_prepare(struct top *t, struct sampling_opts *so, int nr_operands, char **operands,
		       struct err *e)
{
	struct collect_opts *c = &t->s.c;
	int r = check(t->o, e);

	if (!nr_operands && !so->pids.nr_items && !so->tids.nr_items && !so->user)
		so->all_cpus = true;
	if (!so->freq && !so->count)
		so->freq = default_freq(t, so->all_cpus);
	if (!r)
		r = sampling_check(so, nr_operands, e);
	if (!r)
		r = sampling_prepare(&t->s, so, true, e);
	if (!r)
		r = sampling_no_sources(&t->s, "top", e);
	if (r)
		return r;
	c->all_jvms = c->system_wide && c->java != JAVA_OFF;
	c->output = "top";
	c->trace.epoch_bytes = EPOCH_BYTES;
	c->trace.take = take_bytes;
	c->trace.take_ctx = t;
	c->watcher = &t->watcher;
	sampling_command(&t->s, "top", nr_operands, operands);
	sampling_targets_text(&t->s, t->targets, sizeof(t->targets));
	return 0;
}

static int run(struct top *t, struct collect_result *res, struct err *e)
{
	int r = 0;

	t->full = !t->o->screens && screen_possible();
	if (t->full)
		r = screen_open(e);
	progress_allow(!t->full);
	t->watcher = (struct collect_watcher){
		.fd = t->full ? screen_fd() : -1, .most_ms = MIN(IDLE_MS, t->o->interval_ns / 1000000),
		.turn = on_turn, .stored = on_stored, .ctx = t,
	};
	sampling_bound_rates(&t->s);
	top_procs_begin(&t->procs, clock_mono_ns());
	live_init(&t->live);
	if (!r)
		r = collect_run(&t->s.c, res, e);
	screen_close();
	if (!r && t->error.code) {
		*e = t->error;
		r = e->code;
	}
	return r;
}

static void top_release(struct top *t)
{
	if (t->has_held)
		flow_release(&t->held);
	top_rows_release(&t->rows);
	top_procs_release(&t->procs);
	live_release(&t->live);
	buf_release(&t->part);
	sampling_release(&t->s);
}

static int top_run(void *opts, int nr_operands, char **operands)
{
	const struct top_opts *own = (void *)((char *)opts + opt_join_room(sizeof(struct sampling_opts)));
	struct sampling_opts *so = opts;
	struct top t = { .o = own, .s.c = so->c, .sort = own->sort, .fold = own->fold };
	struct collect_result res;
	struct err e = { 0 };
	int status;

	if (top_prepare(&t, so, nr_operands, operands, &e)) {
		log_err(&e);
		status = e.code == EINVAL ? EXIT_USAGE : EXIT_ARCPROF_FAILED;
	} else {
		snprintf(t.filter, sizeof(t.filter), "%s", own->filter ? own->filter : "");
		if (run(&t, &res, &e)) {
			log_err(&e);
			status = command_failure(&e);
		} else {
			sampling_warnings(&t.s, &res);
			status = sampling_failed(&t.s, &res) ? EXIT_ARCPROF_FAILED : res.status;
		}
	}
	top_release(&t);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "show what is running now: processes, threads, functions",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.join_opts = join_opts,
	.run = top_run,
};
