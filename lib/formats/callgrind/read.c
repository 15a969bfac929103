// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - makes contexts of callgrind's graph, which has callers and callees but no contexts.
 *
 * Each function gets a node under each of its callers' nodes. What a call from one function to another
 * consumed with everything below is exact in the file; where the caller has several contexts, it is divided
 * among them in proportion to what each of them is given, as gprof does. So what a function consumed itself,
 * what it consumed with its callees, and what it consumed on behalf of each caller are the file's own
 * numbers; only paths of more than one call are an estimate, and exact where there is only one way to a
 * function.
 *
 * A function that calls itself is one function: what its recursive calls consumed is its own already.
 * Functions that call each other in a circle are all put under the one that was entered first.
 *
 * Invariant: what all nodes of a line are given is what the line has; rounding is carried on, and what was
 * not followed is under a mark.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/callgrind/read.h"

enum { MAX_DEPTH = 500, MAX_NODES = 400000 };

#define LEAST_SHARE 1e-6	/* of the whole: less is not followed */

struct tree {
	struct import *im;
	struct callgrind c;
	double *given;			/* [value]: how much of it nodes got, ... */
	uint64_t *written;		/* ... and how much of that is in samples */
	double *calls_given;		/* [arc] */
	uint64_t *calls_written;
	double *group_total;		/* [group][event]: of the functions of a circle, with their callees */
	uint32_t *members, *first_member;	/* functions by group; of group g [first[g], first[g + 1]) */
	uint32_t nr_groups;
	double total[CALLGRIND_MAX_EVENTS];
	uint32_t event[CALLGRIND_MAX_EVENTS], calls_event;
	struct frame path[MAX_DEPTH + 2];
	size_t depth, nr_nodes;
};

/* ---- circles of functions (Tarjan, SIAM J. Comput. 1972) ---- */

struct tarjan {
	uint32_t *index, *low, *stack, *work, *arc;	/* index 0: not seen yet */
	size_t nr_stack, nr_work;
	uint32_t count;
};

static void enter_function(struct tarjan *t, const struct callgrind *c, uint32_t f)
{
	t->index[f] = t->low[f] = ++t->count;
	t->stack[t->nr_stack++] = f;
	t->work[t->nr_work++] = f;
	t->arc[f] = c->functions[f].arcs;
}

/* Groups are numbered from 1, callees before their callers. */
static void find_group(struct tarjan *t, struct callgrind *c, uint32_t root, uint32_t *nr_groups)
{
	enter_function(t, c, root);
	while (t->nr_work) {
		uint32_t f = t->work[t->nr_work - 1], at = t->arc[f], to;

		if (at) {
			to = c->arcs[at - 1].to;
			t->arc[f] = c->arcs[at - 1].next;
			if (!t->index[to])
				enter_function(t, c, to);
			else if (!c->functions[to].group)
				t->low[f] = MIN(t->low[f], t->index[to]);
			continue;
		}
		t->nr_work--;
		if (t->nr_work)
			t->low[t->work[t->nr_work - 1]] = MIN(t->low[t->work[t->nr_work - 1]], t->low[f]);
		if (t->low[f] != t->index[f])
			continue;
		++*nr_groups;
		do {
			to = t->stack[--t->nr_stack];
			c->functions[to].group = *nr_groups;
		} while (to != f);
	}
}

static void find_groups(struct tree *t)
{
	struct callgrind *c = &t->c;
	size_t nr = c->nr_functions, i;
	struct tarjan x = {
		.index = xcalloc(nr, sizeof(uint32_t)), .low = xcalloc(nr, sizeof(uint32_t)),
		.stack = xcalloc(nr, sizeof(uint32_t)), .work = xcalloc(nr, sizeof(uint32_t)),
		.arc = xcalloc(nr, sizeof(uint32_t)),
	};

	for (i = 0; i < nr; i++)
		if (!x.index[i])
			find_group(&x, c, i, &t->nr_groups);
	free(x.index);
	free(x.low);
	free(x.stack);
	free(x.work);
	free(x.arc);
}

