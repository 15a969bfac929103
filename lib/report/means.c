// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * means.c - what a call of each function consumed in the mean, against the number that a label says, such as
 * the size of a request; lib/page/js/means.mjs has the same.
 *
 * Source: Harkema, Quartel, van der Mei and Gijsen, A Java Performance Monitoring Tool, Figure 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/quote.h"
#include "report/means.h"
#include "report/svg.h"

enum {			/* pixels */
	WIDTH = 960, LEFT = 80, RIGHT = 20, ROOM = WIDTH - LEFT - RIGHT - 20, HIGH = 320, LINE = 18,
	HEAD = 52, FOOT = 76,
};
enum { MOST_LINES = 8 };
#define MOST_SIZE 1e15		/* what is more is not a size, but an id; squares stay finite */
#define MOST_AMOUNT 1e18	/* of what is drawn */

static const char *const colours[MOST_LINES] = {
	"#0b63ce", "#d3401c", "#14713a", "#7355b0", "#b07400", "#00838f", "#ad1457", "#5c6675",
};

struct mean_point {
	double size;
	uint64_t n, cum;		/* of outermost calls */
};

struct mean_line {
	uint32_t consumer;
	uint64_t cum;
	struct mean_point *points;	/* by size */
	size_t nr_points, alloc_points;
};

struct means {
	const struct view *v;
	const char *key, *unit;
	struct map line_of;		/* consumer -> index */
	struct mean_line *lines;	/* those with most first, once they are chosen */
	size_t nr_lines, alloc_lines;
	double most, end;		/* of means, of sizes */
};

/* ---- collecting ---- */

static bool size_of(const struct means *m, uint32_t consumer, double *size)
{
	const struct consumer *c = &m->v->m->consumers.items[consumer];
	const char *name = model_str(m->v->m, c->name);
	size_t len = strlen(m->key);
	char *end;

	if (c->kind != CONSUMER_LABEL || strncmp(name, m->key, len) || name[len] != '=')
		return false;
	name += len + 1;
	if (!*name || strspn(name, "0123456789.") != strlen(name))
		return false;
	*size = strtod(name, &end);
	return !*end && *size <= MOST_SIZE;
}

static struct mean_point *get_point(struct mean_line *l, double size)
{
	size_t at = l->nr_points;

	while (at && l->points[at - 1].size > size)
		at--;
	if (at && l->points[at - 1].size == size)
		return &l->points[at - 1];
	VEC_GROW(l->points, l->nr_points, l->alloc_points);
	memmove(&l->points[at + 1], &l->points[at], (l->nr_points++ - at) * sizeof(*l->points));
	l->points[at] = (struct mean_point){ .size = size };
	return &l->points[at];
}

static void means_add_node(struct means *m, uint32_t node, double size)
{
	const struct flow *f = &m->v->m->flow;
	uint32_t consumer = f->nodes[node].consumer, *at = map_put(&m->line_of, consumer);
	struct mean_point *p;

	if (*at == MAP_NONE) {
		VEC_GROW(m->lines, m->nr_lines, m->alloc_lines);
		*at = m->nr_lines;
		m->lines[m->nr_lines++] = (struct mean_line){ .consumer = consumer };
	}
	p = get_point(&m->lines[*at], size);
	p->n += f->nodes[node].n;
	flow_sum(&p->cum, flow_cum(f, node)[0]);
}

static void means_collect(struct means *m)
{
	const struct flow *f = &m->v->m->flow;
	uint32_t i = flow_next(f, FLOW_NONE), end;
	double size;

	while (i) {
		if (!size_of(m, f->nodes[i].consumer, &size)) {
			i = flow_next(f, i);
			continue;
		}
		end = flow_next_outside(f, i);
		while ((i = flow_next(f, i)) != end)
			if (f->rl[i] == 1)
				means_add_node(m, i, size);
	}
}

/*
 * Drop points without calls: what was open when the label was set had been called before, so it has a sum
 * only.
 */
static void drop_uncalled(struct mean_line *l)
{
	size_t i, nr = 0;

	for (i = 0; i < l->nr_points; i++) {
		if (!l->points[i].n)
			continue;
		flow_sum(&l->cum, l->points[i].cum);
		l->points[nr++] = l->points[i];
	}
	l->nr_points = nr;
}

static int means_compare(const void *p, const void *q)
{
	const struct mean_line *a = p, *b = q;

	if (!a->nr_points != !b->nr_points)
		return a->nr_points ? -1 : 1;
	return COMPARE(b->cum, a->cum) ?: COMPARE(a->consumer, b->consumer);
}

/* Move the lines that are drawn to the front; return how many there are. */
static size_t means_choose(struct means *m)
{
	const struct selection *s = &m->v->o->select;
	const struct selection symbols = { .symbols = s->symbols };
	size_t most = m->v->o->limit ? MIN((size_t)m->v->o->limit, (size_t)MOST_LINES) : MOST_LINES, i, k;

	for (i = 0; i < m->nr_lines; i++) {
		struct mean_line *l = &m->lines[i];

		if (s->symbols.nr_items && !selection_has(&symbols, m->v->m, l->consumer))
			l->nr_points = 0;
		drop_uncalled(l);
	}
	if (m->nr_lines)
		qsort(m->lines, m->nr_lines, sizeof(*m->lines), means_compare);
	for (i = 0; i < m->nr_lines && i < most && m->lines[i].nr_points; i++)
		for (k = 0; k < m->lines[i].nr_points; k++) {
			const struct mean_point *p = &m->lines[i].points[k];

			m->most = fmax(m->most, fmin((double)p->cum / (double)p->n, MOST_AMOUNT));
			m->end = fmax(m->end, p->size);
		}
	return i;
}

