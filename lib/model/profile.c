// SPDX-License-Identifier: GPL-2.0-or-later
/* profile.c - builds a model from a trace (profile.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "flow/ops.h"
#include "model/account.h"
#include "model/arcflow.h"
#include "model/branches.h"
#include "model/calibrate.h"
#include "model/calltree.h"
#include "model/filter.h"
#include "model/graft.h"
#include "model/merge.h"
#include "model/profile.h"
#include "model/samples.h"

struct profile {
	struct names *names;
	const struct profile_opts *o;
	const struct selection *select;
	struct window window;
	struct event_columns events;
	struct filter *filter;		/* NULL: there is none */
	struct samples_seen samples;
	struct account_samples sampled;
	struct calltree_seen calls;
	bool with_samples;		/* beside calls */
};

static int profile_read_samples(struct profile *p, struct graft *graft, struct trace_reader *t, struct err *e)
{
	const struct samples_opts so = {
		.columns = &p->events, .window = &p->window, .cpus = &p->select->cpus,
		.labels = &p->select->labels, .by_label = p->o->by_label,
		.all_labels = p->o->all_labels && !p->o->by_label && !graft, .graft = graft,
		.times = p->o->times, .untimed = p->o->untimed, .filter = p->filter, .sampled = &p->sampled,
	};
	static const struct trace_sink sink = { .samples = samples_take };
	struct samples *s;
	int r;

	if ((r = samples_new(&s, p->names, &so, e)))
		return r;
	r = trace_read(t, &sink, s, e);
	samples_free(s, &p->samples);
	return r;
}

/* Return whether an event is shown and has an account. */
static bool has_missing(const struct profile *p, uint32_t event)
{
	return event < p->events.nr_events && p->events.column_of[event] >= 0 &&
	       account_is_known(p->names, event);
}

static int prepare_missing(struct profile *p, struct err *e)
{
	struct account_samples *s = &p->sampled;
	bool any = false;
	uint32_t event;

	for (event = 0; event < ACCOUNT_MAX_EVENTS; event++) {
		if (!has_missing(p, event))
			continue;
		s->of[event] = xcalloc(p->names->nr_threads + 1, sizeof(*s->of[event]));
		any = true;
	}
	for (event = 0; event < ACCOUNT_MAX_EVENTS && !any; event++)
		if (account_is_known(p->names, event))
			return err_set(e, ENODATA, "the account is of %s, which is not shown",
				       names_event(p->names, event, ""));
	return any ? 0 : account_none(p->names, NULL, e);
}

static void profile_add_missing(struct profile *p)
{
	uint32_t event;

	for (event = 0; event < ACCOUNT_MAX_EVENTS; event++) {
		struct account a = { 0 };

		if (!p->sampled.of[event])
			continue;
		account_make(&a, p->names, event, p->sampled.of[event]);
		account_add_missing(&a, p->events.column_of[event]);
		account_release(&a);
	}
}

static void free_sampled(struct account_samples *s)
{
	uint32_t event;

	for (event = 0; event < ACCOUNT_MAX_EVENTS; event++)
		free(s->of[event]);
}

static bool has_rules(const struct selection *s)
{
	return s->filter && s->filter->nr;
}

/*
 * Check that missing samples can be added: for a part of the recording it is not known how many are missing.
 */
static int check_not_sampled(const struct profile *p, bool calls, struct err *e)
{
	const struct profile_opts *o = p->o;

	if (!o->not_sampled)
		return 0;
	if (calls)
		return err_set(e, EINVAL, "--not-sampled: this is of calls; --samples shows samples alone");
	if (selection_has_window(p->select) || p->select->cpus.nr_items || p->select->labels.nr_items ||
	    has_rules(p->select))
		return err_set(e, EINVAL, "--not-sampled: what was counted is known of the whole recording, not of a part by time, CPU, label or filter");
	return 0;
}

static int read_samples_alone(struct profile *p, struct trace_reader *t, struct err *e)
{
	const struct columns_opts co = { .metrics = &p->o->metrics, .all_events = p->o->all_events,
					 .n_of_first = p->o->n_of_first, .events = p->o->events };
	int r = columns_of_samples(&p->events, p->names, &co, e);

	if (!r && p->o->not_sampled)
		r = prepare_missing(p, e);
	if (!r)
		r = profile_read_samples(p, NULL, t, e);
	if (!r)
		profile_add_missing(p);
	free_sampled(&p->sampled);
	return r;
}

