// SPDX-License-Identifier: GPL-2.0-or-later
/* columns.c - assigns the metrics of a trace to those of the model (columns.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/columns.h"

enum {
	EVENTS_MAX = ARRAY_SIZE(((struct event_columns *)NULL)->column_of),
	EVENTS_ROOM = (FLOW_MAX_METRICS + 1) / 2,	/* each beside the first takes two metrics */
};

static int check_room(size_t nr_metrics, size_t nr_sources, size_t nr_events, struct err *e)
{
	if (model_has_room(nr_metrics, nr_sources))
		return 0;
	return err_set(e, EINVAL, "too many metrics for one report%s: choose fewer with --metric",
		       nr_events > 1 ? " (each event beside the first takes two)" : "");
}

/* ---- samples alone ---- */

static const char *call_metric(const struct names *x, unsigned int i)
{
	char key[48];

	snprintf(key, sizeof(key), "call.metric.%u", i);
	return names_label(x, key);
}

static bool is_of_calls(const struct names *x, const char *name)
{
	const char *metric;
	unsigned int i;

	for (i = 0; i < CALL_MAX_METRICS && (metric = call_metric(x, i)); i++)
		if (!strcmp(metric, name))
			return true;
	return false;
}

static bool is_of_samples(const struct names *x, const char *name)
{
	const char *event;
	uint32_t i;

	for (i = 0; i < EVENTS_MAX && (event = names_event(x, i, "")); i++)
		if (!strcmp(event, name))
			return true;
	return false;
}

/* Say that a metric is missing, and how it is recorded: a report such as --created may have chosen it. */
static void set_unknown(const char *name, const char *available, struct err *e)
{
	static const char *const events[] = { "alloc", "live", "lock", "wall" };
	size_t i;

	err_set(e, EINVAL, "unknown metric '%s' (the trace has: %s)", name, available);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i], name))
			err_hint(e, "'arcprof record -e %s' records it", name);
}

static int unknown_event(const struct event_columns *k, const struct names *x, const char *name,
			 struct err *e)
{
	struct buf b = BUF_INIT;
	uint32_t i;

	for (i = 0; i < k->nr_events; i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", names_event(x, i, ""));
	if (is_of_calls(x, name))
		err_set(e, EINVAL, "metric '%s' is of calls, which this report does not show", name);
	else
		set_unknown(name, b.data ? b.data : "none", e);
	buf_release(&b);
	return -EINVAL;
}

static bool is_event_name(const char *event, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(event, name, len) && (!event[len] || event[len] == ':' || event[len] == '/');
}

/* Assign the events with these names, in that order. */
static size_t place_named(const struct event_columns *k, const struct names *x, const char *const *names,
			  uint32_t event_in[])
{
	size_t nr = 0;
	uint32_t i;

	for (; names && *names; names++)
		for (i = 0; i < k->nr_events && nr < EVENTS_ROOM; i++)
			if (is_event_name(names_event(x, i, ""), *names))
				event_in[nr++] = i;
	return nr;
}

struct events_of {
	const struct event_columns *k;
	const struct names *x;
};

static const char *column_event_name(const void *ctx, size_t i)
{
	const struct events_of *of = ctx;

	return names_event(of->x, i, "");
}

/*
 * Return whether the event only details another one: "objects" in objects counts those of "alloc",
 * "waits" those of "lock", and others are parts of these.
 */
static bool is_secondary(const struct names *x, uint32_t event)
{
	static const char *const parts[] = {
		"blame", "survived", "freed", "live-unknown", "native-unknown"
	};
	const char *name = names_event(x, event, ""), *unit = names_event(x, event, ".unit");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts) && strcmp(parts[i], name); i++)
		;
	return i < ARRAY_SIZE(parts) || (unit && !strcmp(unit, name));
}

/* Assign events to columns: the requested ones, else the first. Returns how many. */
static int place_events(struct event_columns *k, const struct names *x, const struct columns_opts *o,
			uint32_t event_in[], struct err *e)
{
	const struct events_of of = { k, x };
	const struct opt_list *l = o->metrics;
	uint32_t most = !o->all_events ? 1 : o->n_of_first ? FLOW_MAX_METRICS : EVENTS_ROOM;
	size_t at, nr = 0;
	uint32_t i;
	int secondary;

	if (!(l && l->nr_items) && (nr = place_named(k, x, o->events, event_in)))
		return nr;
	for (at = 0; l && at < l->nr_items; at++) {
		i = metric_meant(l->items[at], k->nr_events, column_event_name, &of);
		if (i == k->nr_events)
			return unknown_event(k, x, l->items[at], e);
		if (k->column_of[i] < 0) {
			k->column_of[i] = nr;
			event_in[nr++] = i;
		}
	}
	for (secondary = 0; !(l && l->nr_items) && secondary < 1 + o->n_of_first; secondary++)
		for (i = 0; i < k->nr_events && nr < most; i++)
			if (!o->n_of_first || is_secondary(x, i) == secondary)
				event_in[nr++] = i;
	return nr;
}

