// SPDX-License-Identifier: GPL-2.0-or-later
/* top_text.c - draws the screen of arcprof top as lines (top_text.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "base/term.h"
#include "show/top_text.h"

static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if ((v = getenv(names[i])) && *v)
			return strcasestr(v, "UTF-8") || strcasestr(v, "UTF8");
	return false;
}

/* Append a track scaled from 0 to its highest value, or to most if that is higher; ' ' means not known. */
static void put_track(struct buf *b, const uint64_t *track, uint64_t most)
{
	static const char *const fine[] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587",
		"\u2588" };
	static const char *const plain[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	const char *const *steps = is_utf8() ? fine : plain;
	int i;

	for (i = 0; i < TOP_TRACK; i++)
		if (track[i] != TOP_UNKNOWN)
			most = MAX(most, track[i]);
	for (i = 0; i < TOP_TRACK; i++)
		if (track[i] == TOP_UNKNOWN)
			buf_putc(b, ' ');
		else
			buf_str(b, steps[most ? MIN(track[i] * 8 / most, (uint64_t)7) : 0]);
}

/* Append a size in five columns: 812K, 3.21G. */
static void put_bytes(struct buf *b, uint64_t v)
{
	static const char units[] = "BKMGTP";
	double x = v;
	int i = 0;

	for (; x >= 1000 && units[i + 1]; i++)
		x /= 1024;
	if (v == TOP_UNKNOWN)
		buf_str(b, "    -");
	else
		buf_fmt(b, i && x < 10 ? "%4.2f%c" : i && x < 100 ? "%4.1f%c" : "%4.0f%c", x, units[i]);
}

static double top_text_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void put_meter(struct buf *b, const struct top_proc *p, enum top_meter meter, uint64_t most)
{
	uint64_t now = p->track[meter][TOP_TRACK - 1];

	if (meter == TOP_HEAP && !p->heap_max) {
		buf_fmt(b, "%*s", 5 + 1 + TOP_TRACK, "");
		return;
	}
	if (meter != TOP_CPU)
		put_bytes(b, now);
	else if (now == TOP_UNKNOWN)
		buf_str(b, "    -");
	else
		buf_fmt(b, "%5" PRIu64, now);
	buf_putc(b, ' ');
	put_track(b, p->track[meter], most);
}

static void put_procs(const struct top_text *t, struct buf *b)
{
	size_t i, nr = MIN(t->nr_procs, top_procs_nr_active(t->procs));

	buf_fmt(b, "%s%7s %6s %14s %14s %14s  %s%s\n", term_style(TERM_BOLD), "PID", "SHARE", "CPU%     ",
		"RSS      ", "HEAP     ", "PROCESS", term_style(TERM_PLAIN));
	for (i = 0; i < nr; i++) {
		const struct top_proc *p = &t->procs->list[i];

		buf_fmt(b, "%7d %5.1f%% ", p->pid, top_text_percent(p->samples, t->rows->total));
		put_meter(b, p, TOP_CPU, 100);
		buf_putc(b, ' ');
		put_meter(b, p, TOP_RSS, 0);
		buf_putc(b, ' ');
		put_meter(b, p, TOP_HEAP, p->heap_max);
		buf_str(b, "  ");
		quote_add(b, p->name);
		buf_str(b, p->gone ? " (ended)\n" : "\n");
	}
}

static void top_text_put_row(const struct top_text *t, const struct top_row *x, struct buf *b)
{
	const char *module = top_row_module(t->rows, t->model, x);
	uint32_t id = top_row_id(t->model, x);

	buf_fmt(b, "%6.2f%% %6.2f%% %7" PRIu64 "  ", top_text_percent(x->self, t->rows->total),
		top_text_percent(x->total, t->rows->total), x->n);
	quote_add(b, top_row_name(t->rows, t->model, x));
	if (id)
		buf_fmt(b, " [%s %u]", t->rows->fold == TOP_PROCESS ? "pid" : "tid", id);
	if (*module) {
		buf_fmt(b, "  %s", term_style(TERM_DIM));
		quote_add(b, module);
		buf_str(b, term_style(TERM_PLAIN));
	}
	buf_putc(b, '\n');
}

static void put_rows(const struct top_text *t, struct buf *b)
{
	static const char *const titles[] = { "FUNCTION", "MODULE", "THREAD", "PROCESS" };
	static const char *const columns[] = { "SELF", "TOTAL", "N" };
	size_t i, end = MIN(t->rows->nr, t->first_row + t->nr_rows);

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		buf_fmt(b, "%s%7s%s ", term_style(i == t->sort ? TERM_YELLOW : TERM_BOLD), columns[i],
			term_style(TERM_PLAIN));
	buf_fmt(b, " %s%s%s\n", term_style(TERM_BOLD), titles[t->rows->fold], term_style(TERM_PLAIN));
	for (i = t->first_row; i < end; i++)
		top_text_put_row(t, &t->rows->list[i], b);
}

static void top_text_put_head(const struct top_text *t, struct buf *b)
{
	buf_str(b, "arcprof top: ");
	quote_add(b, t->targets);
	buf_fmt(b, "; %.1f s, %" PRIu64 " samples of ", t->elapsed_ns / 1e9, t->rows->n);
	quote_add(b, t->event);
	buf_fmt(b, ", %" PRIu64 " lost", t->nr_lost);
	if (*t->filter || t->typing) {
		buf_str(b, "; filter: ");
		quote_add(b, t->filter);
		buf_str(b, t->typing ? "_" : "");
	}
	if (t->frozen)
		buf_fmt(b, "; %sfrozen%s", term_style(TERM_YELLOW), term_style(TERM_PLAIN));
	buf_putc(b, '\n');
}

int top_text_head_lines(const struct top_text *t)
{
	return 4 + t->keys;	/* head, titles, the empty line between */
}

void top_text(const struct top_text *t, struct buf *b)
{
	top_text_put_head(t, b);
	put_procs(t, b);
	buf_putc(b, '\n');
	put_rows(t, b);
	if (t->keys)
		buf_fmt(b, "%ss self  t total  n samples   f fold  space freeze  / filter  h help  q quit%s\n",
			term_style(TERM_DIM), term_style(TERM_PLAIN));
}

void top_text_help(struct buf *b)
{
	buf_str(b,
		"arcprof top: keys\n"
		"\n"
		"  s          sort by self: what ran in the function itself\n"
		"  t          sort by total: with everything that it called\n"
		"  n          sort by the number of samples\n"
		"  f  F       fold by function, module, thread, process; the other way round\n"
		"  1 2 3 4    fold by function, by module, by thread, by process\n"
		"  space      freeze the screen, and let it go on; keys work meanwhile\n"
		"  /          show only rows with a text in their name: Enter keeps it, Escape drops it\n"
		"  arrows, Page Up, Page Down, Home   scroll\n"
		"  h  ?       this help; any key ends it\n"
		"  q          quit (Ctrl-C, too)\n");
}
