// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gen.c - the event trace as in JProf's log-gen, a line per event: what its thread consumed
 * since its previous event, less what counting the two cost, > entry or < exit or ! exit by an exception,
 * function, thread; before it the time. If they were recorded, when those threads lost and got a CPU,
 * samples, and events of their JVMs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/quote.h"
#include "model/calibrate.h"
#include "model/columns.h"
#include "model/sequences.h"
#include "report/completed.h"
#include "report/events.h"
#include "report/gensamples.h"
#include "report/gensel.h"
#include "report/sched.h"

/* Text has what was consumed before the event, and no heads; the others behind it. */
enum {
	AT_TIME, AT_TEXT_METRICS, AT_SOURCE = AT_TEXT_METRICS + CALL_MAX_METRICS, AT_KIND, AT_NAME, AT_THREAD,
	AT_UNWOUND, AT_DURATION, AT_CAUSE, AT_FIELDS, AT_CPU, AT_STATE, AT_WEIGHT, AT_UNIT, AT_IN, AT_METRICS,
	AT_DELTAS = AT_METRICS + CALL_MAX_METRICS, AT_EVENT = AT_DELTAS + CALL_MAX_METRICS, NR_CELLS
};

struct gen {
	const struct report_opts *o;
	FILE *out;
	struct model m;
	struct names names;
	struct calls calls;
	struct call_columns columns;
	struct sequences costs;
	bool calibrated;		/* and costs are subtracted */
	struct timeline timeline;
	struct gen_select select;
	struct events jvm;
	struct events_opts jvm_opts;
	size_t nr_jvm;			/* of its list, that are behind us */
	struct gen_samples samples;
	struct sheet sheet;
	struct sheet_column sheet_columns[NR_CELLS];
	struct buf line;		/* of text, the event */
	uint64_t start_ns, nr_printed;
};

static const char *prefix(uint32_t kind)
{
	if (kind_is(kind, KIND_JAVA))
		return kind == CONSUMER_JAVA ? "M:" : kind == CONSUMER_JAVA_INTERPRETED ? "I:" : "J:";
	return kind == CONSUMER_NATIVE ? "N:" : "";
}

static const char *calibration_said(struct gen *g)
{
	bool any_jvm = false;
	size_t i;

	if (g->calibrated)
		return "calibrated";
	if (g->costs.any)
		return "not calibrated: --no-calibrate";
	for (i = 0; i < g->names.nr_procs; i++)
		any_jvm |= g->names.procs[i].jvm != 0;
	return calibrate_why_not(&g->names, any_jvm);
}

static void gen_print_head(struct gen *g)
{
	const struct model *m = &g->m;
	struct buf *b = &g->line;
	unsigned int i;

	buf_fmt(b, "%" PRIu64 " events", g->timeline.nr_calls);
	if (g->timeline.nr_dispatches)
		buf_fmt(b, " and %" PRIu64 " dispatches", g->timeline.nr_dispatches);
	if (g->jvm.nr_all)
		buf_fmt(b, ", %" PRIu64 " events of JVMs", g->jvm.nr_all);
	if (g->samples.nr_read)
		buf_fmt(b, ", %zu samples", g->samples.nr_read);
	buf_fmt(b, " of %zu threads, ", g->select.nr_trees);
	report_put_lost_of(&g->names, b);
	buf_putc(b, ';');
	for (i = 0; i < g->columns.nr_metrics; i++) {
		buf_str(b, i ? ", " : " ");
		quote_add(b, model_str(m, m->metrics[i].name));
		buf_str(b, " in ");
		quote_add(b, model_str(m, m->metrics[i].unit));
	}
	buf_str(b, g->columns.nr_metrics ? " since the thread's event before" : " no metrics");
	if (g->columns.nr_metrics)
		buf_fmt(b, "; %s", calibration_said(g));
	gen_select_put_filter(&g->select, b);
	completed_put_only(&g->names, b);
	fprintf(g->out, "%s\n", b->data);
}

