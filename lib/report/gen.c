// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gen.c - the event trace as in JProf's log-gen, a line per event: what its thread consumed
 * since its previous event, > entry or < exit or ! exit by an exception, function, thread; and, if
 * they were recorded, when those threads lost and got a CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/columns.h"
#include "report/gensel.h"
#include "report/sched.h"

struct gen {
	const struct report_opts *o;
	FILE *out;
	struct model m;
	struct names names;
	struct calls calls;
	struct call_columns columns;
	struct timeline timeline;
	struct gen_select select;
	struct buf line;
	uint64_t nr_printed;
};

static const char *prefix(uint32_t kind)
{
	return kind == CONSUMER_JAVA ? "M:" : kind == CONSUMER_NATIVE ? "N:" : "";
}

static void print_head(struct gen *g)
{
	const struct model *m = &g->m;
	struct buf *b = &g->line;
	unsigned int i;

	buf_fmt(b, "%" PRIu64 " events", g->timeline.nr_calls);
	if (g->timeline.nr_dispatches)
		buf_fmt(b, " and %" PRIu64 " dispatches", g->timeline.nr_dispatches);
	buf_fmt(b, " of %zu threads, %" PRIu64 " lost;", g->select.nr_trees, g->names.lost);
	for (i = 0; i < g->columns.nr_metrics; i++) {
		buf_str(b, i ? ", " : " ");
		quote_add(b, model_str(m, m->metrics[i].name));
		buf_str(b, " in ");
		quote_add(b, model_str(m, m->metrics[i].unit));
	}
	fprintf(g->out, "%s%s\n", b->data,
		g->columns.nr_metrics ? " since the thread's event before" : " no metrics");
}

static void put_event(struct gen *g, const struct timeline_event *x)
{
	struct model *m = &g->m;
	uint32_t consumer;

	switch (x->kind) {
	case TIMELINE_ON:
		buf_fmt(&g->line, " + [gets CPU %u] ", x->cpu);
		break;
	case TIMELINE_OFF:
		buf_fmt(&g->line, " - [loses CPU %u: %s] ", x->cpu, sched_state_letter(x->state));
		break;
	case CALL_UNWOUND:
		buf_fmt(&g->line, " ? ev_%" PRIu32 "_UNWOUND ", x->function);
		break;
	default:
		consumer = calls_consumer(&g->calls, x->function);
		buf_fmt(&g->line, " %c %s", "><!"[x->kind], prefix(m->consumers.items[consumer].kind));
		quote_add(&g->line, consumer_name(&m->consumers, consumer));
		buf_putc(&g->line, ' ');
	}
}

static void print_event(struct gen *g, const struct timeline_event *x)
{
	const struct gen_thread *thread = gen_select_thread(&g->select, x);
	bool is_call = x->kind < CALL_EVENT_NR;
	unsigned int i;

	buf_reset(&g->line);
	for (i = 0; i < g->columns.nr_metrics; i++)
		if (is_call)
			buf_fmt(&g->line, "%s%8" PRIu64, i ? " " : "", x->delta[i]);
		else
			buf_fmt(&g->line, "%s%8s", i ? " " : "", "-");
	put_event(g, x);
	/* calls_consumer() may have made strings: names are asked last. */
	quote_add(&g->line, consumer_name(&g->m.consumers, thread->thread));
	fprintf(g->out, "%s\n", g->line.data);
}

static bool needs(void *ctx, const struct timeline_event *x)
{
	const struct gen *g = ctx;

	return gen_select_needs(&g->select, x);
}

static int on_event(void *ctx, const struct timeline_event *x)
{
	struct gen *g = ctx;

	if (!gen_select_shows(&g->select, x))
		return 0;
	print_event(g, x);
	g->nr_printed++;
	return g->nr_printed == g->o->limit || ferror(g->out);
}

/* Everything before the first event. */
static int prepare(struct gen *g, struct trace_reader *t, struct err *e)
{
	const struct profile_opts *po = g->o->profile;
	const struct columns_opts all = { .no_samples = true };
	struct event_columns none;
	struct window window;
	int r;

	if ((r = trace_read(t, &names_sink, &g->names, e)) ||
	    (r = names_window(&g->names, po->from_ns, po->to_ns, &window, e)) ||
	    (r = columns_of_calls(&g->columns, &none, &g->names, &all, e)) ||
	    (r = timeline_init(&g->timeline, &g->calls, t, e)))
		return r;
	return gen_select_init(&g->select, &g->calls, &window, g->o, e);
}

static int gen_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	static const struct timeline_sink sink = { .needs = needs, .event = on_event };
	struct resolve_opts names = o->profile->names;
	struct gen g = { .o = o, .out = out };
	int r;

	names.by_kind = true;
	model_init(&g.m, 1, FLOW_CALLS);
	names_init(&g.names, &g.m, &names);
	calls_init(&g.calls, &g.names);
	r = prepare(&g, t, e);
	if (!r) {
		print_head(&g);
		r = timeline_read(&g.timeline, t, &sink, &g, e);
	}
	if (!r)
		r = !g.nr_printed;
	gen_select_release(&g.select);
	timeline_release(&g.timeline);
	calls_release(&g.calls);
	names_release(&g.names);
	model_release(&g.m);
	buf_release(&g.line);
	return r;
}

static int check(const struct report_opts *o, struct err *e)
{
	if (o->profile->cpus && o->profile->cpus->nr_items)
		return err_set(e, EINVAL, "--cpu: calls do not say on which CPU they were");
	return 0;
}

static const struct opt opts[] = {
	OPT_LIST(0, "event", struct gen_opts, events, "kind",
		 "only these events: entry, exit, exception, unwound, dispatch"),
	OPT_END
};

const struct report report_gen = {
	.name = "gen",
	.help = "list every call and return of a call trace",
	.formats = FORMAT_BIT(FORMAT_TEXT),
	.opts_title = "For --gen",
	.opts = opts,
	.opts_size = sizeof(struct gen_opts),
	.opts_select = true,
	.check = check,
	.needs = "a call trace",
	.print_trace = gen_print,
};
