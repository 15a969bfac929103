// SPDX-License-Identifier: GPL-2.0-or-later
/* plot_svg.c - draws calls over the time, and how many took how long, each stacked by what that went to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/plot.h"
#include "report/report.h"
#include "report/svg.h"

enum {			/* pixels */
	WIDTH = 960, LEFT = 80, RIGHT = 20, ROOM = WIDTH - LEFT - RIGHT,
	TIME_TOP = 92, TIME_HIGH = 240, SPREAD_TOP = 392, SPREAD_HIGH = 180, BAR_HIGH = 164, HEIGHT = 650,
	COLUMN = 2, NR_COLUMNS = ROOM / COLUMN,
};

static const struct {
	const char *name, *colour;
} parts[PLOT_NR_PARTS] = {
	[PLOT_GC] = { "GC", "#c65a9e" },
	[PLOT_LOCK] = { "lock", "#d9553f" },
	[PLOT_IO] = { "I/O", "#7b5fc4" },
	[PLOT_OFF] = { "off CPU", "#9aa4b3" },
	[PLOT_CPU] = { "CPU", "#4f9d69" },
};

/* from the bottom up */
static const enum plot_part order[PLOT_NR_PARTS] = { PLOT_CPU, PLOT_GC, PLOT_LOCK, PLOT_IO, PLOT_OFF };

const char *plot_part_name(enum plot_part part)
{
	return parts[part].name;
}

/* Draw a column of that height from the bottom, divided into parts by their shares of its time. */
static void put_column(struct buf *b, const struct plot_sum *g, double x, double width, double bottom,
		       double high)
{
	double y = bottom;
	unsigned int i;

	for (i = 0; i < PLOT_NR_PARTS; i++) {
		/* calls that took no time at all were on a CPU */
		double share = g->sum_ns ? (double)g->ns[order[i]] / (double)g->sum_ns :
					   order[i] == PLOT_CPU;

		if (share <= 0)
			continue;
		y -= share * high;
		buf_fmt(b, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y,
			width, share * high, parts[order[i]].colour);
	}
}

/* ---- over the time ---- */

static unsigned int column_of(const struct plot *p, uint64_t at_ns)
{
	uint64_t all_ns = MAX(p->to_ns - p->from_ns, (uint64_t)1);
	double share = (double)(at_ns - MIN(at_ns, p->from_ns)) / (double)all_ns;

	return MIN((unsigned int)(share * NR_COLUMNS), NR_COLUMNS - 1u);
}

static void plot_svg_put_times(struct plot *p, struct buf *b)
{
	struct plot_sum *g = xcalloc(NR_COLUMNS, sizeof(*g));
	double most = 1, bottom = TIME_TOP + TIME_HIGH;
	unsigned int i;
	size_t k;

	for (k = 0; k < p->nr_calls; k++)
		plot_sum_add(&g[column_of(p, p->calls[k].start_ns)], &p->calls[k]);
	for (i = 0; i < NR_COLUMNS; i++)
		if (g[i].n)
			most = MAX(most, (double)g[i].sum_ns / (double)g[i].n);
	/* a few calls that took much longer than all others do not make those flat */
	most = MIN(most, MAX(1.25 * (double)spread_quantile(&p->elapsed, 99), 1.));
	svg_text(b, LEFT, TIME_TOP - 8, " font-weight=\"bold\"", "duration of the calls that begin at a time, mean; dots: the longest; triangles: more than is shown");
	for (i = 0; i < NR_COLUMNS; i++) {
		double x = LEFT + i * COLUMN, mean;

		if (!g[i].n)
			continue;
		mean = (double)g[i].sum_ns / (double)g[i].n;
		put_column(b, &g[i], x, COLUMN, bottom, MIN(mean / most, 1.) * TIME_HIGH);
		if (mean > most)
			buf_fmt(b, "<path d=\"M%.1f %dl3 -5l3 5z\"/>\n", x - 2, TIME_TOP - 1);
		if (g[i].n > 1 && (double)g[i].max_ns <= most)
			buf_fmt(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1\"/>\n", x + 1,
				bottom - (double)g[i].max_ns / most * TIME_HIGH);
	}
	svg_axes(b, LEFT, WIDTH - RIGHT, TIME_TOP, TIME_HIGH);
	for (i = 0; i <= SVG_TICKS; i++) {
		svg_amount(b, LEFT - 6, bottom - (double)i / SVG_TICKS * TIME_HIGH + 4,
			   " text-anchor=\"end\"", "ns", (uint64_t)(most * i / SVG_TICKS));
		svg_amount(b, LEFT + (double)i / SVG_TICKS * ROOM, bottom + 16, " text-anchor=\"middle\"", "ns",
			   p->from_ns - MIN(p->start_ns, p->from_ns) +
				   (uint64_t)((double)(p->to_ns - p->from_ns) * i / SVG_TICKS));
	}
	free(g);
}

/* ---- how many took how long ---- */

static void put_bin_title(struct buf *b, const struct plot_sum *g, unsigned int bin)
{
	struct buf text = BUF_INIT;
	unsigned int i;

	report_put_duration(&text, spread_bin_start(bin));
	buf_fmt(&text, " and more: %" PRIu64 " calls", g->n);
	for (i = 0; i < PLOT_NR_PARTS; i++)
		if (g->ns[order[i]])
			buf_fmt(&text, ", %s %.1f %%", parts[order[i]].name,
				100 * (double)g->ns[order[i]] / (double)g->sum_ns);
	buf_str(b, "<g><title>");
	quote_add_xml(b, text.data);
	buf_str(b, "</title>\n");
	buf_release(&text);
}