static void gen_put_event(struct gen *g, const struct timeline_event *x)
{
	struct model *m = &g->m;
	uint32_t consumer;

	switch (x->kind) {
	case TIMELINE_ON:
		buf_fmt(&g->line, "+ [gets CPU %u] ", x->cpu);
		break;
	case TIMELINE_OFF:
		buf_fmt(&g->line, "- [loses CPU %u: %s] ", x->cpu, sched_state_letter(x->state));
		break;
	case CALL_UNWOUND:
		buf_fmt(&g->line, "? ev_%" PRIu32 "_UNWOUND ", x->function);
		break;
	default:
		consumer = calls_consumer(&g->calls, x->function);
		buf_fmt(&g->line, "%c %s", "><!?="[x->kind], prefix(m->consumers.items[consumer].kind));
		quote_add(&g->line, consumer_name(&m->consumers, consumer));
		buf_putc(&g->line, ' ');
	}
}

static void begin_row(struct gen *g, uint64_t time_ns, const char *source, struct cell *c)
{
	size_t i;

	for (i = 0; i < NR_CELLS; i++)
		c[i] = cell_absent;
	c[AT_TIME] = cell_u64(time_ns - MIN(time_ns, g->start_ns));
	c[AT_SOURCE] = cell_text(source);
	buf_reset(&g->line);
}

static void end_row(struct gen *g, struct cell *c)
{
	c[AT_EVENT] = cell_text(g->line.data);
	sheet_row(&g->sheet, NULL, c);
	g->nr_printed++;
}

static struct sequence_step step_of(struct gen *g, uint32_t function, uint32_t event, uint32_t proc)
{
	uint32_t consumer;

	if (event >= CALIBRATION_STEPS)
		return (struct sequence_step){ .kind = SEQUENCES_NONE, .event = event };
	consumer = calls_consumer(&g->calls, function);
	return sequences_step(&g->costs, &g->m.consumers.items[consumer], proc, event);
}

/* Return the cost of counting this event and the previous one within what was consumed between them. */
static uint64_t cost_of(struct gen *g, const struct timeline_event *x, const struct gen_thread *t,
			unsigned int metric)
{
	if (!g->calibrated)
		return 0;
	return sequences_cost(&g->costs, metric, step_of(g, x->function_before, x->before, t->proc),
			      step_of(g, x->function, x->kind, t->proc), x->delta[metric]);
}

static void gen_print_row(struct gen *g, const struct timeline_event *x)
{
	const struct gen_thread *thread = gen_select_thread(&g->select, x);
	struct cell c[NR_CELLS];
	bool is_call = x->kind < CALL_EVENT_NR;
	uint32_t consumer = 0;
	unsigned int i;

	begin_row(g, x->time_ns, is_call ? "call" : "dispatch", c);
	if (is_call && x->kind != CALL_UNWOUND)
		consumer = calls_consumer(&g->calls, x->function);
	c[AT_KIND] = cell_text(timeline_kind_name(x->kind));
	if (consumer)
		c[AT_NAME] = cell_text(consumer_name(&g->m.consumers, consumer));
	if (x->kind == CALL_UNWOUND)
		c[AT_UNWOUND] = cell_u64(x->function);
	c[AT_THREAD] = cell_text(consumer_name(&g->m.consumers, thread->thread));
	if (!is_call)
		c[AT_CPU] = cell_u64(x->cpu);
	if (x->kind == TIMELINE_OFF)
		c[AT_STATE] = cell_text(sched_state_letter(x->state));
	for (i = 0; is_call && i < g->columns.nr_metrics; i++) {
		uint64_t cost = cost_of(g, x, thread, i);

		c[AT_METRICS + i] = c[AT_TEXT_METRICS + i] = cell_u64(x->delta[i] - cost);
		c[AT_DELTAS + i] = cell_u64(cost);
	}
	if (sheet_is_text(&g->sheet)) {
		gen_put_event(g, x);
		quote_add(&g->line, consumer_name(&g->m.consumers, thread->thread));
	}
	end_row(g, c);
}

