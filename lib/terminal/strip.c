// SPDX-License-Identifier: GPL-2.0-or-later
/* strip.c - the time of the recording in a line, and choosing a part of it. */
#include <string.h>

#include "base/mem.h"
#include "base/screen.h"
#include "model/origin.h"
#include "terminal/screens.h"

enum { LABEL_WIDTH = 7 };

/* Adds what lasted from one time to another, both in bins. */
static void spread(double *bins, double *full, double from, double to)
{
	unsigned int first = from, last = to;

	if (first >= STRIP_BINS)
		return;
	if (first == last) {
		bins[first] += to - from;
		return;
	}
	bins[first] += first + 1 - from;
	if (last < STRIP_BINS)
		bins[last] += to - last;
	if (first + 1 < last) {		/* those in between, added up at the end */
		full[first + 1] += 1;
		if (last < STRIP_BINS)
			full[last] -= 1;
	}
}

static double bin_of(const struct strip *s, uint64_t ns)
{
	double at = (double)ns * STRIP_BINS / s->duration_ns;

	return MIN(at, (double)STRIP_BINS);
}

void strip_fill(struct strip *s, const struct view *v)
{
	const struct flow_times *t = &v->m->times;
	double (*full)[STRIP_BINS] = xcalloc(FLOW_MAX_METRICS, sizeof(*full)), sum;
	unsigned int m, k;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->duration_ns = t->nr_list ? v->origin->duration_ns : 0;
	for (i = 0; s->duration_ns && i < t->nr_list; i++) {
		const struct flow_time *x = &t->list[i];
		uint64_t at = x->time_ns > t->start_ns ? x->time_ns - t->start_ns : 0;
		double end = bin_of(s, at);

		if (x->metric >= v->m->nr_shown)
			continue;
		if (v->m->metrics[x->metric].lasts)
			spread(s->bins[x->metric], full[x->metric], bin_of(s, at - MIN(at, x->weight)), end);
		else
			s->bins[x->metric][MIN((unsigned int)end, (unsigned int)STRIP_BINS - 1)] += x->weight;
	}
	for (m = 0; m < FLOW_MAX_METRICS; m++)
		for (sum = 0, k = 0; k < STRIP_BINS; k++) {
			sum += full[m][k];
			s->bins[m][k] += sum;
		}
	free(full);
}

/* Return what is in the column's share of the bins. */
static double column_sum(const struct strip *s, unsigned int metric, int column, int columns)
{
	unsigned int k = (unsigned int)column * STRIP_BINS / columns,
		     end = ((unsigned int)column + 1) * STRIP_BINS / columns;
	double sum = 0;

	if (k == end)
		return s->bins[metric][k] * STRIP_BINS / columns;
	for (; k < end; k++)
		sum += s->bins[metric][k];
	return sum;
}

static bool strip_is_in(const struct browser *b, unsigned int first, unsigned int end)
{
	const struct strip *s = &b->strip;
	unsigned int mark = s->has_mark ? s->mark : s->cursor;
	uint64_t bin_ns = s->duration_ns / STRIP_BINS;

	if (s->choosing)
		return end > MIN(mark, s->cursor) && first <= MAX(mark, s->cursor);
	return (b->range.from_ns || b->range.to_ns) && (first + 1) * bin_ns > b->range.from_ns &&
	       (!b->range.to_ns || first * bin_ns < b->range.to_ns);
}

void strip_draw(const struct browser *b, int line)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int rows, all, columns, i;
	double most = 0, sum;

	tty_size(&rows, &all);
	columns = all - LABEL_WIDTH - 1;
	if (columns < 1)
		return;
	tty_put(line, 0, all, TERM_DIM, 0, " time");
	for (i = 0; i < columns; i++) {
		sum = column_sum(&b->strip, b->metric, i, columns);
		most = MAX(most, sum);
	}
	for (i = 0; i < columns; i++) {
		unsigned int first = (unsigned int)i * STRIP_BINS / columns,
			     end = ((unsigned int)i + 1) * STRIP_BINS / columns;

		sum = column_sum(&b->strip, b->metric, i, columns);
		/* something is never shown as nothing */
		tty_put(line, LABEL_WIDTH + i, 1, TERM_CYAN,
			strip_is_in(b, first, MAX(end, first + 1)) ? TTY_REVERSE : 0,
			blocks[sum > 0 && most > 0 ? MIN(1 + (int)(sum / most * 8), 8) : 0]);
	}
}

static unsigned int step_of(int columns)
{
	return MAX(STRIP_BINS / MAX(columns - LABEL_WIDTH - 1, 1), 1);
}

/* Return the range from the mark to the cursor, both included. */
static struct browser_range chosen(const struct strip *s, int columns)
{
	unsigned int mark = s->has_mark ? s->mark : s->cursor, from = MIN(mark, s->cursor),
		     to = MAX(mark, s->cursor) + step_of(columns);

	return (struct browser_range){
		(unsigned __int128)from * s->duration_ns / STRIP_BINS,
		to >= STRIP_BINS ? 0 : (unsigned __int128)to * s->duration_ns / STRIP_BINS,
	};
}

void strip_put_range(const struct strip *s, int columns, struct buf *out)
{
	const struct browser_range r = chosen(s, columns);

	browser_put_range(&r, out);
}

bool strip_key(struct strip *s, int key, int columns, struct browser_range *range, bool *done)
{
	unsigned int step = step_of(columns);

	switch (key) {
	case KEY_LEFT: case 'h':
		s->cursor -= MIN(s->cursor, step);
		return true;
	case KEY_RIGHT: case 'l':
		s->cursor = MIN(s->cursor + step, (unsigned int)STRIP_BINS - 1);
		return true;
	case KEY_HOME:
		s->cursor = 0;
		return true;
	case KEY_BOTTOM:
		s->cursor = STRIP_BINS - 1;
		return true;
	case ' ':
		s->mark = s->cursor;
		s->has_mark = true;
		return true;
	case KEY_ENTER:
		*range = chosen(s, columns);
		*done = true;
		s->choosing = s->has_mark = false;
		return true;
	case KEY_ESCAPE: case KEY_BACKSPACE: case 't':
		s->choosing = s->has_mark = false;
		return true;
	}
	return false;
}
