// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * eventline.c - a picture of events in text: a row for each kind, over the time of the recording. What
 * lasts fills the columns that it touches, darker by the share of them that it takes; what happens does by
 * how often.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "report/events.h"

enum { MIN_COLUMNS = 20, DEFAULT_COLUMNS = 60, MAX_COLUMNS = 400, LABEL = 34 };

struct row {
	uint64_t nr, nr_timed, total_ns;
	double column[MAX_COLUMNS];	/* ns, or events */
};

struct line {
	struct events v;
	struct events_opts eo;
	size_t nr_columns;
	double column_ns;
	struct row rows[EVENT_NR];
};

/* Add the part of each column that is between the two times. */
static void fill(const struct line *l, struct row *row, uint64_t from_ns, uint64_t to_ns)
{
	double from = (double)(from_ns - l->v.start_ns) / l->column_ns;
	double to = (double)(to_ns - l->v.start_ns) / l->column_ns;
	size_t i;

	for (i = (size_t)from; i < l->nr_columns && (double)i < to; i++)
		row->column[i] += (MIN(to, (double)i + 1) - MAX(from, (double)i)) * l->column_ns;
}

static void eventline_add(struct line *l, const struct event *x)
{
	struct row *row = &l->rows[x->kind];
	uint64_t at = MAX(x->time_ns, l->v.start_ns), end = at;
	size_t i;

	row->nr++;
	if (at > l->v.end_ns)
		return;
	if (event_kinds[x->kind].lasts && x->duration_ns != EVENT_UNKNOWN) {
		row->nr_timed++;
		row->total_ns += event_own_ns(x);
		if (x->duration_ns < UINT64_MAX - x->time_ns)
			end = MAX(x->time_ns + x->duration_ns, at);
		fill(l, row, at, MIN(end, l->v.end_ns));
		return;
	}
	/* of what lasts for a time that is not known, a nanosecond, which shows */
	i = (size_t)((double)(at - l->v.start_ns) / l->column_ns);
	row->column[MIN(i, l->nr_columns - 1)]++;
}

/* Return the character of a share: 0 is empty; all else shows. */
static char shade(double share)
{
	static const char shades[] = ".:-=+*#%@";
	const size_t last = sizeof(shades) - 2;
	size_t i;

	if (share <= 0)
		return ' ';
	i = (size_t)(share * (double)(last + 1));
	return shades[MIN(i, last)];
}

static void eventline_put_row(const struct line *l, uint32_t kind, FILE *out)
{
	const struct row *row = &l->rows[kind];
	double most = row->nr_timed ? l->column_ns : 0;
	struct buf b = BUF_INIT;
	size_t i;

	/* events whose duration nobody measured are drawn as if they had none */
	for (i = 0; i < l->nr_columns && !row->nr_timed; i++)
		most = MAX(most, row->column[i]);
	if (row->nr_timed)
		report_put_duration(&b, row->total_ns);
	else if (event_kinds[kind].lasts)
		buf_str(&b, "n/a");
	fprintf(out, "%-12s %9" PRIu64 " %9s |", event_kinds[kind].name, row->nr, b.len ? b.data : "-");
	for (i = 0; i < l->nr_columns; i++)
		putc(shade(most > 0 ? row->column[i] / most : 0), out);
	fputs("|\n", out);
	buf_release(&b);
}

static void put_axis(const struct line *l, FILE *out)
{
	uint64_t from = l->v.start_ns - MIN(l->v.start_ns, l->v.trace_start_ns);
	uint64_t to = l->v.end_ns - MIN(l->v.end_ns, l->v.trace_start_ns);
	char end[32];

	snprintf(end, sizeof(end), "%.3f s", to / 1e9);
	fprintf(out, "%-12s %9s %9s  %-*.3f%*s\n", "Kind", "n", "Total", (int)(l->nr_columns / 2), from / 1e9,
		(int)(l->nr_columns - l->nr_columns / 2), end);
}

static int timeline_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct line l = { .nr_columns = 0 };
	uint32_t kind;
	size_t i;
	int r = event_report_read(&l.v, &l.eo, EVENT_KINDS_HAPPEN, t, o, e);

	if (r)
		return r;
	l.nr_columns = o->width > LABEL + MIN_COLUMNS ? (size_t)o->width - LABEL - 1 : DEFAULT_COLUMNS;
	l.nr_columns = MIN(l.nr_columns, (size_t)MAX_COLUMNS);
	l.column_ns = MAX((double)(l.v.end_ns - l.v.start_ns) / (double)l.nr_columns, 1.0);
	for (i = 0; i < l.v.nr; i++)
		eventline_add(&l, &l.v.list[i]);
	event_report_head(&l.v, out);
	fputc('\n', out);
	put_axis(&l, out);
	for (kind = 0; kind < EVENT_NR; kind++)
		if (l.rows[kind].nr)
			eventline_put_row(&l, kind, out);
	r = !l.v.nr;
	events_release(&l.v);
	return r;
}

const struct report report_timeline = {
	.name = "timeline",
	.help = "draw events of JVMs over the time of the recording",
	.formats = FORMAT_BIT(FORMAT_TEXT),
	.legend = "\nWhat lasts: the share of its time that each column was in it; what happens: how often, "
		  "against the\nrow's busiest column. From little to all: .:-=+*#%@\n",
	.follows = FOLLOWS_EVENTS,
	.reasons = event_reasons,
	.needs = "a trace with events of JVMs",
	.print_trace = timeline_print,
	.filters = RULES_ALL,
};
