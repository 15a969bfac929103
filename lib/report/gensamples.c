// SPDX-License-Identifier: GPL-2.0-or-later
/* gensamples.c - iterates over the samples of a trace (gensamples.h). */
#include <errno.h>
#include <string.h>

#include "model/probed.h"
#include "report/gensamples.h"

/* Return whether both are values of one sample. */
static bool gensamples_is_same(const struct flow_time *a, const struct flow_time *b)
{
	return a->time_ns == b->time_ns && a->thread == b->thread && a->node == b->node &&
	       a->metric != b->metric;
}

static size_t gensamples_count(const struct flow_times *t)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr_list; i++)
		nr += !i || !gensamples_is_same(&t->list[i - 1], &t->list[i]);
	return nr;
}

/* Forget the samples that are listed as calls: entries and returns of native functions. */
static void leave_out_calls(struct gen_samples *s)
{
	struct flow_times *t = &s->m.times;
	bool are_calls[FLOW_MAX_METRICS] = { false };
	struct probed probed;
	size_t i, nr = 0;
	unsigned int m;

	probed_find(&probed, &s->names);
	for (m = 0; m < s->m.nr_shown && probed.nr_functions; m++)
		for (i = 0; i < PROBED_MAX_EVENTS && !are_calls[m]; i++)
			are_calls[m] = probed.events[i].function &&
				       !strcmp(names_event(&s->names, i, ""),
					       model_str(&s->m, s->m.metrics[m].name));
	for (i = 0; i < t->nr_list; i++)
		if (!are_calls[t->list[i].metric])
			t->list[nr++] = t->list[i];
	t->nr_list = nr;
}

int gen_samples_read(struct gen_samples *s, struct trace_reader *t, const struct report_opts *o,
		     struct err *e)
{
	struct profile_opts po = *o->profile;
	const struct report_opts only = { .report = o->report, .select = o->select, .profile = &po };
	struct err none = { 0 };
	struct view v;
	int r;

	po.metrics = (struct opt_list){ 0 };
	po.samples = po.all_events = po.times = true;
	po.replay = po.calibrate = false;
	r = profile_read(&s->names, &s->m, &s->origin, t, &po, &none);
	s->is_open = true;
	if (r == -ENODATA)
		return 0;	/* there are none */
	if (r) {
		*e = none;
		return r;
	}
	leave_out_calls(s);
	flow_times_sort_by_time(&s->m.times);
	s->nr_read = gensamples_count(&s->m.times);
	r = view_init(&v, &s->m, &s->origin, &only, e);
	view_release(&v);
	return r;
}

void gen_samples_release(struct gen_samples *s)
{
	if (!s->is_open)
		return;
	names_release(&s->names);
	model_release(&s->m);
}

static const char *prefix(uint32_t kind)
{
	return kind_is(kind, KIND_JAVA) ? "M:" : kind_is(kind, KIND_NATIVE) ? "N:" : "";
}

static bool gensamples_is_function(uint32_t kind)
{
	return kind_is(kind, KIND_CODE) || kind == CONSUMER_UNRESOLVED;
}

/* Find the thread and, for what is not a function, the innermost function around it. */
static void gensamples_look_up(const struct gen_samples *s, uint32_t node, struct gen_sample *x)
{
	const struct consumers *c = &s->m.consumers;
	bool function = gensamples_is_function(c->items[s->m.flow.nodes[node].consumer].kind);

	for (; node; node = s->m.flow.nodes[node].parent) {
		uint32_t id = s->m.flow.nodes[node].consumer, kind = c->items[id].kind;

		if (kind == CONSUMER_THREAD) {
			x->thread = consumer_name(c, id);
			return;
		}
		if (!function && !x->in && gensamples_is_function(kind)) {
			x->in = consumer_name(c, id);
			x->in_prefix = prefix(kind);
		}
	}
}

bool gen_samples_next(struct gen_samples *s, uint64_t until_ns, struct gen_sample *x)
{
	const struct flow_times *t = &s->m.times;
	const struct flow_time *first, *at;
	uint32_t consumer;

	if (s->at == t->nr_list || t->list[s->at].time_ns > until_ns)
		return false;
	first = &t->list[s->at];
	*x = (struct gen_sample){ .time_ns = first->time_ns };
	do {
		const struct model_metric *metric;

		at = &t->list[s->at++];
		metric = &s->m.metrics[at->metric];
		x->values[x->nr_values++] = (struct gen_value){ model_str(&s->m, metric->name),
			model_str(&s->m, metric->unit), at->weight };
	} while (s->at < t->nr_list && x->nr_values < GEN_SAMPLE_VALUES && gensamples_is_same(at, at + 1));
	consumer = s->m.flow.nodes[first->node].consumer;
	x->what = consumer_name(&s->m.consumers, consumer);
	x->prefix = prefix(s->m.consumers.items[consumer].kind);
	gensamples_look_up(s, first->node, x);
	return true;
}