/* ---- drawing ---- */

/* Append the straight line through the means, each weighted by its calls: "12.3 us + 0.52 ns x size". */
static void put_fit(const struct means *m, const struct mean_line *l, struct buf *b)
{
	double n = 0, x = 0, y = 0, spread = 0, both = 0, base;
	size_t i;

	for (i = 0; i < l->nr_points; i++) {
		n += (double)l->points[i].n;
		x += (double)l->points[i].n * l->points[i].size;
		y += (double)l->points[i].cum;
	}
	x /= n;
	y /= n;
	for (i = 0; i < l->nr_points; i++) {
		const struct mean_point *p = &l->points[i];

		spread += (double)p->n * (p->size - x) * (p->size - x);
		both += (p->size - x) * ((double)p->cum - (double)p->n * y);
	}
	if (spread <= 0)
		return;
	base = y - both / spread * x;
	if (fabs(base) > MOST_AMOUNT)
		return;
	buf_fmt(b, ": %s", base < 0 ? "-" : "");
	report_put_amount(b, m->unit, (uint64_t)(fabs(base) + 0.5));
	buf_fmt(b, " %c %.3g %s%s\303\227 %s", both < 0 ? '-' : '+', fabs(both / spread),
		strcmp(m->unit, "ns") ? "" : "ns", strcmp(m->unit, "ns") ? "" : " ", m->key);
}

static double x_of(const struct means *m, const struct mean_point *p)
{
	return LEFT + p->size / m->end * ROOM;
}

static double y_of(const struct means *m, const struct mean_point *p, double bottom)
{
	return bottom - (double)p->cum / (double)p->n / m->most * HIGH;
}

static void put_point(const struct means *m, const char *name, const struct mean_point *p, double bottom,
		      const char *colour, struct buf *b)
{
	struct buf text = BUF_INIT;

	buf_fmt(&text, "%s, %s=%.15g: %" PRIu64 " calls, mean ", name, m->key, p->size, p->n);
	report_put_amount(&text, m->unit, p->cum / p->n);
	buf_fmt(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>", x_of(m, p),
		y_of(m, p, bottom), colour);
	quote_add_xml(b, text.data);
	buf_str(b, "</title></circle>\n");
	buf_release(&text);
}

static void means_put_line(const struct means *m, size_t nr, double bottom, struct buf *b)
{
	const struct mean_line *l = &m->lines[nr];
	struct buf name = BUF_INIT, points = BUF_INIT, text = BUF_INIT;
	double y = HEAD + (double)nr * LINE;
	size_t i;

	view_name(m->v, l->consumer, &name);
	buf_str(&text, name.data);
	put_fit(m, l, &text);
	buf_fmt(b, "<rect x=\"%d\" y=\"%.0f\" width=\"11\" height=\"11\" fill=\"%s\"/>\n", LEFT, y - 10,
		colours[nr]);
	svg_text(b, LEFT + 16, y, "", text.data);
	for (i = 0; i < l->nr_points; i++) {
		const struct mean_point *p = &l->points[i];

		buf_fmt(&points, "%.1f,%.1f ", x_of(m, p), y_of(m, p, bottom));
		put_point(m, name.data, p, bottom, colours[nr], b);
	}
	buf_fmt(b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
		points.data, colours[nr]);
	buf_release(&name);
	buf_release(&points);
	buf_release(&text);
}

static void draw(const struct means *m, size_t nr, struct buf *b)
{
	int top = HEAD + (int)nr * LINE, bottom = top + HIGH, i;
	struct buf title = BUF_INIT;
	char size[32];
	size_t k;

	svg_begin(b, WIDTH, bottom + FOOT);
	buf_fmt(&title, "%s per call, mean, against %s", model_str(m->v->m, m->v->m->metrics[0].name),
		m->key);
	svg_text(b, LEFT, 24, " font-size=\"16\" font-weight=\"bold\"", title.data);
	for (k = 0; k < nr; k++)
		means_put_line(m, k, bottom, b);
	svg_axes(b, LEFT, WIDTH - RIGHT, top, HIGH);
	for (i = 0; i <= SVG_TICKS; i++) {
		svg_amount(b, LEFT - 6, bottom - (double)i / SVG_TICKS * HIGH + 4, " text-anchor=\"end\"",
			   m->unit, (uint64_t)(m->most * i / SVG_TICKS));
		snprintf(size, sizeof(size), "%.4g", m->end * i / SVG_TICKS);
		svg_text(b, LEFT + (double)i / SVG_TICKS * ROOM, bottom + 16, " text-anchor=\"middle\"", size);
	}
	if (m->v->origin->command)
		svg_text(b, LEFT, bottom + FOOT - 14, SVG_FAINT, m->v->origin->command);
	svg_end(b);
	buf_release(&title);
}

int means_print(const struct view *v, FILE *out, struct err *e)
{
	struct means m = { .v = v, .key = v->o->profile->by_label, .most = 1, .end = 1,
			   .unit = model_str(v->m, v->m->metrics[0].unit) };
	struct buf b = BUF_INIT;
	size_t nr, i;
	int r = 0;

	means_collect(&m);
	nr = means_choose(&m);
	if (nr) {
		draw(&m, nr, &b);
		fwrite(b.data, 1, b.len, out);
	} else {
		r = err_set(e, ENODATA, "--format=svg: no function was called while the label '%s' was a number",
			    m.key);
	}
	for (i = 0; i < m.nr_lines; i++)
		free(m.lines[i].points);
	free(m.lines);
	map_release(&m.line_of);
	buf_release(&b);
	return r;
}
