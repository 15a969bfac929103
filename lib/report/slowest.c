// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slowest.c - the calls of one function: their histogram, and the slowest ones with what happened inside
 * them: the calls that they made, when their thread had no CPU, events of the JVM. A first pass finds
 * them, a second one looks into them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/events.h"
#include "report/callstats.h"

enum { DEFAULT_SLOWEST = 10, MAX_SLOWEST = 1000, BAR = 40 };

enum part_kind { PART_CALLEE, PART_OFF_CPU, PART_EVENT };

struct part {			/* of what happened inside a call */
	enum part_kind kind;
	uint32_t event;		/* enum event_kind */
	uint32_t what;		/* a consumer; of an event, a string of the model */
	uint64_t n;
	uint64_t time_ns;	/* of events that last */
	uint64_t cum;		/* of the measure, of callees */
	bool lasts;
};

struct slow {
	struct completed_call call;
	struct part *parts;
	size_t nr_parts, alloc_parts;
	struct map part_of;	/* what -> index */
	bool open;		/* in the second pass */
	uint64_t off_ns;	/* since then its thread has had no CPU; 0: it has one */
};

struct slowest {
	struct completed c;
	struct selection function;
	struct call_stats stats;
	struct slow list[MAX_SLOWEST];	/* the slowest first */
	size_t nr, max;
	struct map slow_of;	/* id of a call -> index */
	size_t nr_open;
	bool has_dispatches;
	uint32_t last;		/* the consumer that was asked last, and whether its calls are wanted */
	bool last_wanted;
};

/* ---- the first pass ---- */

static bool is_slower(const struct completed_call *a, const struct completed_call *b)
{
	return a->elapsed != b->elapsed ? a->elapsed > b->elapsed : a->id < b->id;
}

static void keep_slowest(struct slowest *s, const struct completed_call *x)
{
	size_t at = s->nr;

	if (s->nr == s->max && !is_slower(x, &s->list[s->nr - 1].call))
		return;
	s->nr += s->nr < s->max;
	for (at = s->nr - 1; at && is_slower(x, &s->list[at - 1].call); at--)
		s->list[at].call = s->list[at - 1].call;
	s->list[at].call = *x;
}

static bool slowest_calls_is_wanted(struct slowest *s, uint32_t consumer)
{
	if (s->last != consumer)
		s->last_wanted = selection_has(&s->function, &s->c.m, consumer);
	s->last = consumer;
	return s->last_wanted;
}

static void slowest_calls_on_left(void *ctx, const struct completed_call *x)
{
	struct slowest *s = ctx;

	if (!x->selected || !slowest_calls_is_wanted(s, x->consumer))
		return;
	call_stats_add(&s->stats, x);
	if (x->whole)
		keep_slowest(s, x);
}

/* ---- the second pass ---- */

static struct part *get_part(struct slow *slow, enum part_kind kind, uint32_t event, uint32_t what)
{
	uint32_t *at = map_put(&slow->part_of, (uint64_t)(kind << 8 | event) << 32 | what);

	if (*at == MAP_NONE) {
		*at = slow->nr_parts;
		*VEC_ADD(slow->parts, slow->nr_parts, slow->alloc_parts) =
			(struct part){ .kind = kind, .event = event, .what = what };
	}
	return &slow->parts[*at];
}

static struct slow *get_slow(struct slowest *s, uint64_t id)
{
	uint32_t at = id ? map_get(&s->slow_of, id) : MAP_NONE;

	return at == MAP_NONE ? NULL : &s->list[at];
}

static void look_entered(void *ctx, const struct completed_call *x)
{
	struct slowest *s = ctx;
	struct slow *slow = get_slow(s, x->id);

	if (!slow)
		return;
	slow->open = true;
	s->nr_open++;
}

static void add_off_cpu(struct slow *slow, uint64_t until_ns)
{
	struct part *p = get_part(slow, PART_OFF_CPU, 0, 0);

	p->n++;
	p->lasts = true;
	p->time_ns += until_ns - MIN(slow->off_ns, until_ns);
	slow->off_ns = 0;
}

static void look_left(void *ctx, const struct completed_call *x)
{
	struct slowest *s = ctx;
	struct slow *slow = get_slow(s, x->id), *outer = get_slow(s, x->parent);

	if (outer) {
		struct part *p = get_part(outer, PART_CALLEE, 0, x->consumer);

		p->n++;
		p->lasts = true;
		p->time_ns += x->end_ns - x->start_ns;
		p->cum += x->elapsed;
	}
	if (!slow)
		return;
	if (slow->off_ns)
		add_off_cpu(slow, x->end_ns);
	slow->open = false;
	s->nr_open--;
}