/* Add an event, which is a source and a metric of it. */
static void columns_add_event(struct model *m, const char *name, const char *unit, bool lasts)
{
	unsigned int source = m->n_of_first && m->nr_sources ? 0 : model_add_source(m, FLOW_SAMPLES, name);

	model_add_metric(m, source, name, unit && *unit ? unit : "events");
	m->metrics[m->nr_shown - 1].lasts = lasts;
}

int columns_of_samples(struct event_columns *k, struct names *x, const struct columns_opts *o, struct err *e)
{
	uint64_t lasting = names_lasting_events(x);
	uint32_t event_in[EVENTS_MAX];
	int nr, i, r;

	k->nr_events = 0;
	for (i = 0; i < EVENTS_MAX; i++)
		k->column_of[i] = -1;
	while (k->nr_events < EVENTS_MAX && names_event(x, k->nr_events, ""))
		k->nr_events++;
	nr = place_events(k, x, o, event_in, e);
	if (nr < 0)
		return nr;
	if ((r = check_room(nr, o->n_of_first ? 1 : nr, nr, e)))
		return r;
	model_clear(x->m);
	x->m->n_of_first = o->n_of_first;
	for (i = 0; i < nr; i++) {
		k->column_of[event_in[i]] = i;
		columns_add_event(x->m, names_event(x, event_in[i], ""), names_event(x, event_in[i], ".unit"),
				  lasting >> event_in[i] & 1);
	}
	if (!nr)
		model_add_metric(x->m, model_add_source(x->m, FLOW_SAMPLES, "samples"), "samples", "samples");
	model_begin(x->m);
	return 0;
}

/* ---- calls, and samples beside them ---- */

/* The columns that a trace can fill: the metrics of its calls, then the events of its samples. */
struct candidates {
	struct candidate {
		char name[96];
		const char *unit;
		int *column;
		bool is_event, lasts;
	} list[CALL_MAX_METRICS + CALLS_NR_EXTRA + EVENTS_MAX];
	size_t nr, nr_chosen, nr_events;	/* nr_events: of nr_chosen */
};

static struct candidate *find_candidate(struct candidates *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (!strcmp(c->list[i].name, name))
			return &c->list[i];
	return NULL;
}

static void add_candidate(struct candidates *c, const char *name, const char *unit, int *column,
			  bool is_event)
{
	bool taken = find_candidate(c, name);
	struct candidate *k = &c->list[c->nr++];

	snprintf(k->name, sizeof(k->name), "%s%s", name, taken ? ".sampled" : "");
	k->unit = unit ? unit : is_event ? "events" : "";
	k->column = column;
	k->is_event = is_event;
	*column = -1;
}

static const char *const calls_extra[CALLS_NR_EXTRA] = { "dispatches", "interrupts" };

/* List what replay.c can derive from events, where it was recorded; columns for both, or for none. */
static void list_extra(struct call_columns *k, const struct names *x, struct candidates *c)
{
	const char *irq = names_label(x, "sched.irq");
	const bool has[CALLS_NR_EXTRA] = { names_label(x, "sched.scope"), irq && !strcmp(irq, "yes") };
	unsigned int i;

	if (k->nr_metrics + CALLS_NR_EXTRA > CALL_MAX_METRICS)
		return;
	k->nr_extra = CALLS_NR_EXTRA;
	for (i = 0; i < CALLS_NR_EXTRA; i++) {
		int *column = &k->column_of[k->nr_metrics + i];

		*column = -1;
		if (has[i] && !find_candidate(c, calls_extra[i]))
			add_candidate(c, calls_extra[i], calls_extra[i], column, false);
	}
}

static void list_calls(struct call_columns *k, const struct names *x, struct candidates *c)
{
	const char *name;
	char unit[48];

	for (k->nr_metrics = 0; k->nr_metrics < CALL_MAX_METRICS; k->nr_metrics++) {
		snprintf(unit, sizeof(unit), "call.metric.%u.unit", k->nr_metrics);
		if (!(name = call_metric(x, k->nr_metrics)))
			break;
		add_candidate(c, name, names_label(x, unit), &k->column_of[k->nr_metrics], false);
	}
}