static void list_members(struct tree *t)
{
	struct callgrind *c = &t->c;
	uint32_t *at = xcalloc(t->nr_groups + 2, sizeof(*at));
	size_t i;

	t->members = xcalloc(c->nr_functions, sizeof(*t->members));
	t->first_member = xcalloc(t->nr_groups + 2, sizeof(*t->first_member));
	for (i = 0; i < c->nr_functions; i++)
		t->first_member[c->functions[i].group + 1]++;
	for (i = 1; i < t->nr_groups + 2; i++)
		t->first_member[i] += t->first_member[i - 1];
	memcpy(at, t->first_member, (t->nr_groups + 2) * sizeof(*at));
	for (i = 0; i < c->nr_functions; i++)
		t->members[at[c->functions[i].group]++] = i;
	free(at);
}

/* ---- sums ---- */

static double *group_total(struct tree *t, uint32_t group)
{
	return &t->group_total[(size_t)group * t->c.nr_events];
}

static bool leaves_group(const struct tree *t, uint32_t from, const struct callgrind_arc *a)
{
	return t->c.functions[a->to].group != t->c.functions[from].group;
}

/* Sum what each group consumed, including its callees. */
static void sum_groups(struct tree *t)
{
	struct callgrind *c = &t->c;
	uint32_t f, at;
	size_t e;

	t->group_total = xcalloc(((size_t)t->nr_groups + 1) * c->nr_events, sizeof(*t->group_total));
	for (f = 0; f < c->nr_functions; f++) {
		double *sum = group_total(t, c->functions[f].group);

		for (at = c->functions[f].costs; at; at = c->costs[at - 1].next)
			for (e = 0; e < c->nr_events; e++) {
				sum[e] += c->values[c->costs[at - 1].values + e];
				t->total[e] += c->values[c->costs[at - 1].values + e];
			}
		for (at = c->functions[f].arcs; at; at = c->arcs[at - 1].next)
			for (e = 0; e < c->nr_events && leaves_group(t, f, &c->arcs[at - 1]); e++)
				sum[e] += c->values[c->arcs[at - 1].values + e];
	}
}

/* ---- nodes ---- */

static struct import_text text_at(const struct tree *t, uint32_t id)
{
	const char *s = id ? strtab_get(&t->c.texts, id) : "";

	return strcmp(s, "???") ? (struct import_text){ s, strlen(s) } : (struct import_text){ "", 0 };
}

static struct frame frame_for(struct tree *t, uint32_t f, uint32_t file, uint32_t line)
{
	const struct callgrind_function *x = &t->c.functions[f];
	struct import_function fn = { FUNCTION_NATIVE, text_at(t, x->name), text_at(t, x->module),
				      text_at(t, file) };

	if (!fn.name.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	return (struct frame){ FRAME_NAMED, .function = import_function(t->im, &fn), .line = line };
}

static void write_value(struct tree *t, uint32_t event, uint64_t weight)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = event, .weight = weight, .more = -1 };

	if (!weight)
		return;
	s.stack = trace_write_stack(t->im->w, t->path, t->depth);
	import_sample(t->im, &s);
}

/* Gives that share of all, in whole numbers: the fractions go to those who come later. */
static uint64_t round_up_to(double *given, uint64_t *written, uint64_t all, double share)
{
	uint64_t before = *written, upto;

	*given = MIN(*given + share * (double)all, (double)all);
	upto = share >= 1 ? all : MIN((uint64_t)llround(*given), all);
	*written = MAX(upto, before);
	return *written - before;
}

/* Return by how much a node's whole number grows if it gets that share more of the value. */
static uint64_t portion(struct tree *t, size_t value, double share)
{
	return round_up_to(&t->given[value], &t->written[value], t->c.values[value], share);
}

/* Write the costs of a function's lines, below the path that ends with it. */
static void write_costs(struct tree *t, uint32_t f, const double *ratio)
{
	const struct callgrind *c = &t->c;
	uint32_t at;
	size_t e;

	for (at = c->functions[f].costs; at; at = c->costs[at - 1].next) {
		t->path[t->depth - 1] = frame_for(t, f, c->costs[at - 1].file, c->costs[at - 1].line);
		for (e = 0; e < c->nr_events; e++)
			write_value(t, t->event[e], portion(t, c->costs[at - 1].values + e, ratio[e]));
	}
	t->path[t->depth - 1] = frame_for(t, f, 0, 0);
}

