// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * correlate.c - which functions or contexts have a larger share of one metric than of another.
 *
 * A ratio of 3 samples to 1 says nothing: rows are ordered by the lower end of the interval in which the
 * ratio is.  Exact values have no interval.  Both metrics are shares of their own total, so that a ratio
 * of 1 is what the whole program has, whatever the units are.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/dist.h"
#include "base/mem.h"
#include "base/quote.h"
#include "report/measures.h"

static const char *const bys[] = { "function", "context", NULL };
static const char *const ofs[] = { "base", "cum", NULL };

struct correlate_opts {
	int by, of;			/* of: enum measure_of */
	double min_share;		/* percent */
};

enum { BY_FUNCTION, BY_CONTEXT };

struct correlated {
	uint32_t consumer, node;	/* node: 0, or of a context */
	uint64_t n;
	const uint64_t *values;		/* [metric] */
	double share[2];		/* 0 to 1 */
	double ratio, low, high;
};

/* one of the two metrics */
struct side {
	bool is_n;			/* "calls" */
	unsigned int metric;
	unsigned int source;
	bool sampled;
	uint64_t total, total_n;
};

struct correlation {
	const struct view *v;
	const struct correlate_opts *o;
	struct side side[2];
	struct correlated *list;
	size_t nr;			/* rows that are shown */
	size_t nr_hidden;
	double hidden[2];		/* their shares */
	uint64_t *sums;			/* what the rows of functions point to */
	uint64_t *cum_n;		/* [node], for cum */
};

/* ---- the two metrics ---- */

static bool correlate_is_name(const char *s, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(name, s, len);
}

static bool find_side(const struct view *v, const char *name, size_t len, struct side *s)
{
	const struct model *m = v->m;
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (correlate_is_name(name, len, model_str(m, m->metrics[i].name)))
			break;
	*s = (struct side){ .metric = i };
	if (i < m->nr_shown) {
		s->source = m->metrics[i].source;
		s->total = v->total[i];
	} else if (m->sources[0].kind == FLOW_CALLS && correlate_is_name(name, len, "calls")) {
		s->is_n = true;
		s->total = v->total_n;
	} else {
		return false;
	}
	s->sampled = m->sources[s->source].kind == FLOW_SAMPLES;
	s->total_n = model_n(m, s->source, v->total_n, v->total);
	return true;
}

static int unknown_side(const struct view *v, const char *name, size_t len, struct err *e)
{
	const struct model *m = v->m;
	struct buf b = BUF_INIT;

	model_put_metrics(m, &b);
	if (m->sources[0].kind == FLOW_CALLS)
		buf_str(&b, ", calls");
	err_set(e, EINVAL, "--correlate: unknown metric '%.*s' (available: %s)", (int)len, name, b.data);
	buf_release(&b);
	return -EINVAL;
}

static int find_sides(struct correlation *c, struct err *e)
{
	const char *name = c->v->o->argument;
	size_t len;
	int i;

	for (i = 0; i < 2; i++, name += len + 1) {
		len = strcspn(name, ",");
		if (!find_side(c->v, name, len, &c->side[i]))
			return unknown_side(c->v, name, len, e);
		if (!c->side[i].total)
			return err_set(e, EINVAL, "--correlate: nothing was recorded of '%.*s'", (int)len,
				       name);
	}
	return 0;
}

static uint64_t correlate_value_of(const struct side *s, const struct correlated *row)
{
	return s->is_n ? row->n : row->values[s->metric];
}

static uint64_t correlate_n_of(const struct correlation *c, const struct side *s,
			       const struct correlated *row)
{
	return model_n(c->v->m, s->source, row->n, row->values);
}

/* ---- the ratio ---- */

/* Return the interval of the ratio: from two counts of samples, or one of a known total. */
static struct interval interval_of(const struct correlation *c, const struct correlated *row, double *ratio)
{
	const struct side *a = &c->side[0], *b = &c->side[1];
	uint64_t x = correlate_n_of(c, a, row), y = correlate_n_of(c, b, row);
	struct interval i;

	if (a->sampled && b->sampled) {
		double scale = (double)b->total_n / a->total_n;

		i = interval_of_ratio(x, y);
		*ratio = x && y ? (double)x / y * scale : 0;
		return (struct interval){ i.low * scale, i.high * scale };
	}
	if (a->sampled) {
		i = interval_of_share(x, a->total_n);
		*ratio = (double)x / a->total_n / row->share[1];
		return (struct interval){ i.low / row->share[1], i.high / row->share[1] };
	}
	i = interval_of_share(y, b->total_n);
	*ratio = y ? row->share[0] * b->total_n / y : 0;
	return (struct interval){ row->share[0] / i.high, i.low > 0 ? row->share[0] / i.low : INFINITY };
}

