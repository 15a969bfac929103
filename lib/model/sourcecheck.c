// SPDX-License-Identifier: GPL-2.0-or-later
/* sourcecheck.c - compares the sums of a model with the samples in its trace (checks.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/account.h"
#include "model/cut.h"
#include "model/merge.h"
#include "model/checks.h"
#include "model/profile.h"
#include "trace/calls.h"

enum { EVENTS_MAX = 64, NOT_SHOWN = -1 };

struct sums {
	const struct model *m;
	const struct opt_list *cpus;
	struct window window;
	struct cut cut;
	int metric_of_event[EVENTS_MAX], metric_of_call[CALL_MAX_METRICS];
	uint32_t nr_events;		/* that the trace names; 0: all samples are one metric */
	const struct names *names;
	const char *switch_of[EVENTS_MAX];	/* the event that is recorded or not */
	uint64_t nr_outside[FLOW_MAX_METRICS];	/* [source]: samples of times when it was not */
	uint64_t n[FLOW_MAX_METRICS];	/* [source] */
	uint64_t base[FLOW_MAX_METRICS];	/* [metric] */
};

/* ---- what the trace says ---- */

static int sourcecheck_find_metric(const struct model *m, enum flow_n kind, const char *name)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (m->sources[m->metrics[i].source].kind == kind &&
		    !strcmp(model_str(m, m->metrics[i].name), name))
			return i;
	return NOT_SHOWN;
}

/* Find an event; one with the name of a metric of calls is "name.sampled". */
static int sourcecheck_find_event(const struct model *m, const char *name)
{
	int metric = sourcecheck_find_metric(m, FLOW_SAMPLES, name);
	char sampled[96];

	if (metric != NOT_SHOWN)
		return metric;
	snprintf(sampled, sizeof(sampled), "%s.sampled", name);
	return sourcecheck_find_metric(m, FLOW_SAMPLES, sampled);
}

static void find_metrics(struct sums *s, const struct names *x)
{
	const char *name;
	unsigned int i;
	char key[48];

	s->names = x;
	for (; s->nr_events < EVENTS_MAX && (name = names_event(x, s->nr_events, "")); s->nr_events++) {
		s->metric_of_event[s->nr_events] = sourcecheck_find_event(s->m, name);
		s->switch_of[s->nr_events] = names_event_of(x, s->nr_events);
	}
	for (i = 0; i < CALL_MAX_METRICS; i++) {
		snprintf(key, sizeof(key), "call.metric.%u", i);
		name = names_label(x, key);
		s->metric_of_call[i] = name ? sourcecheck_find_metric(s->m, FLOW_CALLS, name) : NOT_SHOWN;
	}
}

static bool sourcecheck_is_wanted(const struct window *w, uint64_t time_ns)
{
	return time_ns >= w->reset_ns && window_has(w, time_ns);
}

static int sourcecheck_take_samples(void *ctx, const struct rec_sample *r, size_t nr,
				    const struct stack_epoch *ep)
{
	struct sums *s = ctx;
	struct rec_sample part;
	size_t i;

	for (i = 0; i < nr; i++) {
		int metric = s->nr_events ? NOT_SHOWN : 0;

		if (r[i].event < s->nr_events)
			metric = s->metric_of_event[r[i].event];
		if (metric == NOT_SHOWN || !select_number(s->cpus, r[i].cpu) || cut_is_own(&s->cut, &r[i]) ||
		    !cut_sum(&s->cut, &r[i], &part))
			continue;
		s->n[s->m->metrics[metric].source] += 1 + r[i].more;
		if (s->nr_events && s->names->nr_recorded &&
		    !names_recorded_at(s->names, s->switch_of[r[i].event], r[i].time_ns))
			s->nr_outside[s->m->metrics[metric].source]++;
		s->base[metric] += s->nr_events ? part.weight : 1;
	}
	return 0;
}

static bool sourcecheck_is_text(const char *s, const char *t, size_t len)
{
	return strlen(s) == len && !memcmp(s, t, len);
}

static int sourcecheck_take_values(void *ctx, const struct rec_call_values *r)
{
	struct sums *s = ctx;
	uint32_t i, k;

	for (i = 0; i < r->nr && sourcecheck_is_wanted(&s->window, r->time_ns); i++) {
		s->n[0] += r->values[i].calls;
		for (k = 0; k < r->nr_metrics; k++)
			if (s->metric_of_call[k] != NOT_SHOWN)
				s->base[s->metric_of_call[k]] += r->values[i].base[k];
	}
	return 0;
}