static void list_events(struct event_columns *k, const struct names *x, struct candidates *c)
{
	uint64_t lasting = names_lasting_events(x);
	const char *name;

	for (; k->nr_events < EVENTS_MAX && (name = names_event(x, k->nr_events, "")); k->nr_events++) {
		add_candidate(c, name, names_event(x, k->nr_events, ".unit"), &k->column_of[k->nr_events],
			      true);
		c->list[c->nr - 1].lasts = lasting >> k->nr_events & 1;
	}
}

static const char *candidate_name(const void *ctx, size_t i)
{
	const struct candidates *c = ctx;

	return c->list[i].name;
}

static struct candidate *meant_candidate(struct candidates *c, const char *name)
{
	size_t i = metric_meant(name, c->nr, candidate_name, c);

	return i < c->nr ? &c->list[i] : NULL;
}

static int unknown_metric(const struct candidates *c, const struct names *x, const char *name, struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < c->nr; i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", c->list[i].name);
	if (is_of_samples(x, name))
		err_set(e, EINVAL, "metric '%s' is of samples, which this report does not show", name);
	else
		set_unknown(name, b.data ? b.data : "calls", e);
	buf_release(&b);
	return -EINVAL;
}

static bool has_room_for_event(const struct candidates *c, const struct columns_opts *o)
{
	return o->all_events && model_has_room(c->nr_chosen + 1, c->nr_events + 2);
}

/* Gives a column to each that is wanted, in the order in which they are. */
static int columns_choose(struct candidates *c, const struct names *x, const struct columns_opts *o,
			  struct err *e)
{
	const struct opt_list *l = o->metrics;
	bool all = !l || !l->nr_items;
	size_t i, nr = all ? c->nr : l->nr_items;

	for (i = 0; i < nr; i++) {
		struct candidate *k = all ? &c->list[i] : meant_candidate(c, l->items[i]);

		if (!k && !c->nr && !strcmp(l->items[i], "calls"))
			continue;
		if (!k)
			return unknown_metric(c, x, l->items[i], e);
		if (*k->column >= 0 || (all && k->is_event && c->nr_events && !has_room_for_event(c, o)))
			continue;	/* of several events the first */
		*k->column = c->nr_chosen++;
		c->nr_events += k->is_event;
	}
	return check_room(c->nr_chosen, 1 + c->nr_events, c->nr_events, e);
}

static void add_columns(struct model *m, const struct candidates *c)
{
	unsigned int column, calls;
	size_t i;

	model_clear(m);
	calls = model_add_source(m, FLOW_CALLS, "calls");
	for (column = 0; column < c->nr_chosen; column++)
		for (i = 0; i < c->nr; i++) {
			if (*c->list[i].column != (int)column)
				continue;
			if (c->list[i].is_event)
				columns_add_event(m, c->list[i].name, c->list[i].unit, c->list[i].lasts);
			else
				model_add_metric(m, calls, c->list[i].name, c->list[i].unit);
		}
	if (!c->nr_chosen)	/* calls are all there is to consume */
		model_add_metric(m, calls, "calls", "calls");
	model_begin(m);
}

int columns_of_calls(struct call_columns *k, struct event_columns *events, struct names *x,
		     const struct columns_opts *o, struct err *e)
{
	struct candidates c = { .nr = 0 };
	int r;

	*k = (struct call_columns){ 0 };
	*events = (struct event_columns){ .nr_events = 0 };
	list_calls(k, x, &c);
	if (o->extra)
		list_extra(k, x, &c);
	if (!o->no_samples)
		list_events(events, x, &c);
	if ((r = columns_choose(&c, x, o, e)))
		return r;
	k->with_samples = c.nr_events;
	k->calls_are_consumed = !c.nr_chosen;
	add_columns(x->m, &c);
	return 0;
}

void call_columns_add(const struct call_columns *k, struct flow *f, uint32_t node, uint64_t nr_calls,
		      const uint64_t *values)
{
	uint64_t base[FLOW_MAX_METRICS] = { 0 };
	unsigned int m;

	for (m = 0; m < k->nr_metrics + k->nr_extra; m++)
		if (k->column_of[m] >= 0)
			base[k->column_of[m]] = values[m];
	if (k->calls_are_consumed)
		base[0] = nr_calls;
	flow_add(f, node, nr_calls, base);
}
