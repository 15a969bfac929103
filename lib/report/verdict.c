// SPDX-License-Identifier: GPL-2.0-or-later
/* verdict.c - judges a model by limits (verdict.h). */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dist.h"
#include "base/mem.h"
#include "report/verdict.h"

enum { MATCHES = 1, MATCHES_PER = 2 };	/* bits of has[] */
enum { BELOW = 1, BELOW_PER = 2 };	/* bits of in[]: it or a node above is counted, or matches per */

/* The measure of a limit, summed over its contexts. */
struct measured {
	uint64_t value;
	uint64_t n;			/* of the metric's source */
	uint64_t marked, taken;		/* of value, in marked contexts; by calibration, from those */
	uint64_t calls;			/* that it is divided by */
	size_t nr_matches, nr_per_matches;	/* contexts */
};

void judge_init(struct judge *j, const struct model *m)
{
	const struct flow *f = &m->flow;

	memset(j, 0, sizeof(*j));
	j->m = m;
	j->total_n = flow_totals(f, j->total);
	j->cum_n = xcalloc(f->nr_nodes, sizeof(*j->cum_n));
	j->in = xcalloc(f->nr_nodes, sizeof(*j->in));
	j->has = xcalloc(m->consumers.nr_items, sizeof(*j->has));
	flow_sum_n(f, j->cum_n);
}

void judge_release(struct judge *j)
{
	free(j->cum_n);
	free(j->in);
	free(j->has);
	memset(j, 0, sizeof(*j));
}

struct verdict verdict_error(const struct limit *l, const char *fmt, ...)
{
	struct verdict v = { .limit = l, .state = VERDICT_ERROR };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v.error, sizeof(v.error), fmt, ap);
	va_end(ap);
	return v;
}

bool verdict_matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

static void find_functions(struct judge *j, const struct limit *l)
{
	size_t i;

	for (i = 1; i < j->m->consumers.nr_items; i++) {
		const struct consumer *c = &j->m->consumers.items[i];
		const char *name = model_str(j->m, c->name);

		j->has[i] = 0;
		if (!l->function || (!kind_is(c->kind, KIND_PLACE) && verdict_matches(l->function, name)))
			j->has[i] |= MATCHES;
		if (l->per_function && !kind_is(c->kind, KIND_PLACE) &&
		    verdict_matches(l->per_function, name))
			j->has[i] |= MATCHES_PER;
	}
}

/* Adds a context that the limit is about; of cum, the outermost ones. */
static void verdict_add_node(const struct judge *j, const struct limit *l, unsigned int metric, uint32_t i,
			     struct measured *s)
{
	const struct model *m = j->m;
	const uint64_t *values = l->of == LIMIT_CUM ? flow_cum(&m->flow, i) : flow_base(&m->flow, i);
	uint64_t n = l->of == LIMIT_CUM ? j->cum_n[i] : m->flow.nodes[i].n;

	if (!l->metric) {
		s->value += n;
		s->n += n;
		return;
	}
	s->value += values[metric];
	s->n += model_n(m, m->metrics[metric].source, n, values);
	if (!model_is_marked(m, values, metric))
		return;
	s->marked += values[metric];
	s->taken += values[model_delta(m, metric)];
}

/* Sum the nodes of the limit. A parent's index is lower than its children's. */
static void verdict_measure(struct judge *j, const struct limit *l, unsigned int metric, struct measured *s)
{
	const struct flow *f = &j->m->flow;
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 1; i < f->nr_nodes; i++) {
		const struct flow_node *node = &f->nodes[i];
		uint8_t has = j->has[node->consumer], above = j->in[node->parent];
		bool within;

		j->in[i] = above;
		if (has & MATCHES_PER) {
			s->nr_per_matches++;
			s->calls += above & BELOW_PER ? 0 : node->n;
			j->in[i] |= BELOW_PER;
		}
		if (!(has & MATCHES))
			continue;
		s->nr_matches++;
		if (l->per == LIMIT_PER_CALL)
			s->calls += node->n;
		within = !l->per_function || j->in[i] & BELOW_PER;
		if (within && (l->of != LIMIT_CUM || !(above & BELOW)))
			verdict_add_node(j, l, metric, i, s);
		j->in[i] |= within ? BELOW : 0;
	}
}