/* ---- events of JVMs ---- */

static void put_jvm(struct gen *g, const struct event *x)
{
	const char *cause = events_str(&g->jvm, x->cause);

	buf_fmt(&g->line, "* [%s", event_kinds[x->kind].name);
	if (x->duration_ns != EVENT_UNKNOWN) {
		buf_putc(&g->line, ' ');
		report_put_duration(&g->line, x->duration_ns);
	}
	buf_str(&g->line, ": ");
	quote_add(&g->line, events_str(&g->jvm, x->what));
	if (*cause) {
		buf_str(&g->line, ", ");
		quote_add(&g->line, cause);
	}
	if (x->fields_len)
		buf_str(&g->line, ": ");
	fields_put_text(&g->line, events_fields(&g->jvm, x), x->fields_len);
	buf_str(&g->line, "] ");
	quote_add(&g->line, x->thread ? consumer_name(&g->jvm.strings.consumers, x->thread) : "-");
}

static void print_jvm(struct gen *g, const struct event *x)
{
	const char *cause = events_str(&g->jvm, x->cause);
	struct cell c[NR_CELLS];

	begin_row(g, x->time_ns, "jvm", c);
	c[AT_KIND] = cell_text(event_kinds[x->kind].name);
	c[AT_NAME] = cell_text(events_str(&g->jvm, x->what));
	if (x->thread)
		c[AT_THREAD] = cell_text(consumer_name(&g->jvm.strings.consumers, x->thread));
	if (x->duration_ns != EVENT_UNKNOWN)
		c[AT_DURATION] = cell_u64(x->duration_ns);
	if (*cause)
		c[AT_CAUSE] = cell_text(cause);
	c[AT_FIELDS] = cell_fields(events_fields(&g->jvm, x), x->fields_len);
	if (sheet_is_text(&g->sheet))
		put_jvm(g, x);
	end_row(g, c);
}

/* ---- samples ---- */

static void gen_put_sample(struct gen *g, const struct gen_sample *x)
{
	unsigned int i;

	for (i = 0; i < x->nr_values; i++) {
		const struct gen_value *v = &x->values[i];

		buf_fmt(&g->line, "%s%s", i ? ", " : ". [", v->event);
		if (!strcmp(v->unit, "ns")) {
			buf_putc(&g->line, ' ');
			report_put_duration(&g->line, v->weight);
		} else if (i || v->weight != 1) {
			buf_fmt(&g->line, " %" PRIu64 "%s%s", v->weight, i ? "" : " ", i ? "" : v->unit);
		}
	}
	buf_fmt(&g->line, ": %s", x->prefix);
	quote_add(&g->line, x->what);
	if (x->in) {
		buf_fmt(&g->line, " in %s", x->in_prefix);
		quote_add(&g->line, x->in);
	}
	buf_str(&g->line, "] ");
	quote_add(&g->line, x->thread ? x->thread : "-");
}

/* Print a row for each value; text has all in one. */
static void print_sample(struct gen *g, const struct gen_sample *x)
{
	bool text = sheet_is_text(&g->sheet);
	struct cell c[NR_CELLS];
	unsigned int i;

	begin_row(g, x->time_ns, "sample", c);
	c[AT_NAME] = cell_text(x->what);
	if (x->thread)
		c[AT_THREAD] = cell_text(x->thread);
	if (x->in)
		c[AT_IN] = cell_text(x->in);
	if (text)
		gen_put_sample(g, x);
	for (i = 0; i < (text ? 1 : x->nr_values); i++) {
		c[AT_KIND] = cell_text(x->values[i].event);
		c[AT_WEIGHT] = cell_u64(x->values[i].weight);
		c[AT_UNIT] = cell_text(x->values[i].unit);
		c[AT_EVENT] = cell_text(g->line.data);
		sheet_row(&g->sheet, NULL, c);
	}
	g->nr_printed++;
}