/* Samples may weigh differently: the interval of their number is moved to the ratio of what they weigh. */
static void set_ratio(const struct correlation *c, struct correlated *row)
{
	struct interval i;
	double of_counts;
	int k;

	for (k = 0; k < 2; k++)
		row->share[k] = (double)correlate_value_of(&c->side[k], row) / c->side[k].total;
	row->ratio = row->share[1] > 0 ? row->share[0] / row->share[1] : INFINITY;
	row->low = row->high = row->ratio;
	if (!c->side[0].sampled && !c->side[1].sampled)
		return;
	i = interval_of(c, row, &of_counts);
	if (of_counts > 0 && row->ratio > 0 && isfinite(row->ratio) && isfinite(of_counts)) {
		i.low *= row->ratio / of_counts;
		i.high *= row->ratio / of_counts;
	}
	row->low = i.low;
	row->high = i.high;
}

/* ---- rows ---- */

static const uint64_t *node_values(const struct correlation *c, uint32_t node)
{
	const struct flow *f = &c->v->m->flow;

	return c->o->of == OF_CUM ? flow_cum(f, node) : flow_base(f, node);
}

static uint64_t node_n(const struct correlation *c, uint32_t node)
{
	return c->o->of == OF_CUM ? c->cum_n[node] : c->v->m->flow.nodes[node].n;
}

static void list_contexts(struct correlation *c)
{
	const struct flow *f = &c->v->m->flow;
	size_t i;

	c->list = xcalloc(f->nr_nodes, sizeof(*c->list));
	for (i = 1; i < f->nr_nodes; i++)
		c->list[c->nr++] = (struct correlated){ .consumer = f->nodes[i].consumer, .node = i,
			.n = node_n(c, i), .values = node_values(c, i) };
}

/* List the functions; for cum the outermost contexts of each, as in xprof. */
static void list_functions(struct correlation *c)
{
	const struct flow *f = &c->v->m->flow;
	uint32_t nr = flow_nr_consumers(f), k;
	unsigned int m, w = f->nr_metrics;
	size_t i;

	c->list = xcalloc(nr, sizeof(*c->list));
	c->sums = xcalloc((size_t)nr * w, sizeof(*c->sums));
	for (i = 1; i < f->nr_nodes; i++) {
		struct correlated *row = &c->list[f->nodes[i].consumer];
		uint64_t *sums = c->sums + (size_t)f->nodes[i].consumer * w;

		row->consumer = f->nodes[i].consumer;
		row->values = sums;
		if (c->o->of == OF_CUM && f->rl[i] > 1)
			continue;
		row->n += node_n(c, i);
		for (m = 0; m < w; m++)
			sums[m] += node_values(c, i)[m];
	}
	for (k = 0; k < nr; k++)
		if (c->list[k].consumer)
			c->list[c->nr++] = c->list[k];
}

static int correlate_compare(const void *p, const void *q, void *ctx)
{
	const struct correlated *a = p, *b = q;
	const struct correlation *c = ctx;
	struct flow_order order = c->v->order;
	int r;

	if (a->low != b->low)
		return a->low > b->low ? -1 : 1;
	if (a->ratio != b->ratio)
		return a->ratio > b->ratio ? -1 : 1;
	if (a->share[0] != b->share[0])
		return a->share[0] > b->share[0] ? -1 : 1;
	order.by = FLOW_BY_NAME;
	r = flow_compare(&order, &(struct flow_key){ a->consumer, a->n, a->values, a->values },
			 &(struct flow_key){ b->consumer, b->n, b->values, b->values }, false);
	return r ?: COMPARE(a->node, b->node);
}

static void hide(struct correlation *c, const struct correlated *row)
{
	c->nr_hidden++;
	c->hidden[0] += row->share[0];
	c->hidden[1] += row->share[1];
}

/* Leaves what has something of either, in order; counts what is not shown. */
static void order_rows(struct correlation *c)
{
	double least = c->o->min_share / 100;
	size_t i, used = 0;

	for (i = 0; i < c->nr; i++) {
		struct correlated *row = &c->list[i];

		set_ratio(c, row);
		if (row->share[0] <= 0 && row->share[1] <= 0)
			continue;
		if (row->share[0] < least && row->share[1] < least)
			hide(c, row);
		else
			c->list[used++] = *row;
	}
	c->nr = used;
	if (used)
		qsort_r(c->list, used, sizeof(*c->list), correlate_compare, c);
	if (!c->v->o->limit)
		return;
	for (; c->nr > c->v->o->limit; c->nr--)
		hide(c, &c->list[c->nr - 1]);
}

/* ---- printing ---- */

