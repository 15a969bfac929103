// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calibrate.c - takes from exact calls what counting them cost.
 *
 * A call costs its own context "within" (from the hook's reading on entry to that on exit), and
 * its caller's "between" (from there to the next entry). BASE and DELTA of a context are together what was
 * measured: DELTA is never more than that, and where it would be, that is counted.
 * Native functions only: what the hooks of Java methods cost was not measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibrate/table.h"
#include "report/calls.h"

struct costs {
	bool has[FLOW_MAX_METRICS], unstable;
	struct calibration_cost of[FLOW_MAX_METRICS];	/* [metric of the model] */
	unsigned int nr;
};

/* What the trace says of the metric with that name. */
static bool read_cost(const struct names *x, const char *metric, struct calibration_cost *out, bool *unstable)
{
	const char *name, *text;
	char key[48];
	unsigned int i;

	for (i = 0; i < CALL_MAX_METRICS; i++) {
		snprintf(key, sizeof(key), "call.metric.%u", i);
		name = names_label(x, key);
		if (!name)
			break;
		if (strcmp(name, metric) != 0)
			continue;
		snprintf(key, sizeof(key), "call.metric.%u.calibration", i);
		text = names_label(x, key);
		*unstable |= text && !strcmp(text, "unstable");
		return text && calibration_cost(text, out);
	}
	return false;
}

static void read_costs(const struct profile *p, struct costs *c)
{
	const struct model *model = p->m;
	unsigned int m;

	memset(c, 0, sizeof(*c));
	for (m = 0; m < model->flow.nr_metrics; m++) {
		c->has[m] = read_cost(&p->names, model_str(model, model->metrics[m].name), &c->of[m],
				       &c->unstable);
		c->nr += c->has[m];
	}
}

static bool is_hooked(const struct model *model, uint32_t node)
{
	uint32_t kind = model->consumers.items[model->flow.nodes[node].consumer].kind;

	return node && (kind == CONSUMER_NATIVE || kind == CONSUMER_NATIVE_INLINED);
}

static void add(uint64_t *to, uint64_t calls, uint64_t cost)
{
	unsigned __int128 v = (unsigned __int128)calls * cost + *to;

	*to = v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

/* [node][metric]: what the hooks cost there, at most what was measured. */
static uint64_t *sum_deltas(const struct profile *p, const struct costs *c, uint64_t *nr_over)
{
	const struct flow *f = &p->m->flow;
	unsigned int m, nr = f->nr_metrics;
	uint64_t *delta = xcalloc(f->nr_nodes, nr * sizeof(*delta)), base;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		if (!is_hooked(p->m, i))
			continue;
		for (m = 0; m < nr; m++) {
			add(&delta[i * nr + m], f->nodes[i].n, c->of[m].within);
			add(&delta[(size_t)f->nodes[i].parent * nr + m], f->nodes[i].n, c->of[m].between);
		}
	}
	for (i = 1; i < f->nr_nodes; i++)
		for (m = 0; m < nr; m++) {
			base = flow_base(f, i)[m];
			delta[i * nr + m] = c->has[m] ? (delta[i * nr + m] + 500) / 1000 : 0;
			if (delta[i * nr + m] <= base)
				continue;
			delta[i * nr + m] = base;
			(*nr_over)++;
		}
	return delta;
}

/* The same nodes with BASE, and with the DELTA of each metric that has one as a metric. */
static void take_away(struct profile *p, const struct costs *c, const uint64_t *delta, bool keep)
{
	const struct flow *f = &p->m->flow;
	unsigned int m, nr = f->nr_metrics, k;
	struct flow out;
	size_t i;

	flow_init(&out, nr + (keep ? c->nr : 0), f->n_means);
	out.repairs = f->repairs;
	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t base[FLOW_MAX_METRICS];

		for (m = 0, k = nr; m < nr; m++) {
			base[m] = flow_base(f, i)[m] - delta[i * nr + m];
			if (keep && c->has[m])
				base[k++] = delta[i * nr + m];
		}
		flow_add(&out, flow_child(&out, f->nodes[i].parent, f->nodes[i].consumer), f->nodes[i].n, base);
	}
	flow_finish(&out);
	model_take_flow(p->m, &out);
}

static void name_deltas(struct model *model, const struct costs *c)
{
	unsigned int m, nr = model->flow.nr_metrics - c->nr, k = nr;

	for (m = 0; m < nr; m++) {
		const char *unit = model_str(model, model->metrics[m].unit);
		char name[160];

		if (!c->has[m])
			continue;
		snprintf(name, sizeof(name), "%s.delta", model_str(model, model->metrics[m].name));
		model->delta_of[k] = m;
		model_set_metric(model, k++, name, strlen(name), unit, strlen(unit));
	}
	model->nr_deltas = c->nr;
}

static const char *done(struct profile *p, const struct costs *c)
{
	const struct model *model = p->m;
	struct buf b = BUF_INIT;
	const char *text;
	unsigned int m;

	for (m = 0; m < model_nr_shown(model); m++)
		if (c->has[m])
			buf_fmt(&b, "%s %s", b.len ? "," : "calibrated, native functions only:",
				model_str(model, model->metrics[m].name));
	text = arena_strndup(&p->names.text, b.data, b.len);
	buf_release(&b);
	return text;
}

static bool any_hooked(const struct model *model)
{
	size_t i;

	for (i = 1; i < model->flow.nr_nodes; i++)
		if (is_hooked(model, i))
			return true;
	return false;
}

/* Why nothing is calibrated; NULL: something is. */
static const char *why_not(const struct profile *p, const struct costs *c)
{
	if (!p->o.calibrate)
		return "not calibrated: --no-calibrate";
	if (!any_hooked(p->m))
		return "not calibrated: no native functions; what counting Java methods costs is not measured";
	if (p->o.replay)
		return "not calibrated: built from events";
	if (!c->nr && c->unstable)
		return "not calibrated: 'arcprof calibrate' found no stable cost on the recording machine";
	if (!c->nr)
		return "not calibrated: 'arcprof calibrate' before a recording measures what counting calls costs";
	if (p->o.deltas && p->m->flow.nr_metrics + c->nr > FLOW_MAX_METRICS)
		return "not calibrated: no room for DELTA of so many metrics; choose some with --metric";
	return NULL;
}

void calls_calibrate(struct profile *p, struct report_source *src)
{
	struct costs c;
	uint64_t *delta;

	if (!names_label(&p->names, "call.metric.0"))
		return;		/* of calls alone, nothing that is shown costs */
	read_costs(p, &c);
	src->calibration = why_not(p, &c);
	if (src->calibration)
		return;
	delta = sum_deltas(p, &c, &src->over_corrected);
	take_away(p, &c, delta, p->o.deltas);
	if (p->o.deltas)
		name_deltas(p->m, &c);
	src->calibration = done(p, &c);
	free(delta);
}