static uint64_t calls_of(struct tree *t, uint32_t arc, double share)
{
	return round_up_to(&t->calls_given[arc], &t->calls_written[arc], t->c.arcs[arc].calls, share);
}

static bool is_worth_it(const struct tree *t, const double *budget)
{
	size_t e;

	for (e = 0; e < t->c.nr_events; e++)
		if (budget[e] > t->total[e] * LEAST_SHARE)
			return t->depth < MAX_DEPTH && t->nr_nodes < MAX_NODES;
	return false;
}

static void add_group(struct tree *t, uint32_t entered, const double *budget);

/* Return the share of any event that has one; the first event's comes first, as it is that of the calls. */
static double any_share(const struct tree *t, const double *ratio)
{
	size_t e;

	for (e = 0; e < t->c.nr_events; e++)
		if (ratio[e] > 0)
			return ratio[e];
	return 0;
}

/* Give the function at the end of the path that share of its own costs and of those of its calls. */
static void add_function(struct tree *t, uint32_t f, const double *ratio)
{
	const struct callgrind *c = &t->c;
	double budget[CALLGRIND_MAX_EVENTS];
	uint32_t at;
	size_t e;

	t->nr_nodes++;
	write_costs(t, f, ratio);
	for (at = c->functions[f].arcs; at; at = c->arcs[at - 1].next) {
		const struct callgrind_arc *a = &c->arcs[at - 1];
		bool leaves = leaves_group(t, f, a);

		for (e = 0; e < c->nr_events; e++)
			budget[e] = leaves ? ratio[e] * (double)c->values[a->values + e] : 0;
		if (leaves ? !is_worth_it(t, budget) : a->to != f || t->depth >= MAX_DEPTH)
			continue;
		t->path[t->depth++] = frame_for(t, a->to, 0, 0);
		write_value(t, t->calls_event, calls_of(t, at - 1, any_share(t, ratio)));
		if (leaves)
			add_group(t, a->to, budget);
		t->depth--;
	}
}

/* Add the functions of a group, entered with that budget, below the path, which ends with entered. */
static void add_group(struct tree *t, uint32_t entered, const double *budget)
{
	uint32_t group = t->c.functions[entered].group, i;
	const double *total = group_total(t, group);
	double ratio[CALLGRIND_MAX_EVENTS];
	size_t e;

	for (e = 0; e < t->c.nr_events; e++)
		ratio[e] = total[e] > 0 ? MIN(budget[e] / total[e], 1.0) : 0;
	add_function(t, entered, ratio);
	for (i = t->first_member[group]; i < t->first_member[group + 1]; i++) {
		if (t->members[i] == entered || t->depth >= MAX_DEPTH)
			continue;
		t->path[t->depth++] = frame_for(t, t->members[i], 0, 0);
		add_function(t, t->members[i], ratio);
		t->depth--;
	}
}

/* ---- the whole ---- */

/* Compute what no caller accounts for: costs at the program's start, or because the file was begun late. */
static void find_roots(const struct tree *t, double *budget)
{
	const struct callgrind *c = &t->c;
	uint32_t f, at;
	size_t e;

	memcpy(budget, t->group_total, ((size_t)t->nr_groups + 1) * c->nr_events * sizeof(*budget));
	for (f = 0; f < c->nr_functions; f++)
		for (at = c->functions[f].arcs; at; at = c->arcs[at - 1].next) {
			const struct callgrind_arc *a = &c->arcs[at - 1];

			for (e = 0; e < c->nr_events && leaves_group(t, f, a); e++)
				budget[(size_t)c->functions[a->to].group * c->nr_events + e] -=
					c->values[a->values + e];
		}
}

static void add_roots(struct tree *t)
{
	double *budget = xcalloc(((size_t)t->nr_groups + 1) * t->c.nr_events, sizeof(*budget));
	uint32_t group;
	size_t e;

	find_roots(t, budget);
	for (group = t->nr_groups; group; group--) {
		double *b = &budget[(size_t)group * t->c.nr_events];

		for (e = 0; e < t->c.nr_events; e++)
			b[e] = MAX(b[e], 0.0);
		if (!is_worth_it(t, b))
			continue;
		t->depth = 1;
		t->path[0] = frame_for(t, t->members[t->first_member[group]], 0, 0);
		add_group(t, t->members[t->first_member[group]], b);
		t->depth = 0;
	}
	free(budget);
}