static void put_spread(const struct plot *p, struct buf *b)
{
	struct plot_sum g[SPREAD_BINS] = { 0 };
	unsigned int first = SPREAD_BINS, last = 0, bin;
	double bottom = SPREAD_TOP + SPREAD_HIGH, width;
	uint64_t most = 1;
	char text[32];
	size_t k;

	for (k = 0; k < p->nr_calls; k++)
		plot_sum_add(&g[plot_bin_of(p->calls[k].end_ns - p->calls[k].start_ns)], &p->calls[k]);
	for (bin = 0; bin < SPREAD_BINS; bin++) {
		if (!g[bin].n)
			continue;
		first = MIN(first, bin);
		last = bin;
		most = MAX(most, g[bin].n);
	}
	width = MIN(80., (double)ROOM / (last - first + 1));
	svg_text(b, LEFT, SPREAD_TOP - 8, " font-weight=\"bold\"", "number of calls by duration");
	for (bin = first; bin <= last; bin++) {
		double x = LEFT + (bin - first) * width, high = (double)g[bin].n / (double)most * BAR_HIGH;

		svg_amount(b, x, bottom + 16, " text-anchor=\"middle\"", "ns", spread_bin_start(bin));
		if (!g[bin].n)
			continue;
		put_bin_title(b, &g[bin], bin);
		put_column(b, &g[bin], x + 1, width - 2, bottom, high);
		buf_str(b, "</g>\n");
		snprintf(text, sizeof(text), "%" PRIu64, g[bin].n);
		svg_text(b, x + width / 2, bottom - high - 4, " text-anchor=\"middle\"", text);
	}
	svg_axes(b, LEFT, WIDTH - RIGHT, SPREAD_TOP, SPREAD_HIGH);
}

/* ---- what it is ---- */

static void put_legend(const struct plot *p, struct buf *b)
{
	double sum = 0, of[PLOT_NR_PARTS] = { 0 }, x = LEFT;
	struct buf text = BUF_INIT;
	unsigned int i;
	size_t k;

	for (k = 0; k < p->nr_calls; k++)
		for (i = 0; i < PLOT_NR_PARTS; i++) {
			of[i] += (double)p->calls[k].ns[i];
			sum += (double)p->calls[k].ns[i];
		}
	for (i = 0; i < PLOT_NR_PARTS; i++) {
		enum plot_part part = order[i];

		if (part != PLOT_CPU && !p->known[part])
			continue;
		buf_reset(&text);
		buf_fmt(&text, "%s%s %.1f %%", parts[part].name,
			part == PLOT_CPU && !p->known[PLOT_OFF] ? ", or not known" : "",
			sum > 0 ? 100 * of[part] / sum : 0);
		buf_fmt(b, "<rect x=\"%.0f\" y=\"54\" width=\"11\" height=\"11\" fill=\"%s\"/>\n", x,
			parts[part].colour);
		svg_text(b, x + 16, 64, "", text.data);
		x += 40 + 7. * (double)text.len;
	}
	buf_release(&text);
}

static void put_numbers(struct plot *p, struct buf *b)
{
	static const unsigned int percents[] = { 50, 90, 99 };
	struct buf text = BUF_INIT;
	size_t i;

	buf_fmt(&text, "%zu calls: mean ", p->nr_calls);
	report_put_duration(&text, p->elapsed.total / p->elapsed.nr);
	for (i = 0; i < ARRAY_SIZE(percents); i++) {
		buf_fmt(&text, ", p%u ", percents[i]);
		report_put_duration(&text, spread_quantile(&p->elapsed, percents[i]));
	}
	buf_str(&text, ", max ");
	report_put_duration(&text, p->elapsed.max);
	if (p->nr_open)
		buf_fmt(&text, "; %" PRIu64 " more were open at the beginning or the end", p->nr_open);
	svg_text(b, LEFT, 42, "", text.data);
	buf_release(&text);
}

static void put_unknown(const struct plot *p, struct buf *b)
{
	struct buf text = BUF_INIT;

	if (!p->known[PLOT_OFF])
		buf_str(&text, "when threads had no CPU, and disk I/O (record --sched); ");
	if (!p->known[PLOT_LOCK])
		buf_str(&text, "waits for locks (record -e lock); ");
	if (!p->known[PLOT_GC])
		buf_str(&text, "pauses for garbage collection, or there were none (record -e gc); ");
	if (text.len) {
		struct buf line = BUF_INIT;

		buf_fmt(&line, "not recorded: %.*s", (int)text.len - 2, text.data);
		svg_text(b, LEFT, HEIGHT - 34, SVG_FAINT, line.data);
		buf_release(&line);
	}
	if (p->of)
		svg_text(b, LEFT, HEIGHT - 14, SVG_FAINT, p->of);
	buf_release(&text);
}

void plot_put_svg(struct plot *p, struct buf *b)
{
	p->from_ns = p->calls[0].start_ns;
	p->to_ns = p->calls[p->nr_calls - 1].start_ns + 1;
	svg_begin(b, WIDTH, HEIGHT);
	svg_text(b, LEFT, 24, " font-size=\"16\" font-weight=\"bold\"", p->function);
	put_numbers(p, b);
	put_legend(p, b);
	plot_svg_put_times(p, b);
	put_spread(p, b);
	put_unknown(p, b);
	svg_end(b);
}