/* Return the interval in the metric's own unit. */
static struct interval interval_of(const struct judge *j, const struct limit *l, unsigned int metric,
				   const struct measured *s)
{
	unsigned int source = l->metric ? j->m->metrics[metric].source : 0;
	uint64_t total_n = model_n(j->m, source, j->total_n, j->total);
	double each = s->n ? s->value / (double)s->n : total_n ? j->total[metric] / (double)total_n : 0;
	struct interval i;

	/* what is there without a sample, as what no sample has, was not sampled either */
	if (!l->metric || j->m->sources[source].kind != FLOW_SAMPLES || (!s->n && s->value > 0))
		return (struct interval){ s->value - s->marked, s->value + s->taken };
	i = l->unit->kind == LIMIT_SHARE ? interval_of_share(s->n, total_n) : interval_of_count(s->n);
	if (l->unit->kind == LIMIT_SHARE)
		return (struct interval){ i.low * total_n * each, i.high * total_n * each };
	return (struct interval){ i.low * (s->n ? s->n : 1) * each, i.high * (s->n ? s->n : 1) * each };
}

/* Return 0 if no part of the interval is beyond the limit, 2 if all of it is, 1 if a part is. */
static int beyond(const struct limit *l, double low, double high)
{
	switch (l->op) {
	case LIMIT_AT_MOST:
		return (high > l->value) + (low > l->value);
	case LIMIT_LESS:
		return (high >= l->value) + (low >= l->value);
	case LIMIT_AT_LEAST:
		return (low < l->value) + (high < l->value);
	case LIMIT_MORE:
		return (low <= l->value) + (high <= l->value);
	case LIMIT_EQUAL:
		return low == high ? 2 * (low != l->value) : low > l->value || high < l->value ? 2 : 1;
	}
	return 2;
}

enum verdict_state verdict_state(const struct limit *l, double low, double high)
{
	static const enum verdict_state states[] = { VERDICT_KEPT, VERDICT_UNDECIDED, VERDICT_VIOLATED };

	return states[beyond(l, low, high)];
}

static struct verdict verdict_decide(const struct judge *j, const struct limit *l, unsigned int metric,
				     const struct measured *s)
{
	struct interval i = interval_of(j, l, metric, s);
	struct verdict v = { .limit = l, .exact = i.low >= i.high };
	double times = 1, by = l->unit->factor;	/* apart, so that 3 of 12 are 25 % to the last bit */

	if (l->metric)
		times = limit_unit_of(model_str(j->m, j->m->metrics[metric].unit))->factor;
	if (l->unit->kind == LIMIT_SHARE) {
		times = 100;
		by = l->metric ? j->total[metric] : j->total_n;
	}
	if (l->per)
		by *= s->calls;
	v.value = s->value * times / by;
	v.low = i.low * times / by;
	v.high = i.high * times / by;
	v.state = verdict_state(l, v.low, v.high);
	return v;
}

/* Return whether the unit of the limit fits the metric's, or is a share. */
static bool verdict_fits(const struct limit *l, const struct limit_unit *of_metric)
{
	return l->unit->kind == LIMIT_SHARE || l->unit->kind == of_metric->kind ||
	       (l->unit->kind == LIMIT_COUNT && of_metric->kind == LIMIT_SIZE);
}

struct verdict judge_limit(struct judge *j, const struct limit *l)
{
	const struct model *m = j->m;
	unsigned int metric = l->metric ? model_metric(m, l->metric) : 0;
	const char *unit = metric < m->nr_shown ? model_str(m, m->metrics[metric].unit) : "";
	struct measured s;

	if (metric == m->nr_shown)
		return verdict_error(l, "the trace has no metric '%s'", l->metric);
	if ((!l->metric || l->per) && m->sources[0].kind != FLOW_CALLS)
		return verdict_error(l, "the trace has no exact calls, which %s counts", l->per ? "per" : "n");
	if (l->metric && !verdict_fits(l, limit_unit_of(unit)))
		return verdict_error(l, "%s is measured in %s, not in '%s'", l->metric, unit, l->unit->name);
	find_functions(j, l);
	verdict_measure(j, l, metric, &s);
	if (!s.nr_matches)
		return verdict_error(l, "no function of the trace matches '%s'", l->function ? l->function : "[total]");
	if (l->per_function && !s.nr_per_matches)
		return verdict_error(l, "no function of the trace matches '%s'", l->per_function);
	if (l->per && !s.calls)
		return verdict_error(l, "'%s' was not called",
				     l->per_function ? l->per_function : l->function);
	if (l->unit->kind == LIMIT_SHARE && !(l->metric ? j->total[metric] : j->total_n))
		return verdict_error(l, "nothing was recorded of %s", l->metric ? l->metric : "n");
	return verdict_decide(j, l, metric, &s);
}