enum {
	AT_CALLERS, AT_RATIO, AT_LOW, AT_HIGH, AT_SHARE_A, AT_SHARE_B, AT_CALLS, AT_PCALLS, AT_NAME, NR_CELLS
};

static const struct sheet_column columns[NR_CELLS] = {
	[AT_CALLERS] = { .json = "callers" },
	[AT_RATIO] = { "ratio", "Ratio", 7, .before = " ", .digits = 6 },
	[AT_LOW] = { "low", "Low", 7, .digits = 6 },
	[AT_HIGH] = { "high", "High", 7, .digits = 6 },
	[AT_SHARE_A] = { .json = "shares", .of = "" },
	[AT_SHARE_B] = { .json = "shares", .of = "" },
	[AT_CALLS] = { .head = NULL, .width = 7 },
	[AT_PCALLS] = { .head = NULL, .width = 7, .decimals = 2 },
	[AT_NAME] = { .head = "  Name", .before = "", .cut = true },
};

static const struct measure measures[][3] = {
	[OF_BASE] = { { MEASURE_COUNT, OF_BASE, "Calls", 7, "n", "ns" }, MEASURES_PBASE,
		      { MEASURE_VALUE, OF_BASE, "Base", 6, "base", "values" } },
	[OF_CUM] = { { MEASURE_COUNT, OF_CUM, "Calls", 7, "n", "ns" }, MEASURES_PCUM,
		     { MEASURE_VALUE, OF_CUM, "Cum", 6, "cum", "values" } },
};

static struct cell ratio_cell(const struct measures *t, double ratio)
{
	struct cell word = { .type = CELL_WORD };

	if (!sheet_is_text(&t->sheet))
		return cell_real(ratio);
	if (isfinite(ratio))
		snprintf(word.word, sizeof(word.word), "%.*f", ratio < 100 ? 2 : 0, ratio);
	else
		snprintf(word.word, sizeof(word.word), "inf");
	return word;
}

/*
 * Return an end of the interval, absent in text for an exact ratio; data formats have the ratio itself there.
 */
static struct cell end_cell(const struct measures *t, const struct correlated *row, double end)
{
	return row->low >= row->high && sheet_is_text(&t->sheet) ? cell_absent : ratio_cell(t, end);
}

/* Append the name, with the callers, as in text and CSV. */
static void correlate_put_name(const struct view *v, const struct correlated *row, struct buf *b)
{
	const struct flow *f = &v->m->flow;
	uint32_t i = row->node;

	view_name(v, row->consumer, b);
	while (i && (i = f->nodes[i].parent)) {
		buf_str(b, " < ");
		view_name(v, f->nodes[i].consumer, b);
	}
}

static const char *correlate_name_of(const struct correlation *c, int i)
{
	const struct model *m = c->v->m;

	return c->side[i].is_n ? "calls" : model_str(m, m->metrics[c->side[i].metric].name);
}

/* Print the legend. Bases add up, so the missing rest can be printed; cums contain each other. */
static void print_foot(const struct correlation *c, FILE *out)
{
	struct buf b = BUF_INIT;
	int i;

	buf_str(&b, "\n Ratio - share of ");
	quote_add(&b, correlate_name_of(c, 0));
	buf_str(&b, " / share of ");
	quote_add(&b, correlate_name_of(c, 1));
	buf_str(&b, "\n Low, High - the ratio is between them in 19 of 20 cases (-: it is exact); rows are in the order of Low\n");
	if (c->nr_hidden) {
		buf_fmt(&b, " Not shown: %zu %s%s", c->nr_hidden, bys[c->o->by],
			plural(c->nr_hidden));
		for (i = 0; i < 2 && c->o->of == OF_BASE; i++) {
			buf_fmt(&b, "%s%.2f %% of ", i ? " and " : ", with ", c->hidden[i] * 100);
			quote_add(&b, correlate_name_of(c, i));
		}
		buf_putc(&b, '\n');
	}
	fwrite(b.data, 1, b.len, out);
	buf_release(&b);
}

static void json_foot(const struct correlation *c, struct json *j)
{
	int i;

	json_end(j);
	json_array(j, "correlated");
	for (i = 0; i < 2; i++)
		json_str(j, NULL, correlate_name_of(c, i));
	json_end(j);
	json_str(j, "by", bys[c->o->by]);
	json_str(j, "of", ofs[c->o->of]);
}

/* Names of the callers of a row's context, nearest first; the vector is the caller's to free. */
static struct cell find_callers(const struct view *v, uint32_t node, const char ***callers)
{
	const struct flow *f = &v->m->flow;
	size_t nr = 0, alloc = 0;

	*callers = NULL;
	if (!node)
		return cell_absent;
	while ((node = f->nodes[node].parent)) {
		VEC_GROW(*callers, nr, alloc);
		(*callers)[nr++] = consumer_name(&v->m->consumers, f->nodes[node].consumer);
	}
	return cell_list(*callers, nr);
}