static uint32_t kernel_thread(const struct slowest *s, const struct slow *slow)
{
	const struct rec_call_tree *t = &s->c.calls.trees[slow->call.tree];

	return t->flags & CALL_TREE_VIRTUAL ? 0 : t->thread;
}

static void look_dispatch(void *ctx, const struct timeline_event *x)
{
	struct slowest *s = ctx;
	size_t i;

	for (i = 0; s->nr_open && i < s->nr; i++) {
		struct slow *slow = &s->list[i];

		if (!slow->open || kernel_thread(s, slow) != x->thread)
			continue;
		if (x->kind == TIMELINE_OFF)
			slow->off_ns = x->time_ns;
		else if (slow->off_ns)
			add_off_cpu(slow, x->time_ns);
	}
}

static void look_event(struct slowest *s, struct slow *slow, const struct rec_event *r)
{
	const struct rec_call_tree *t = &s->c.calls.trees[slow->call.tree];
	bool lasts = event_kinds[r->kind].lasts && r->duration_ns != EVENT_UNKNOWN;
	uint64_t end_ns = r->time_ns, from, to;
	struct part *p;

	if (lasts)
		end_ns += MIN(r->duration_ns, UINT64_MAX - r->time_ns);
	from = MAX(r->time_ns, slow->call.start_ns);
	to = MIN(end_ns, slow->call.end_ns);
	if (t->proc != r->proc || from > to)
		return;
	if (!event_is_for_all(r->kind) && (!r->thread || r->thread != kernel_thread(s, slow)))
		return;
	p = get_part(slow, PART_EVENT, r->kind, strtab_add(&s->c.m.consumers.names, r->what, r->what_len));
	p->n++;
	p->lasts = lasts;
	p->time_ns += to - from;
}

static int slowest_calls_on_event(void *ctx, const struct rec_event *r)
{
	struct slowest *s = ctx;
	size_t i;

	for (i = 0; r->kind < EVENT_NR && i < s->nr; i++)
		look_event(s, &s->list[i], r);
	return 0;
}

static int look_inside(struct slowest *s, struct trace_reader *t, struct err *e)
{
	static const struct completed_sink calls = { look_entered, look_left, look_dispatch };
	static const struct trace_sink events = { .event = slowest_calls_on_event };
	size_t i;
	int r;

	for (i = 0; i < s->nr; i++)
		*map_put(&s->slow_of, s->list[i].call.id) = i;
	r = completed_read(&s->c, t, &calls, s, e);
	return r ? r : trace_read(t, &events, s, e);
}

static int compare_parts(const void *a, const void *b, void *ctx)
{
	const struct part *x = a, *y = b;
	const struct slowest *s = ctx;

	return COMPARE(x->kind, y->kind) ?: COMPARE(y->cum, x->cum) ?: COMPARE(y->time_ns, x->time_ns) ?:
	       COMPARE(y->n, x->n) ?: COMPARE(x->event, y->event) ?:
	       (x->kind == PART_CALLEE ?
			strcmp(completed_name(&s->c, x->what), completed_name(&s->c, y->what)) :
			strcmp(model_str(&s->c.m, x->what), model_str(&s->c.m, y->what)));
}

/* ---- output ---- */

static const char *part_kind_name(const struct part *p)
{
	return p->kind == PART_CALLEE ? "callee" :
		p->kind == PART_OFF_CPU ? "off-cpu" : event_kinds[p->event].name;
}

static const char *part_name(const struct slowest *s, const struct part *p)
{
	return p->kind == PART_CALLEE ? completed_name(&s->c, p->what) :
		p->kind == PART_EVENT ? model_str(&s->c.m, p->what) : "";
}

static const char *slowest_calls_thread_name(const struct slowest *s, const struct completed_call *x)
{
	return completed_name(&s->c, completed_thread(&s->c, x->tree));
}

static uint64_t slowest_calls_since_start(const struct slowest *s, const struct completed_call *x)
{
	uint64_t start_ns = names_label_u64(&s->c.names, "start.mono_ns");

	return x->start_ns - MIN(x->start_ns, start_ns);
}

static void json_inside(struct json *j, const char *key, const void *of, uint64_t at)
{
	const struct slowest *s = of;
	const struct slow *x = &s->list[at];
	size_t k;

	json_array(j, key);
	for (k = 0; k < x->nr_parts; k++) {
		const struct part *p = &x->parts[k];

		json_object(j, NULL);
		json_str(j, "kind", part_kind_name(p));
		json_str(j, "name", part_name(s, p));
		json_u64(j, "n", p->n);
		json_u64_known(j, "duration_ns", p->lasts, p->time_ns);
		if (p->kind == PART_CALLEE)
			json_u64(j, "cum", p->cum);
		json_end(j);
	}
	json_end(j);
}

