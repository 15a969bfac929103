// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * train_trace.c - reads the cost from one event to the next from a call trace of the trainer (train_trace.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibrate/cost.h"
#include "model/columns.h"
#include "model/timeline.h"
#include "train_trace.h"

enum { MIN_EVENTS = 1000, DOUBTS = 20 };

/* The trainers' loops; each has a sequence of events once at most. */
enum { NESTED, THROWN, THROUGH, LATE, CAUGHT, NR_LOOPS };

static const struct {
	const char *name;
	int nr_gaps;			/* from one event to the next, in a round of the loop */
} loops[NR_LOOPS] = {
	[NESTED] = { "nested", 4 }, [THROWN] = { "thrown", 2 }, [THROUGH] = { "through", 4 },
	[LATE] = { "late", 4 }, [CAUGHT] = { "caught", 4 },
};

/* The loop that shows the cost from one event to the next: an entry, an exit, an exit by an exception. */
static const int loop_of[CALIBRATION_STEPS][CALIBRATION_STEPS] = {
	{ NESTED, NESTED, THROWN },
	{ NESTED, NESTED, LATE },
	{ THROWN, CAUGHT, THROUGH },
};

struct list {
	int64_t *values;
	size_t nr, alloc;
};

struct reading {
	const struct training *t;
	struct model m;
	struct names names;
	struct calls calls;
	struct timeline timeline;
	bool measures;			/* the warm-up is over */
	int loop;			/* NR_LOOPS: in none */
	bool hooked;
	struct list plain[NR_LOOPS][CALL_MAX_METRICS];	/* what all rounds took in a turn */
	struct list gaps[NR_LOOPS][CALIBRATION_STEPS][CALIBRATION_STEPS][CALL_MAX_METRICS];
};

static void train_trace_push(struct list *l, uint64_t value)
{
	*VEC_ADD(l->values, l->nr, l->alloc) = (int64_t)value;
}

static int find_loop(const char *name)
{
	int i = 0;

	while (i < NR_LOOPS && strcmp(loops[i].name, name) != 0)
		i++;
	return i;
}

/* The beginning or end of a loop. Without hooks nothing happens in between. */
static void take_loop(struct reading *r, const struct timeline_event *x, bool hooked, const char *name)
{
	unsigned int m;

	for (m = 0; m < CALL_MAX_METRICS && x->kind == CALL_LEFT && !hooked && r->loop < NR_LOOPS; m++)
		train_trace_push(&r->plain[r->loop][m], x->delta[m]);
	r->loop = x->kind == CALL_ENTERED ? find_loop(name) : NR_LOOPS;
	r->hooked = hooked;
}

static bool needs(void *ctx, const struct timeline_event *x)
{
	(void)ctx;
	return x->kind < CALL_EVENT_NR;
}

static int train_trace_take_event(void *ctx, const struct timeline_event *x)
{
	struct reading *r = ctx;
	const char *name, *prefix = r->t->java ? "Trainer." : "";
	uint32_t consumer;
	unsigned int m;

	if (x->kind >= CALIBRATION_STEPS)
		return 0;
	consumer = calls_consumer(&r->calls, x->function);
	name = consumer_name(&r->m.consumers, consumer);
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	name += strlen(prefix);
	r->measures |= !r->t->java || !strcmp(name, "measure");
	if (!r->measures)
		return 0;
	if (!strncmp(name, "plain_", 6))
		take_loop(r, x, false, name + 6);
	else if (!strncmp(name, "hooked_", 7))
		take_loop(r, x, true, name + 7);
	else if (train_has_tier(r->t, r->m.consumers.items[consumer].kind))
		for (m = 0; m < CALL_MAX_METRICS && r->loop < NR_LOOPS && r->hooked &&
			    x->before < CALIBRATION_STEPS; m++)
			train_trace_push(&r->gaps[r->loop][x->before][x->kind][m], x->delta[m]);
	return 0;
}

/* The cost excludes the time that the program itself takes from one event to the next. */
static uint64_t cost_of(struct reading *r, uint32_t calls, unsigned int metric, int from, int to)
{
	int loop = loop_of[from][to];
	struct list *gaps = &r->gaps[loop][from][to][metric], *plain = &r->plain[loop][metric];
	int64_t own;

	if (gaps->nr < MIN_EVENTS || !plain->nr)
		return 0;
	own = calibration_median(plain->values, plain->nr) * 1000 / calls / loops[loop].nr_gaps;
	return MAX(calibration_middle(gaps->values, gaps->nr) - own, (int64_t)0);
}

/*
 * Compute the costs. How much of a cost a processor hides behind other work is not known here, so all of it
 * may be wrong.
 */
static struct calibration_cost costs_of(struct reading *r, uint32_t calls, unsigned int metric)
{
	struct calibration_cost c = { .has_sequences = true };
	int from, to;

	for (from = 0; from < CALIBRATION_STEPS; from++)
		for (to = 0; to < CALIBRATION_STEPS; to++)
			c.sequences[from][to] = cost_of(r, calls, metric, from, to);
	c.within = c.sequences[CALL_ENTERED][CALL_LEFT];
	c.between = c.sequences[CALL_LEFT][CALL_ENTERED];
	c.doubt = DOUBTS * (c.within + c.between);
	return c;
}

static void release_lists(struct list *l, size_t nr)
{
	while (nr)
		free(l[--nr].values);
}

static int train_trace_read_events(struct reading *r, struct trace_reader *reader, struct err *e)
{
	static const struct timeline_sink sink = { .needs = needs, .event = train_trace_take_event };
	const struct columns_opts all = { .no_samples = true };
	struct event_columns none;
	struct call_columns columns;
	int rc;

	if ((rc = trace_read(reader, &names_sink, &r->names, e)) ||
	    (rc = columns_of_calls(&columns, &none, &r->names, &all, e)) ||
	    (rc = timeline_init(&r->timeline, &r->calls, reader, e)) ||
	    (rc = timeline_read(&r->timeline, reader, &sink, r, e)))
		return rc;
	if (r->gaps[NESTED][CALL_ENTERED][CALL_LEFT][0].nr < MIN_EVENTS)
		return err_set(e, ENODATA, "the measured program's calls are not in its trace");
	return 0;
}

int train_read_trace(const struct training *t, struct trace_reader *reader, uint32_t calls,
		     struct calibration_cost out[static CALL_MAX_METRICS], struct err *e)
{
	const struct resolve_opts names = { .hide_inlined = true, .by_kind = t->tier };
	struct reading *r = xcalloc(1, sizeof(*r));
	unsigned int m;
	int rc;

	r->t = t;
	r->loop = NR_LOOPS;
	model_init(&r->m, 1, FLOW_CALLS);
	names_init(&r->names, &r->m, &names);
	calls_init(&r->calls, &r->names);
	rc = train_trace_read_events(r, reader, e);
	for (m = 0; !rc && m < CALL_MAX_METRICS; m++)
		out[m] = costs_of(r, calls, m);
	release_lists(&r->plain[0][0], sizeof(r->plain) / sizeof(struct list));
	release_lists(&r->gaps[0][0][0][0], sizeof(r->gaps) / sizeof(struct list));
	timeline_release(&r->timeline);
	calls_release(&r->calls);
	names_release(&r->names);
	model_release(&r->m);
	free(r);
	return rc;
}
