// SPDX-License-Identifier: GPL-2.0-or-later
/* growth.c - limits on what a recording consumes more than its baseline, as arcprof diff compares them. */
#include <math.h>

#include "base/mem.h"
#include "diff/noise.h"
#include "report/verdict.h"

static const char *growth_name_of(const struct diff *d, uint32_t consumer)
{
	return consumer_name(&d->m.consumers, consumer);
}

/* Sum the contexts of all functions that match into one row; for cum only the outermost ones. */
static void growth_gather(const struct limit *l, const struct diff *d, struct diff_row *row)
{
	const struct flow *f = &d->m.flow;
	bool *in = xcalloc(f->nr_nodes, sizeof(*in));
	uint64_t most = 0, n;
	size_t i, r;

	row->nodes = xcalloc(f->nr_nodes, sizeof(*row->nodes));
	row->kind = DIFF_SELF;
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t id = f->nodes[i].consumer;
		bool is_it = !l->function || (!kind_is(d->m.consumers.items[id].kind, KIND_PLACE) &&
					      verdict_matches(l->function, growth_name_of(d, id)));

		in[i] = is_it || in[f->nodes[i].parent];
		if (!is_it || (l->of == LIMIT_CUM && in[f->nodes[i].parent]))
			continue;
		row->nodes[row->nr_nodes++] = i;
		for (n = r = 0; r < d->nr_runs; r++)
			n += d->runs[r].n[i];
		if (n < most || !n)
			continue;
		most = n;		/* what the row is like: how much it varies */
		row->consumer = id;
	}
	if (!row->consumer && row->nr_nodes)
		row->consumer = f->nodes[row->nodes[0]].consumer;
	free(in);
}

static enum diff_normalize normalization(const struct limit *l)
{
	switch (l->per) {
	case LIMIT_PER_CALL:
		return DIFF_CALL;
	case LIMIT_PER_SECOND:
		return DIFF_SECOND;
	case LIMIT_PER_TOTAL:
		return DIFF_TOTAL;
	default:
		return DIFF_NONE;
	}
}

static struct verdict growth_decide(const struct limit *l, const struct noise *s, const struct diff_row *row)
{
	struct verdict v = { .limit = l, .exact = s->kind == NOISE_EXACT || row->error <= 0 };

	v.value = row->value[DIFF_A] > 0 ? row->delta / row->value[DIFF_A] * 100 : INFINITY;
	v.low = v.exact ? v.value : row->low * 100;
	v.high = v.exact ? v.value : row->high * 100;
	v.state = verdict_state(l, v.low, v.high);
	return v;
}

struct verdict judge_growth(const struct limit *l, const struct diff *d)
{
	const char *name = l->function ? l->function : "[total]";
	struct diff_row row = { .nr_nodes = 0 };
	struct diff_rows x;
	struct noise noise;
	struct verdict v;

	growth_gather(l, d, &row);
	rows_init(&x, d, DIFF_BY_FUNCTION, l->of == LIMIT_CUM ? DIFF_CUM : DIFF_BASE, normalization(l));
	noise_fill(&noise, &x);
	x.as_recorded = true;	/* the limit is one of the value that is printed */
	rows_sum_up(&x, &row);
	noise_of_row(&noise, &row);
	if (!row.nr_nodes)
		v = verdict_error(l, "no function of the trace or its baseline matches '%s'", name);
	else if (!row.defined[DIFF_A] || !row.defined[DIFF_B])
		v = verdict_error(l, "not all recordings have %s", l->per == LIMIT_PER_CALL ? "calls of it" :
				  l->per == LIMIT_PER_SECOND ? "a duration" : "anything to divide by");
	else if (!row.sum[DIFF_A] && !row.sum[DIFF_B])
		v = verdict_error(l, "nothing was recorded of '%s'", name);
	else if (!row.known)
		v = verdict_error(l, "one recording each does not tell growth from noise: name several as the baseline");
	else
		v = growth_decide(l, &noise, &row);
	free(row.nodes);
	rows_release(&x);
	return v;
}