static void slowest_calls_print_json(struct slowest *s, FILE *out)
{
	static const struct sheet_column columns[] = {
		{ "name" }, { "thread" }, { "start_ns" }, { "duration_ns" }, { "cum" }, { "self" },
		{ "others" }, { "inside" },
	};
	struct sheet sheet;
	size_t i;

	sheet_init(&sheet, FORMAT_JSON, out);
	sheet_choose(&sheet, &s->c.opts.choice);
	completed_json(&s->c, &sheet.json);
	json_str(&sheet.json, "function", s->c.opts.argument);
	call_stats_members(&s->c, &s->stats, &sheet);
	json_array(&sheet.json, "slowest");
	sheet_columns(&sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr; i++) {
		const struct completed_call *x = &s->list[i].call;

		sheet_row(&sheet, NULL, (const struct cell[]){
			cell_text(completed_name(&s->c, x->consumer)),
			cell_text(slowest_calls_thread_name(s, x)),
			cell_u64(slowest_calls_since_start(s, x)), cell_u64(x->end_ns - x->start_ns),
			cell_u64(x->elapsed),
			cell_u64(x->self), completed_has_others(&s->c) ? cell_u64(x->others) : cell_absent,
			cell_made(json_inside, s, i),
		});
	}
	json_end(&sheet.json);
	json_end(&sheet.json);
	sheet_end(&sheet);
}

static void print_histogram(const struct slowest *s, FILE *out)
{
	const struct spread *d = &s->stats.elapsed;
	uint64_t most = 1, before = 0;
	unsigned int bin, first = SPREAD_BINS, last = 0;
	struct buf from = BUF_INIT, to = BUF_INIT;

	for (bin = 0; bin < SPREAD_BINS; bin++) {
		if (!d->bins[bin])
			continue;
		first = MIN(first, bin);
		last = bin;
		most = MAX(most, d->bins[bin]);
	}
	for (bin = first; bin <= last; bin++) {
		int width = (int)((double)d->bins[bin] / (double)most * BAR + 0.5);

		before += d->bins[bin];
		buf_reset(&from);
		buf_reset(&to);
		call_stats_put_bound(&s->c, bin, &from);
		call_stats_put_bound(&s->c, bin + 1, &to);
		fprintf(out, "%9s to %9s %9" PRIu64 " %6.2f %% %7.2f %% |%.*s\n", from.data, to.data,
			d->bins[bin], 100.0 * (double)d->bins[bin] / (double)d->nr,
			100.0 * (double)before / (double)d->nr, d->bins[bin] && !width ? 1 : width,
			"########################################");
	}
	buf_release(&from);
	buf_release(&to);
}

static const struct sheet_column columns[] = {
	{ "call", "Call", 4 },
	{ "kind", NULL },
	{ "start_ns", "Start", 13, 9, .unit = UNIT_S },
	{ "n", "n", 9 },
	{ "duration_ns", "Duration", 13, 3, .unit = UNIT_US },
	{ "cum", "Cum", 13, 3, .unit = UNIT_US },
	{ "self", "Self", 13, 3, .unit = UNIT_US },
	{ "others", "Others", 13, 3, .unit = UNIT_US },
	{ "thread", "Thread", -20 },
	{ "name", NULL },
	{ NULL, "Name", -1 },
};

static void slowest_put_part(const struct slowest *s, size_t call, const struct part *p, struct sheet *sheet)
{
	struct buf b = BUF_INIT;

	if (p->kind == PART_CALLEE)
		buf_fmt(&b, "  %s", part_name(s, p));
	else if (p->kind == PART_OFF_CPU)
		buf_str(&b, "  [off CPU]");
	else
		buf_fmt(&b, "  [%s: %s]", part_kind_name(p), part_name(s, p));
	sheet_row(sheet, NULL, (const struct cell[]){
		sheet_is_text(sheet) ? cell_absent : cell_u64(call),
		cell_text(part_kind_name(p)),
		cell_absent,
		cell_u64(p->n),
		p->lasts ? cell_u64(p->time_ns) : cell_absent,
		p->kind == PART_CALLEE ? cell_u64(p->cum) : cell_absent,
		cell_absent,
		cell_absent,
		cell_absent,
		cell_text(part_name(s, p)),
		cell_text(b.data),
	});
	buf_release(&b);
}