/*
 * Read samples beside calls. In a window of time a context may have samples without calls; its place is known
 * before.
 */
static int read_samples_beside(struct profile *p, struct calls *c, struct trace_reader *t, struct err *e)
{
	struct graft graft;
	int r;

	graft_init(&graft, c, p->o->names.hide_inlined);
	r = profile_read_samples(p, &graft, t, e);
	graft_release(&graft);
	calltree_drop_empty(p->names->m);
	return r;
}

/* Check whether the calls of the trace are known with their labels; select: by which calls are chosen. */
static int check_labels(const struct profile *p, struct calls *c, bool select, struct trace_reader *t,
			struct err *e)
{
	struct model *m = p->names->m;
	int r = calls_read(c, t, NULL, NULL, e);

	m->labels_selected = select && c->has_labels;
	m->labels_are_level = p->o->by_label && c->has_labels;
	if (r || !p->o->by_label || (c->has_labels && !p->o->replay))
		return r;
	if (p->o->replay) {
		r = err_set(e, EINVAL, "events of calls have no labels, trees have");
		err_hint(e, "leave out --replay");
		return r;
	}
	r = err_set(e, ENODATA, "no thread had labels while its calls were counted");
	err_hint(e, "the program sets them: arcprof_label() in C, arcprof.Label in Java; 'arcprof record --callflow -e label' records them");
	return r;
}

/* Check the options: trees have whose calls they are, but not when they were. */
static int profile_check_calls(const struct profile *p, struct err *e)
{
	if (p->o->replay)
		return err_set(e, EINVAL, "cannot be combined: --replay and --filter");
	if (!(p->select->filter->has >> RULE_PHASE & 1))
		return 0;
	err_set(e, EINVAL, "a filter by phase: exact calls do not say when each was");
	err_hint(e, "--samples shows the samples of the trace alone");
	return -EINVAL;
}

static int read_calls(struct profile *p, struct trace_reader *t, struct err *e)
{
	const bool select = p->select->labels.nr_items && !p->o->replay;
	struct columns_opts co = { &p->o->metrics, p->o->replay, p->o->no_samples,
				   p->o->all_events };
	struct call_columns columns;
	struct calltree_opts to = {
		.columns = &columns, .window = &p->window, .labels = select ? &p->select->labels : NULL,
		.by_label = p->o->by_label, .filter = p->filter, .thrown = -1,
	};
	struct calls c;
	int r = 0;

	/* inlined functions are contexts all the same; graft.c hides the rest */
	p->names->o.functions = true;
	p->names->o.hide_inlined = false;
	calls_init(&c, p->names);
	if (select || p->o->by_label)
		r = check_labels(p, &c, select, t, e);
	/* samples beside them would not be of the same time */
	co.no_samples |= c.has_labels && (select || p->o->by_label);
	if (!r)
		r = columns_of_calls(&columns, &p->events, p->names, &co, e);
	/* A stack says how its methods ran when it was sampled, not when they were called. */
	p->with_samples = p->names->o.merge_tiers = columns.with_samples;
	p->names->o.split_tiers = p->o->calibrate && !p->o->replay && !columns.with_samples &&
				  names_label(p->names, "callflow.tiers");
	/* samples give the nodes other numbers */
	if (!r && p->o->calibrate && !columns.with_samples)
		to.thrown = calibrate_metric(p->names, "thrown");
	if (to.thrown >= (int)columns.nr_metrics)
		to.thrown = -1;
	if (!r && p->filter)
		r = profile_check_calls(p, e);
	if (!r && p->o->replay)
		r = replay_read(&c, t, &to, &p->calls, e);
	else if (!r)
		r = calltree_read(&c, t, &to, &p->calls, e);
	if (!r && names_label(p->names, "callflow.sites"))
		p->calls.sites = calls_sites(&c, &p->calls.nr_sites);
	if (!r && columns.with_samples)
		r = read_samples_beside(p, &c, t, e);
	calls_release(&c);
	return r;
}

