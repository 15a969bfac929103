// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * loads.c - more about classes that load than a row for each loader: which methods caused it, and which loads
 * took longest; and which threads were the last to reach safepoints.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/events.h"

enum { NR_SHOWN = 10 };

struct group {			/* of events with the same text */
	uint32_t text;
	size_t nr, nr_timed;
	uint64_t sum_ns, max_ns;
};

struct groups {
	struct group *list;
	size_t nr, alloc;
};

static int by_text(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return COMPARE(x->text, y->text);
}

static int most_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return COMPARE(y->sum_ns, x->sum_ns) ?: COMPARE(y->nr, x->nr) ?: by_text(x, y);
}

static void loads_add(struct groups *g, uint32_t text, uint64_t sum_ns, uint64_t max_ns)
{
	bool timed = sum_ns != EVENT_UNKNOWN;

	*VEC_ADD(g->list, g->nr, g->alloc) = (struct group){
		.text = text, .nr = 1, .nr_timed = timed, .sum_ns = timed ? sum_ns : 0,
		.max_ns = timed ? max_ns : 0,
	};
}

/* Fold rows of the same text into one, those with the most time first. */
static void loads_fold(struct groups *g)
{
	size_t i, to = 0;

	qsort(g->list, g->nr, sizeof(*g->list), by_text);
	for (i = 0; i < g->nr; i++) {
		struct group *last = to ? &g->list[to - 1] : NULL;

		if (!last || last->text != g->list[i].text) {
			g->list[to++] = g->list[i];
			continue;
		}
		last->nr++;
		last->nr_timed += g->list[i].nr_timed;
		last->sum_ns += g->list[i].sum_ns;
		last->max_ns = MAX(last->max_ns, g->list[i].max_ns);
	}
	g->nr = to;
	qsort(g->list, g->nr, sizeof(*g->list), most_first);
}

/* Begin the table: with a title in text, as a member of that name in JSON. */
static void loads_begin(struct sheet *s, bool any, const char *title, const char *key)
{
	if (!sheet_is_text(s))
		json_array(&s->json, key);
	else if (any)
		fprintf(s->out, "\n%s:\n\n", title);
}

static void loads_end(struct sheet *s)
{
	if (!sheet_is_text(s))
		json_end(&s->json);
}

static void put_groups(const struct events *v, const struct groups *g, const struct sheet_column *columns,
		       struct sheet *s)
{
	size_t i;

	if (g->nr)
		sheet_columns(s, columns, 4);
	for (i = 0; i < MIN(g->nr, (size_t)NR_SHOWN); i++) {
		const struct group *x = &g->list[i];
		bool has = x->nr_timed;

		sheet_row(s, NULL, (const struct cell[]){
			cell_u64(x->nr),
			has ? cell_u64(x->sum_ns) : cell_none,
			has ? cell_u64(x->max_ns) : cell_none,
			cell_text(events_str(v, x->text)),
		});
	}
}

/* ---- loads ---- */

static void put_causes(const struct events *v, struct sheet *s)
{
	static const struct sheet_column columns[] = {
		{ "n", "n", 9 },
		{ "total_ns", "Total", 11, 6, .unit = UNIT_S },
		{ "max_ns", "Max", 11, 6, .unit = UNIT_S },
		{ "by", "For", -1 },
	};
	struct groups g = { .nr = 0 };
	size_t i;

	for (i = 0; i < v->nr; i++) {
		const struct event *x = &v->list[i];

		if (x->kind == EVENT_CLASS_LOAD && *events_str(v, x->by))
			loads_add(&g, x->by, event_value(x, VALUE_OWN), x->duration_ns);
	}
	loads_fold(&g);
	loads_begin(s, g.nr, "Methods that most of it was for", "causes");
	put_groups(v, &g, columns, s);
	loads_end(s);
	free(g.list);
}

static int longest_first(const void *a, const void *b)
{
	const struct event *x = *(const struct event *const *)a, *y = *(const struct event *const *)b;

	return COMPARE(y->duration_ns, x->duration_ns) ?: COMPARE(x, y);
}