static void print_slowest(const struct slowest *s, FILE *out)
{
	struct sheet_column own[ARRAY_SIZE(columns)];
	struct sheet sheet;
	size_t i, k;

	call_stats_columns(&s->c, columns, ARRAY_SIZE(columns), own);
	own[4].unit = UNIT_US;		/* always a time */
	sheet_init(&sheet, s->c.opts.format, out);
	sheet_choose(&sheet, &s->c.opts.choice);
	if (s->c.metric < 0 && sheet_is_text(&sheet))
		own[5].head = NULL;	/* the same */
	sheet_columns(&sheet, own, ARRAY_SIZE(own));
	for (i = 0; i < s->nr; i++) {
		const struct completed_call *x = &s->list[i].call;

		sheet_row(&sheet, NULL, (const struct cell[]){
			cell_u64(i + 1),
			cell_text("call"),
			cell_u64(slowest_calls_since_start(s, x)),
			cell_absent,
			cell_u64(x->end_ns - x->start_ns),
			cell_u64(x->elapsed),
			cell_u64(x->self),
			cell_u64(x->others),
			cell_text(slowest_calls_thread_name(s, x)),
			cell_text(completed_name(&s->c, x->consumer)),
			cell_text(completed_name(&s->c, x->consumer)),
		});
		for (k = 0; k < s->list[i].nr_parts; k++)
			slowest_put_part(s, i + 1, &s->list[i].parts[k], &sheet);
	}
	sheet_end(&sheet);
}

static void slowest_calls_print_text(struct slowest *s, FILE *out)
{
	const char *unit = completed_in_ns(&s->c) ? "us" : completed_unit(&s->c);
	struct spread *d = &s->stats.elapsed;
	struct buf b = BUF_INIT;
	double by = completed_in_ns(&s->c) ? 1e3 : 1;
	int decimals = completed_in_ns(&s->c) ? 3 : 0;

	buf_fmt(&b, "%" PRIu64 " calls: ", s->stats.n);
	completed_head(&s->c, &b);
	fprintf(out, "%s\n", b.data);
	buf_release(&b);
	if (s->stats.nr_open)
		fprintf(out, "%" PRIu64 " of them were open when the trace began or ended: how long they took is not known\n",
			s->stats.nr_open);
	if (!d->nr)
		return;
	fprintf(out, "total %.*f, mean %.*f, p50 %.*f, p90 %.*f, p99 %.*f, max %.*f %s%s\n\n", decimals,
		(double)d->total / by, decimals, (double)(d->total / d->nr) / by, decimals,
		(double)spread_quantile(d, 50) / by, decimals, (double)spread_quantile(d, 90) / by, decimals,
		(double)spread_quantile(d, 99) / by, decimals, (double)d->max / by, unit,
		spread_is_exact(d) ? "" : "; percentiles are within 0.8 %");
	print_histogram(s, out);
	fprintf(out, "\nThe slowest calls, and what happened in them%s\n Units :: s (Start), us (Duration)%s%s\n\n",
		s->has_dispatches ? "" : " (when they had no CPU is not known: record --sched)",
		s->c.metric < 0 ? ", us (Self)" : ", Cum, Self and Others in ", s->c.metric < 0 ? "" : unit);
	print_slowest(s, out);
}

static void slowest_calls_print(struct slowest *s, FILE *out)
{
	size_t i;

	s->has_dispatches = s->c.timeline.nr_dispatches;
	for (i = 0; i < s->nr; i++) {
		struct slow *x = &s->list[i];

		if (x->nr_parts)
			qsort_r(x->parts, x->nr_parts, sizeof(*x->parts), compare_parts, s);
	}
	if (s->c.opts.format == FORMAT_JSON)
		slowest_calls_print_json(s, out);
	else if (s->c.opts.format == FORMAT_TEXT)
		slowest_calls_print_text(s, out);
	else
		print_slowest(s, out);
}

int slowest_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	static const struct completed_sink sink = { .left = slowest_calls_on_left };
	struct slowest *s = xcalloc(1, sizeof(*s));
	char *name = (char *)o->argument;
	size_t i;
	int r = completed_init(&s->c, t, o, e);

	s->max = o->limit ? MIN((size_t)o->limit, (size_t)MAX_SLOWEST) : DEFAULT_SLOWEST;
	s->function.symbols = (struct opt_list){ .items = &name, .nr_items = 1 };
	if (!r)
		r = completed_read(&s->c, t, &sink, s, e);
	if (!r && !s->stats.n)
		r = err_set(e, ENOENT, "--calls: no calls of '%s'", o->argument);
	if (!r)
		r = look_inside(s, t, e);
	if (!r)
		slowest_calls_print(s, out);
	for (i = 0; i < s->nr; i++) {
		free(s->list[i].parts);
		map_release(&s->list[i].part_of);
	}
	map_release(&s->slow_of);
	spread_release(&s->stats.elapsed);
	completed_release(&s->c);
	free(s);
	return r;
}