/* List the events that are not shown, unless they were refused; NULL: none. */
static const char *list_not_shown(const struct profile *p)
{
	struct buf b = BUF_INIT;
	const char *text = NULL;
	uint32_t i;

	if (p->o->no_samples || p->o->metrics.nr_items)
		return NULL;
	for (i = 0; i < p->events.nr_events; i++) {
		if (p->events.column_of[i] >= 0 || !p->samples.has_event[i])
			continue;
		buf_str(&b, b.len ? ", " : "");
		if (p->samples.nr_of_event[i])
			buf_fmt(&b, "%" PRIu64 " sample%s of ", p->samples.nr_of_event[i],
				plural(p->samples.nr_of_event[i]));
		buf_str(&b, names_event(p->names, i, ""));
	}
	if (b.len)
		text = arena_strndup(&p->names->text, b.data, b.len);
	buf_release(&b);
	return text;
}

/* Return the first event of the first source of samples that is shown or, without one, of all. */
static uint32_t first_event(const struct profile *p)
{
	const struct model *m = p->names->m;
	unsigned int source = model_first_samples(m);
	uint32_t i;

	for (i = 0; i < p->events.nr_events; i++) {
		int column = p->events.column_of[i];

		if (column >= 0 && column < (int)m->nr_shown && m->metrics[column].source == source)
			return i;
	}
	return 0;
}

static void profile_finish(struct profile *p, bool calls, struct origin *origin)
{
	struct names *x = p->names;

	model_finish(x->m);
	if (!x->o.by_kind)
		names_settle_kinds(x);
	origin_fill(origin, x, p->samples.first_ns, MAX(p->samples.last_ns, p->calls.last_ns));
	origin_fill_recorded(origin, x, first_event(p));
	x->m->times.start_ns = names_label_u64(x, "start.mono_ns");
	origin->lost += p->samples.nr_unknown;
	if (!calls || p->with_samples)
		account_of_all(x, p->samples.weight_of_event, origin);
	origin->nr_read = calls ? p->calls.nr_calls : p->samples.nr_read;
	origin->nr_missing = p->samples.nr_missing;
	origin->nr_left_out = p->samples.nr_left_out;
	origin->own_ns = p->samples.own_ns;
	origin->nr_own = x->nr_own;
	origin->not_shown = list_not_shown(p);
}

static bool wants_calls(const struct profile *p)
{
	const struct profile_opts *o = p->o;

	return names_label(p->names, "callflow") && !o->samples &&
	       !(o->prefer_samples && names_event(p->names, 0, ""));
}

int profile_read(struct names *x, struct model *m, struct origin *origin, struct trace_reader *t,
		 const struct profile_opts *o, struct err *e)
{
	struct calibrate_opts ko = { o->calibrate, o->replay, o->deltas, o->needs_deltas };
	static const struct selection all;
	struct profile p = { .names = x, .o = o, .select = o->select ? o->select : &all };
	bool calls;
	int r;

	model_init(m, 1, FLOW_SAMPLES);
	names_init(x, m, &o->names);
	r = trace_read(t, &names_sink, x, e);
	if (!r && has_rules(p.select) && (merged_is(x) || branches_are_in(x)))
		return err_set(e, EINVAL, "a filter: this trace has no single events");
	if (!r && o->blocks && !branches_are_in(x)) {
		r = err_set(e, EINVAL, "--blocks: this is not an instruction trace, so its blocks are not known");
		err_hint(e, "'arcprof itrace' records one");
		return r;
	}
	if (!r && merged_is(x))
		return merged_read(x, origin, t, o, e);
	if (!r)
		r = names_window(x, p.select, &p.window, e);
	if (!r && branches_are_in(x)) {
		/* A function that came back to another line was not called. */
		if (o->whole_functions)
			x->o.lines = x->o.by_kind = false;
		r = itrace_read(x, origin, t, &p.window, o, e);
		if (!r)
			r = model_pick_metrics(m, o->metrics.items, o->metrics.nr_items, e);
		return r;
	}
	calls = wants_calls(&p);
	if (!r)
		r = check_not_sampled(&p, calls, e);
	if (!r)
		r = filter_new(&p.filter, x, p.select->filter, t, e);
	if (!r)
		r = calls ? read_calls(&p, t, e) : read_samples_alone(&p, t, e);
	filter_free(p.filter);
	profile_finish(&p, calls, origin);
	ko.thrown = p.calls.thrown;
	ko.nr_thrown = p.calls.nr_thrown;
	ko.sites = p.calls.sites;
	ko.nr_sites = p.calls.nr_sites;
	if (!r && calls)
		calibrate(x, &ko, origin);
	free(p.calls.thrown);
	free(p.calls.sites);
	return r;
}