/* Add the rest of each line, which belongs to contexts too small to follow. */
static void add_rest(struct tree *t)
{
	static const struct import_function mark = { FUNCTION_MARK, .name = { "[callers not followed]", 22 },
						     .module = { "", 0 }, .file = { "", 0 } };
	double all[CALLGRIND_MAX_EVENTS];
	uint32_t f;
	size_t e;

	for (e = 0; e < t->c.nr_events; e++)
		all[e] = 1;
	t->path[0] = (struct frame){ FRAME_NAMED, .function = import_function(t->im, &mark) };
	for (f = 0; f < t->c.nr_functions; f++) {
		t->depth = 2;
		t->path[1] = frame_for(t, f, 0, 0);
		write_costs(t, f, all);
	}
}

static void note_circles(struct tree *t)
{
	uint32_t group, nr = 0, size;

	for (group = 1; group <= t->nr_groups; group++) {
		size = t->first_member[group + 1] - t->first_member[group];
		nr += size > 1 ? size : 0;
	}
	if (nr)
		import_note(t->im, "%u functions call each other in circles: cum of those that were not entered first is too small",
			    nr);
}

/*
 * Compare with what the file says itself: of one that is truncated the lines add up to less, and no totals
 * follow. Those of callgrind may be a few off.
 */
static void note_missing(struct tree *t)
{
	uint64_t said = MAX(t->c.said[0], t->c.said[1]), sum = 0;
	uint64_t least = t->c.said[1] ? said - said / 100 : said;
	size_t i;

	for (i = 0; i < t->c.nr_costs; i++)
		sum += t->c.values[t->c.costs[i].values];
	if (sum < least)
		import_note(t->im, "truncated, or not whole: its lines add up to %" PRIu64 " of %" PRIu64 " %.*s",
			    sum, said, (int)MIN(t->c.events[0].len, (size_t)64), t->c.events[0].s);
}

static void callgrind_name_events(struct tree *t)
{
	size_t e;

	for (e = 0; e < t->c.nr_events; e++)
		t->event[e] = import_event(t->im, t->c.events[e], t->c.units[e]);
	t->calls_event = import_event(t->im, (struct import_text){ "calls", 5 }, "calls");
	import_note(t->im, "callgrind knows callers and callees, not contexts: what a function consumed is divided among them");
}

static void tree_release(struct tree *t)
{
	free(t->given);
	free(t->written);
	free(t->calls_given);
	free(t->calls_written);
	free(t->group_total);
	free(t->members);
	free(t->first_member);
	callgrind_release(&t->c);
	free(t);
}

static int callgrind_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	int r = callgrind_parse(&t->c, data, len, e);

	t->im = im;
	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_COUNTS |
		      IMPORT_NO_MODES;
	if (!r) {
		t->given = xcalloc(t->c.nr_values, sizeof(*t->given));
		t->written = xcalloc(t->c.nr_values, sizeof(*t->written));
		t->calls_given = xcalloc(t->c.nr_arcs + 1, sizeof(*t->calls_given));
		t->calls_written = xcalloc(t->c.nr_arcs + 1, sizeof(*t->calls_written));
		callgrind_name_events(t);
		note_missing(t);
		if (t->c.command.len)
			trace_write_label(im->w, "command", "%.*s", (int)MIN(t->c.command.len, (size_t)4096),
					  t->c.command.s);
		find_groups(t);
		list_members(t);
		note_circles(t);
		sum_groups(t);
		add_roots(t);
		add_rest(t);
	}
	tree_release(t);
	return r;
}

/* Return whether the data begins with a line of the format's head. */
static bool callgrind_is(const char *data, size_t len)
{
	static const char *const heads[] = { "# callgrind format", "version:", "creator:", "desc:", "cmd:",
					     "positions:", "events:" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++)
		if (len > strlen(heads[i]) && !memcmp(data, heads[i], strlen(heads[i])))
			return memmem(data, len, "events:", 7);
	return false;
}

const struct import_format import_callgrind = {
	.name = "callgrind",
	.what = "a callgrind file",
	.is_lines = true,
	.is = callgrind_is,
	.read = callgrind_read,
};