/* Take the sums of a merged trace, to which its tree should add up. */
static int take_tree_source(void *ctx, const struct rec_tree_source *r)
{
	struct sums *s = ctx;
	const struct model *m = s->m;
	unsigned int i;

	for (i = 0; i < m->nr_sources; i++) {
		const char *name = model_str(m, m->sources[i].name);
		const char *kind = model_kind_name(m->sources[i].kind);

		if (sourcecheck_is_text(name, r->name, r->name_len) &&
		    sourcecheck_is_text(kind, r->kind, r->kind_len))
			s->n[i] = r->total;
	}
	return 0;
}

static int take_tree_metric(void *ctx, const struct rec_tree_metric *r)
{
	struct sums *s = ctx;
	const struct model *m = s->m;
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (sourcecheck_is_text(model_str(m, m->metrics[i].name), r->name, r->name_len) &&
		    sourcecheck_is_text(model_str(m, m->metrics[i].unit), r->unit, r->unit_len))
			s->base[i] = r->total;
	return 0;
}

/* ---- what the model says ---- */

static void expect(struct sums_check *c, const char *what, uint64_t got, uint64_t want)
{
	sums_check_that(c, got == want, "%s: %" PRIu64 " in the model, %" PRIu64 " in the trace", what, got,
			want);
}

/* Return what was measured, including for a calibrated metric what counting cost. */
static uint64_t measured(const struct model *m, unsigned int metric, const uint64_t *total)
{
	unsigned int delta = model_delta(m, metric);

	return total[metric] + (delta ? total[delta] : 0);
}

static void sourcecheck_compare(const struct sums *s, unsigned int source, struct sums_check *c)
{
	uint64_t total[FLOW_MAX_METRICS], n = flow_totals(&s->m->flow, total);
	const struct model *m = s->m;
	unsigned int i;

	expect(c, "n", model_n(m, source, n, total), s->n[source]);
	for (i = 0; i < m->nr_shown; i++) {
		const char *name = model_str(m, m->metrics[i].name);

		if (m->metrics[i].source != source)
			continue;
		if (m->sources[source].kind == FLOW_CALLS && !strcmp(name, "calls"))
			expect(c, name, total[i], s->n[source]);
		else
			expect(c, name, measured(m, i, total), s->base[i]);
	}
}

/* Add what was counted and not sampled. */
static void sourcecheck_add_missing(struct sums *s, const struct profile_opts *o)
{
	uint32_t event;

	for (event = 0; o->not_sampled && event < s->nr_events; event++) {
		int metric = s->metric_of_event[event];

		if (metric != NOT_SHOWN && account_is_known(s->names, event))
			s->base[metric] = MAX(s->base[metric], account_counted(s->names, event));
	}
}

int sources_check(const struct model *m, const struct names *x, struct trace_reader *t,
		  const struct profile_opts *o, struct sums_check *out, struct err *e)
{
	bool merged = merged_is(x);
	bool has_values = m->sources[0].kind == FLOW_CALLS && names_label(x, "callflow") && !o->replay;
	const struct trace_sink sink = { .samples = sourcecheck_take_samples,
					 .call_values = has_values ? sourcecheck_take_values : NULL,
					 .tree_source = merged ? take_tree_source : NULL,
					 .tree_metric = merged ? take_tree_metric : NULL };
	struct sums s = { .m = m, .cpus = o->select ? &o->select->cpus : NULL };
	unsigned int i;
	int r;

	memset(out, 0, m->nr_sources * sizeof(*out));
	find_metrics(&s, x);
	r = names_window(x, o->select, &s.window, e);
	cut_init(&s.cut, x, &s.window, NULL);
	if (!r)
		r = trace_read(t, &sink, &s, e);
	sourcecheck_add_missing(&s, o);
	for (i = 0; i < m->nr_sources && !r; i++)
		if (m->sources[i].kind == FLOW_SAMPLES || has_values || merged)
			sourcecheck_compare(&s, i, &out[i]);
	for (i = 0; i < m->nr_sources && !r && x->nr_recorded; i++)
		expect(&out[i], "samples while it was not recorded", s.nr_outside[i], 0);
	return r;
}