static void correlate_print_row(struct measures *t, const struct correlated *row, struct buf *name)
{
	const char **callers;
	struct cell cells[NR_CELLS] = {
		[AT_CALLERS] = find_callers(t->v, row->node, &callers),
		[AT_RATIO] = ratio_cell(t, row->ratio),
		[AT_LOW] = end_cell(t, row, row->low), [AT_HIGH] = end_cell(t, row, row->high),
		[AT_SHARE_A] = cell_real(row->share[0]), [AT_SHARE_B] = cell_real(row->share[1]),
		[AT_CALLS] = cell_u64(row->n), [AT_PCALLS] = measures_percent(row->n, t->v->total_n),
	};

	buf_reset(name);
	buf_str(name, sheet_is_text(&t->sheet) ? "  " : "");
	correlate_put_name(t->v, row, name);
	cells[AT_NAME] = cell_text(name->data);
	measures_row(t, NULL, cells, &(struct measured){
		row->consumer, row->n, { row->values, row->values }, .name = name->data });
	free(callers);
}

static void correlate_print_rows(const struct correlation *c, FILE *out)
{
	const struct view *v = c->v;
	bool calls = v->o->format == FORMAT_TEXT && (c->side[0].is_n || c->side[1].is_n);
	struct sheet_column own[NR_CELLS];
	struct buf name = BUF_INIT;
	struct measures t;
	size_t i;

	memcpy(own, columns, sizeof(own));
	if (calls) {			/* in place of the first measure */
		own[AT_CALLS].head = measures_head_n(v->m->flow.n_means, "Calls");
		own[AT_CALLS].width = measures_width_n(v, own[AT_CALLS].width);
		own[AT_PCALLS].head = measures_hide_percent(v) ? NULL : "%Calls";
	}
	measures_init(&t, v, out);
	measures_consumer(&t);
	measures_own(&t, own, AT_NAME);
	measures_add(&t, measures[c->o->of] + calls, ARRAY_SIZE(measures[0]) - calls);
	measures_own(&t, own + AT_NAME, 1);
	measures_begin(&t, "rows");
	for (i = 0; i < c->nr; i++)
		correlate_print_row(&t, &c->list[i], &name);
	sheet_end_rows(&t.sheet);
	if (sheet_is_text(&t.sheet))
		print_foot(c, out);
	json_foot(c, &t.sheet.json);
	buf_release(&name);
	measures_end(&t, c->nr_hidden);
}

static int correlate_print(struct view *v, FILE *out, struct err *e)
{
	struct correlation c = { .v = v, .o = v->o->own };
	int r = find_sides(&c, e);

	if (r)
		return r;
	if (c.o->of == OF_CUM) {
		c.cum_n = xcalloc(v->m->flow.nr_nodes, sizeof(*c.cum_n));
		flow_sum_n(&v->m->flow, c.cum_n);
	}
	if (c.o->by == BY_CONTEXT)
		list_contexts(&c);
	else
		list_functions(&c);
	order_rows(&c);
	correlate_print_rows(&c, out);
	free(c.list);
	free(c.sums);
	free(c.cum_n);
	return r;
}

static int correlate_check(const struct report_opts *o, struct err *e)
{
	const struct correlate_opts *own = o->own;
	const char *comma = strchr(o->argument, ',');

	if (!comma || comma == o->argument || !comma[1] || strchr(comma + 1, ','))
		return err_set(e, EINVAL, "--correlate: expected two metrics with a comma between, not '%s'",
			       o->argument);
	if (correlate_is_name(o->argument, comma - o->argument, comma + 1))
		return err_set(e, EINVAL, "--correlate: '%s' is the same metric twice", o->argument);
	if (own->min_share < 0 || own->min_share > 100)
		return err_set(e, EINVAL, "--min-share: a percentage is from 0 to 100");
	return 0;
}

#define O struct correlate_opts
static const struct opt opts[] = {
	OPT_ENUM(0, "by", O, by, bys, "function", "what each row stands for"),
	OPT_ENUM(0, "of", O, of, ofs, "base", "compare what a row consumed itself, or including what is below it"),
	OPT_DOUBLE(0, "min-share", O, min_share, "percent", "0.1",
		   "hide rows with less than <percent> of both metrics"),
	OPT_END
};
#undef O

const struct report report_correlate = {
	.name = "correlate",
	.help = "rank functions by the ratio of their shares of two metrics",
	.argument = "metric,metric",
	.argument_is_metrics = true,
	.follows = "sort=column",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.opts_title = "For --correlate",
	.opts = opts,
	.opts_size = sizeof(struct correlate_opts),
	.check = correlate_check,
	.print = correlate_print,
};
