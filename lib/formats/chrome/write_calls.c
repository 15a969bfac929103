// SPDX-License-Identifier: GPL-2.0-or-later
/* write_calls.c - each call of a call trace as a pair of events, nested as the calls are. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"
#include "formats/chrome/write.h"
#include "model/columns.h"
#include "report/gensel.h"

struct chrome_calls {
	struct chrome *c;
	struct model m;
	struct names names;
	struct calls calls;
	struct call_columns columns;
	struct timeline timeline;
	struct gen_opts no_kinds;	/* all */
	struct report_opts opts;
	struct gen_select select;
	struct open_calls {		/* of a tree, outermost first */
		uint32_t *functions;
		size_t nr, alloc;
	} *open;
	struct buf escaped;
};

struct place {
	uint32_t pid, tid;
};

/* Return where events of the tree are shown. */
static struct place place_of_tree(struct chrome_calls *s, const struct timeline_event *x,
				  const struct gen_thread *thread)
{
	const struct consumer *items = s->m.consumers.items;
	struct place p = { export_pid(&items[thread->process]), export_tid(&items[thread->thread]) };

	if (!p.tid)
		p.tid = CHROME_UNNUMBERED + x->tree;
	chrome_name_process(s->c, p.pid, consumer_name(&s->m.consumers, thread->process));
	chrome_name_thread(s->c, p.pid, p.tid, consumer_name(&s->m.consumers, thread->thread));
	return p;
}

static const struct consumer *consumer_of(struct chrome_calls *s, uint32_t function)
{
	uint32_t consumer = calls_consumer(&s->calls, function);	/* which may move the others */

	return &s->m.consumers.items[consumer];
}

static void put_enter(struct chrome_calls *s, const struct timeline_event *x, const struct place *p)
{
	struct open_calls *open = &s->open[x->tree];
	const struct consumer *c = consumer_of(s, x->function);

	*VEC_ADD(open->functions, open->nr, open->alloc) = x->function;
	chrome_event(s->c, "B", p->pid, p->tid);
	json_str(&s->c->j, "name", quote_str(&s->escaped, model_str(&s->m, c->name)));
	json_str(&s->c->j, "cat", consumer_kind_name(c->kind));
	chrome_time(s->c, "ts", x->time_ns);
	json_end(&s->c->j);
}

/* End the innermost call, with its name, which some programs need. */
static void put_leave(struct chrome_calls *s, const struct timeline_event *x, const struct place *p)
{
	struct open_calls *open = &s->open[x->tree];
	const struct consumer *c = consumer_of(s, open->functions[--open->nr]);

	chrome_event(s->c, "E", p->pid, p->tid);
	json_str(&s->c->j, "name", quote_str(&s->escaped, model_str(&s->m, c->name)));
	chrome_time(s->c, "ts", x->time_ns);
	if (x->kind == CALL_LEFT_THROWING) {
		json_object(&s->c->j, "args");
		json_bool(&s->c->j, "exception", true);
		json_end(&s->c->j);
	}
	json_end(&s->c->j);
}

/*
 * End the call with all inside it. A call that began before the first event is not shown, but all that is
 * shown was inside it.
 */
static void put_leaves(struct chrome_calls *s, const struct timeline_event *x, const struct place *p)
{
	struct open_calls *open = &s->open[x->tree];
	bool found = false;

	while (open->nr && !found) {
		found = open->functions[open->nr - 1] == x->function;
		put_leave(s, x, p);
	}
}

static bool needs(void *ctx, const struct timeline_event *x)
{
	const struct chrome_calls *s = ctx;

	return x->kind < CALL_EVENT_NR && gen_select_needs(&s->select, x);
}

static int on_event(void *ctx, const struct timeline_event *x)
{
	struct chrome_calls *s = ctx;
	uint32_t nr = x->function;
	struct place p;

	if (x->kind >= CALL_EVENT_NR || !gen_select_shows(&s->select, x))
		return 0;
	p = place_of_tree(s, x, gen_select_thread(&s->select, x));
	if (x->kind == CALL_OPEN && !nr)
		nr = UINT32_MAX;
	else if (x->kind == CALL_OPEN)
		nr = 0;
	if (x->kind == CALL_ENTERED || (x->kind == CALL_OPEN && !nr))
		put_enter(s, x, &p);
	else if (x->kind == CALL_LEFT || x->kind == CALL_LEFT_THROWING)
		put_leaves(s, x, &p);
	else
		for (; nr && s->open[x->tree].nr; nr--)
			put_leave(s, x, &p);
	return ferror(s->c->j.out);
}

static int prepare_calls(struct chrome_calls *s, struct trace_reader *t, struct err *e)
{
	const struct columns_opts all = { .no_samples = true };
	struct event_columns none;
	struct window window;
	int r;

	if ((r = trace_read(t, &names_sink, &s->names, e)) ||
	    (r = names_window(&s->names, &s->opts.select, &window, e)) ||
	    (r = columns_of_calls(&s->columns, &none, &s->names, &all, e)) ||
	    (r = timeline_init(&s->timeline, &s->calls, t, e)))
		return r;
	s->open = xcalloc(s->calls.nr_trees + 1, sizeof(*s->open));
	return gen_select_init(&s->select, &s->calls, t, &window, &s->opts, e);
}

int chrome_put_calls(struct chrome *c, struct err *e)
{
	static const struct timeline_sink sink = { .needs = needs, .event = on_event };
	struct chrome_calls s = { .c = c, .opts = *c->v->o };
	struct resolve_opts names = c->v->o->profile->names;
	size_t i;
	int r;

	names.lines = false;
	s.opts.own = &s.no_kinds;
	model_init(&s.m, 1, FLOW_CALLS);
	names_init(&s.names, &s.m, &names);
	calls_init(&s.calls, &s.names);
	r = prepare_calls(&s, c->v->trace, e);
	if (!r)
		r = timeline_read(&s.timeline, c->v->trace, &sink, &s, e);
	for (i = 0; s.open && i < s.calls.nr_trees; i++)
		free(s.open[i].functions);
	free(s.open);
	gen_select_release(&s.select);
	timeline_release(&s.timeline);
	calls_release(&s.calls);
	names_release(&s.names);
	model_release(&s.m);
	buf_release(&s.escaped);
	return r == -ENODATA || r > 0 ? 0 : r;
}
