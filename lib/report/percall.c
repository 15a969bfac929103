// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * percall.c - what a call costs, by the samples of one recording and the calls of another.
 *
 * Values are in the unit of the metric: a call may take a fraction of what a sample stands for.
 */
#include "base/interval.h"
#include "report/table.h"

static void put_cost(struct buf *b, uint64_t value, uint64_t calls)
{
	double cost = calls ? (double)value / calls : 0;

	if (!calls)
		buf_putc(b, '-');
	else if (cost >= 1000)
		buf_fmt(b, "%.0f", cost);
	else
		buf_fmt(b, "%.3g", cost);
}

/* Half of the interval, in percent of the value. */
static void put_margin(const struct table *t, const uint64_t *values, unsigned int m, struct buf *b)
{
	const struct model *model = t->v->m;
	uint64_t n = model_n(model, model->metrics[m].source, 0, values);
	struct interval i = interval_of_count(n);

	if (n)
		buf_fmt(b, "%.*f", n < 10000, (i.high - i.low) * 50);
	else
		buf_putc(b, '-');
}

static void cell_base_call(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_cost(b, r->base[m], r->n);
}

static void cell_cum_call(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_cost(b, r->cum[m], r->n);
}

static void cell_base_margin(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_margin(t, r->base, m, b);
}

static void cell_cum_margin(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_margin(t, r->cum, m, b);
}

const struct column column_base_call = { "Base/Call", "", COLUMN_PER_CALL, 9, true, cell_base_call };
const struct column column_cum_call = { "Cum/Call", "", COLUMN_PER_CALL, 9, true, cell_cum_call };
const struct column column_base_margin = { "+-%", "", COLUMN_PER_CALL, 5, true, cell_base_margin };
const struct column column_cum_margin = { "+-%", "", COLUMN_PER_CALL, 5, true, cell_cum_margin };

static void put_raw(struct buf *b, uint64_t value, uint64_t calls)
{
	if (calls)
		buf_fmt(b, "%.9g", (double)value / calls);
}

static void cell_raw_base_call(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_raw(b, r->base[m], r->n);
}

static void cell_raw_cum_call(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_raw(b, r->cum[m], r->n);
}

const struct column csv_base_call = { "", "base_per_call", COLUMN_PER_CALL, 0, true, cell_raw_base_call };
const struct column csv_cum_call = { "", "cum_per_call", COLUMN_PER_CALL, 0, true, cell_raw_cum_call };