static bool is_enough(const struct gen *g)
{
	return (g->o->limit && g->nr_printed >= g->o->limit) || ferror(g->out);
}

/* Print samples up to that time, which is included. */
static void print_samples_until(struct gen *g, uint64_t time_ns)
{
	struct gen_sample x;

	while (!is_enough(g) && gen_samples_next(&g->samples, time_ns, &x))
		print_sample(g, &x);
}

/* Samples, and events of JVMs that began by then. */
static void print_others_until(struct gen *g, uint64_t time_ns)
{
	for (; g->nr_jvm < g->jvm.nr; g->nr_jvm++) {
		const struct event *x = &g->jvm.list[g->nr_jvm];

		if (x->time_ns > time_ns)
			break;
		if (!gen_select_shows_jvm(&g->select, x))
			continue;
		print_samples_until(g, x->time_ns);
		if (is_enough(g))
			return;
		print_jvm(g, x);
	}
	print_samples_until(g, time_ns);
}

/* ---- the report ---- */

static bool gen_needs(void *ctx, const struct timeline_event *x)
{
	const struct gen *g = ctx;

	return gen_select_needs(&g->select, x);
}

static int gen_on_event(void *ctx, const struct timeline_event *x)
{
	struct gen *g = ctx;

	print_others_until(g, x->time_ns);
	if (gen_select_shows(&g->select, x) && !is_enough(g) && (x->kind != CALL_OPEN || x->function))
		gen_print_row(g, x);
	return is_enough(g);
}

static int read_jvm(struct gen *g, struct trace_reader *t, struct err *e)
{
	struct err none = { 0 };
	int r;

	g->jvm_opts = (struct events_opts){ .kinds = EVENT_KINDS_HAPPEN, .select = &g->o->select };
	r = events_read(&g->jvm, t, &g->jvm_opts, &none);
	if (r == -ENODATA)
		return 0;		/* they were not recorded */
	if (r)
		*e = none;
	return r;
}

/* Read everything before the first event. */
static int gen_prepare(struct gen *g, struct trace_reader *t, struct err *e)
{
	const struct columns_opts all = { .no_samples = true };
	struct event_columns none;
	struct window window;
	int r;

	if ((r = trace_read(t, &names_sink, &g->names, e)) ||
	    (r = names_window(&g->names, &g->o->select, &window, e)) ||
	    (r = columns_of_calls(&g->columns, &none, &g->names, &all, e)) ||
	    (r = timeline_init(&g->timeline, &g->calls, t, e)) ||
	    (r = gen_select_init(&g->select, &g->calls, t, &window, g->o, e)))
		return r;
	g->start_ns = names_label_u64(&g->names, "start.mono_ns");
	sequences_init(&g->costs, &g->names);
	g->calibrated = g->costs.any && g->o->profile->calibrate;
	r = g->select.samples ? gen_samples_read(&g->samples, t, g->o, e) : 0;
	return r ? r : read_jvm(g, t, e);
}

static void gen_json_head(struct gen *g, struct json *j)
{
	report_json_source(j, "gen", &g->names);
	report_json_lost_of(&g->names, j);
	gen_select_json_filter(&g->select, j);
	if (g->columns.nr_metrics)
		json_str(j, "calibration", calibration_said(g));
	json_u64(j, "events", g->timeline.nr_calls);
	json_u64(j, "dispatches", g->timeline.nr_dispatches);
	json_u64(j, "jvm_events", g->jvm.nr_all);
	json_u64(j, "samples", g->samples.nr_read);
	completed_json_only(&g->names, j);
	json_end(j);
	json_array(j, "events");
}