static struct cell text_or_absent(const struct events *v, uint32_t string)
{
	return *events_str(v, string) ? cell_text(events_str(v, string)) : cell_absent;
}

static void put_slow(const struct events *v, const struct event *x, struct sheet *s)
{
	struct buf b = BUF_INIT;

	quote_add(&b, events_str(v, x->what));
	buf_str(&b, " by ");
	quote_add(&b, events_str(v, x->cause));
	if (*events_str(v, x->by)) {
		buf_str(&b, " for ");
		quote_add(&b, events_str(v, x->by));
	}
	sheet_row(s, NULL, (const struct cell[]){
		cell_u64(x->time_ns - MIN(x->time_ns, v->trace_start_ns)),
		cell_u64(x->duration_ns),
		cell_u64(event_value(x, VALUE_OWN)),
		cell_text(events_str(v, x->what)),
		text_or_absent(v, x->cause),
		text_or_absent(v, x->by),
		text_or_absent(v, x->source),
		cell_text(b.data),
	});
	buf_release(&b);
}

static void put_slowest(const struct events *v, struct sheet *s)
{
	static const struct sheet_column columns[] = {
		{ "time_ns", "Time", 13, 6, .unit = UNIT_S },
		{ "duration_ns", "Duration", 10, 6, .unit = UNIT_S },
		{ "own_ns", "Own", 10, 6, .unit = UNIT_S },
		{ "what", NULL },
		{ "cause", NULL },
		{ "by", NULL },
		{ "source", NULL },
		{ NULL, "Class", -1 },
	};
	const struct event **list = xcalloc(v->nr, sizeof(*list));
	size_t nr = 0, i;

	for (i = 0; i < v->nr; i++)
		if (v->list[i].kind == EVENT_CLASS_LOAD && v->list[i].duration_ns != EVENT_UNKNOWN)
			list[nr++] = &v->list[i];
	qsort(list, nr, sizeof(*list), longest_first);
	loads_begin(s, nr, "Loads that took most time", "slowest");
	if (nr)
		sheet_columns(s, columns, ARRAY_SIZE(columns));
	for (i = 0; i < MIN(nr, (size_t)NR_SHOWN); i++)
		put_slow(v, list[i], s);
	loads_end(s);
	free(list);
}

static bool has_no_times(const struct events *v)
{
	size_t i, nr = 0;

	for (i = 0; i < v->nr; i++) {
		nr += v->list[i].kind == EVENT_CLASS_LOAD;
		if (v->list[i].kind == EVENT_CLASS_LOAD && v->list[i].duration_ns != EVENT_UNKNOWN)
			return false;
	}
	return nr;
}

void loads_put(const struct events *v, struct sheet *s)
{
	if (sheet_is_text(s) && has_no_times(v))
		fputs("Times: n/a, record -e class-time has them\n", s->out);
	put_causes(v, s);
	put_slowest(v, s);
}

/* ---- safepoints ---- */

void lasts_put(const struct events *v, struct sheet *s)
{
	static const struct sheet_column columns[] = {
		{ "n", "n", 9 },
		{ "reach_ns", "Reaching", 11, 6, .unit = UNIT_S },
		{ "max_ns", "Max", 11, 6, .unit = UNIT_S },
		{ "thread", "Thread", -1 },
	};
	struct groups g = { .nr = 0 };
	size_t i;

	for (i = 0; i < v->nr; i++) {
		const struct event *x = &v->list[i];
		uint64_t reach = x->kind == EVENT_SAFEPOINT ? event_value(x, VALUE_REACH) : EVENT_UNKNOWN;

		if (reach != EVENT_UNKNOWN && *events_str(v, x->last))
			loads_add(&g, x->last, reach, reach);
	}
	loads_fold(&g);
	loads_begin(s, g.nr, "Threads that were the last to reach safepoints", "lasts");
	put_groups(v, &g, columns, s);
	loads_end(s);
	free(g.list);
}