static void gen_begin(struct gen *g)
{
	static const char *const keys[AT_METRICS] = {
		[AT_TIME] = "time_ns", [AT_SOURCE] = "source", "kind", "name", "thread", "unwound",
		"duration_ns", "cause", "fields", "cpu", "state", "weight", "unit", "in"
	};
	struct sheet_column *c = g->sheet_columns;
	unsigned int i;

	for (i = 0; i < AT_METRICS; i++)
		c[i] = (struct sheet_column){ .key = keys[i] };
	for (i = 0; i < g->columns.nr_metrics; i++) {
		const char *name = model_str(&g->m, g->m.metrics[i].name);

		c[AT_METRICS + i].key = xasprintf("consumed_%s", name);
		if (g->calibrated)
			c[AT_DELTAS + i].key = xasprintf("delta_%s", name);
		c[AT_TEXT_METRICS + i] = (struct sheet_column){ NULL, xstrdup(name), 8 };
	}
	c[AT_TIME] = (struct sheet_column){ keys[AT_TIME], "Time", 14, 9, .unit = UNIT_S };
	c[AT_EVENT] = (struct sheet_column){ NULL, "Event" };
	sheet_init(&g->sheet, g->o->format, g->out);
	sheet_choose(&g->sheet, &g->o->choice);
	gen_json_head(g, &g->sheet.json);
	if (sheet_is_text(&g->sheet))
		gen_print_head(g);
	if (sheet_is_text(&g->sheet) && !g->sheet.chosen)
		sheet_set_columns(&g->sheet, c, NR_CELLS);
	else
		sheet_columns(&g->sheet, c, NR_CELLS);
}

static void gen_end(struct gen *g)
{
	unsigned int i;

	sheet_end(&g->sheet);
	json_end(&g->sheet.json);
	json_end(&g->sheet.json);
	for (i = 0; i < g->columns.nr_metrics; i++) {
		free((char *)g->sheet_columns[AT_METRICS + i].key);
		free((char *)g->sheet_columns[AT_DELTAS + i].key);
		free((char *)g->sheet_columns[AT_TEXT_METRICS + i].head);
	}
}

static int gen_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	static const struct timeline_sink sink = { .needs = gen_needs, .event = gen_on_event };
	struct resolve_opts names = o->profile->names;
	struct gen g = { .o = o, .out = out };
	int r;

	names.by_kind = true;
	model_init(&g.m, 1, FLOW_CALLS);
	names_init(&g.names, &g.m, &names);
	calls_init(&g.calls, &g.names);
	r = gen_prepare(&g, t, e);
	if (!r) {
		gen_begin(&g);
		r = timeline_read(&g.timeline, t, &sink, &g, e);
		if (!r)
			print_others_until(&g, UINT64_MAX);
		gen_end(&g);
	}
	if (!r)
		r = !g.nr_printed;
	gen_select_release(&g.select);
	timeline_release(&g.timeline);
	gen_samples_release(&g.samples);
	events_release(&g.jvm);
	calls_release(&g.calls);
	names_release(&g.names);
	model_release(&g.m);
	buf_release(&g.line);
	return r;
}

static const struct opt opts[] = {
	OPT_LIST(0, "event", struct gen_opts, events, "kind",
		 "only these: entry, exit, exception, unwound, open, dispatch, sample, or a kind of --log"),
	OPT_END
};

const struct report report_gen = {
	.name = "gen",
	.help = "list every call and return of a call trace, and what happened meanwhile",
	.formats = FORMATS_TABLE,
	.opts_title = "For --gen",
	.opts = opts,
	.opts_size = sizeof(struct gen_opts),
	.opts_select = true,
	.filters = RULES_ALL,
	.has_functions = true,
	.needs = "a call trace",
	.follows = FOLLOWS_OF_CALLS "off-cpu samples replay calibrate lines hide-inlined hide-kernel",
	.reasons = calls_have_no_cpu,
	.print_trace = gen_print,
};
