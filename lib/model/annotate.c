// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * annotate.c - samples of the functions of one name, by source line and by instruction.
 *
 * Samples of one run of the trace are counted by their stack first, so that each stack is walked once.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/annotate.h"

/* ---- which functions ---- */

bool annotate_is_function(const struct consumer *c)
{
	return kind_is(c->kind, KIND_CODE);
}

static bool annotate_is_wanted(const struct annotate *a, const struct consumer *c)
{
	const struct model *m = a->names->m;
	const char *name = model_str(m, c->name);

	if (!annotate_is_function(c))
		return false;
	if (a->o->wanted)
		return a->o->wanted(a->o->ctx, m, c);
	if (strcmp(a->o->pattern, name) && fnmatch(a->o->pattern, name, 0))
		return false;
	return select_module(&a->o->select->modules, c->module ? model_str(m, c->module) : "");
}

static uint32_t annotate_add_function(struct annotate *a, const struct consumer *c)
{
	uint32_t *at = map_put(&a->function_at, names_pair(c->name, c->module));

	if (*at == MAP_NONE) {
		*at = a->nr_functions;
		*VEC_ADD(a->functions, a->nr_functions, a->alloc_functions) = (struct annotate_function){
			.name = c->name, .module = c->module, .outermost = MAP_NONE };
	}
	return *at;
}

/* MAP_NONE: the consumer is none of them. */
static uint32_t function_of(struct annotate *a, uint32_t consumer)
{
	const struct consumers *all = &a->names->m->consumers;
	uint32_t *is;

	if (consumer >= a->nr_function_of) {
		a->function_of = xrealloc(a->function_of, all->nr_items * sizeof(*a->function_of));
		memset(a->function_of + a->nr_function_of, 0,
		       (all->nr_items - a->nr_function_of) * sizeof(*a->function_of));
		a->nr_function_of = all->nr_items;
	}
	is = &a->function_of[consumer];
	if (!*is)
		*is = !annotate_is_wanted(a, &all->items[consumer]) ? 1 :
		      annotate_add_function(a, &all->items[consumer]) + 2;
	return *is == 1 ? MAP_NONE : *is - 2;
}

/* ---- lines and instructions ---- */

/* Return the level of a frame's run: the outermost one is the function that the linker or the JVM knows. */
static uint32_t way_of(struct annotate *a, uint32_t function, struct name_run r, uint32_t level)
{
	const struct name_level *l = &a->names->levels[level];
	uint32_t outer = a->names->levels[r.first].consumer;
	uint32_t into = level == r.first ? 0 : a->names->m->consumers.items[outer].name;
	uint32_t *at = map_put(&a->way_at, hash_pair(names_pair(function, l->kind), into));

	if (*at == MAP_NONE) {
		*at = a->nr_ways;
		VEC_GROW(a->ways, a->nr_ways, a->alloc_ways);
		a->ways[a->nr_ways++] =
			(struct annotate_way){ .function = function, .kind = l->kind, .into = into };
	}
	return *at;
}

static uint32_t line_of(struct annotate *a, uint32_t function, struct name_run r, uint32_t level)
{
	const struct name_level *l = &a->names->levels[level];
	uint32_t way = way_of(a, function, r, level);
	uint32_t *at = map_put(&a->line_at, hash_pair(names_pair(l->file, l->line), way));

	if (*at == MAP_NONE) {
		*at = a->nr_lines;
		*VEC_ADD(a->lines, a->nr_lines, a->alloc_lines) = (struct annotate_line){
			.function = function, .way = way, .file = l->file, .line = l->line };
	}
	return *at;
}

static uint32_t code_of(struct annotate *a, uint32_t function, const struct name_range *range,
			const struct name_level *outer)
{
	uint64_t where = range->code == MAP_NONE ? names_pair(range->module, function) :
						   names_pair(UINT32_MAX - range->code, function);
	uint32_t *at = map_put(&a->code_at, hash_pair(where, range->start));

	if (*at == MAP_NONE) {
		*at = a->nr_codes;
		*VEC_ADD(a->codes, a->nr_codes, a->alloc_codes) = (struct annotate_code){
			.range = *range, .kind = outer->kind, .function = function,
			.name = a->names->m->consumers.items[outer->consumer].name };
	}
	return *at;
}

/* Count the interrupted instruction; interpreted code has none. */
static void count_insn(struct annotate *a, uint32_t function, const struct frame *f, struct name_run r,
		       uint64_t n)
{
	const struct name_level *l = &a->names->levels[r.first + r.nr - 1];
	struct name_range range;
	uint32_t code, *at;
	uint64_t off;

	if (!names_range(a->names, f, &range))
		return;
	off = (f->kind == FRAME_JIT ? f->addr : f->off) - range.start;
	code = code_of(a, function, &range, &a->names->levels[r.first]);
	a->codes[code].n += n;
	at = map_put(&a->insn_at, hash_pair(code, off));
	if (*at == MAP_NONE) {
		*at = a->nr_insns;
		*VEC_ADD(a->insns, a->nr_insns, a->alloc_insns) = (struct annotate_insn){
			.code = code, .off = off, .file = l->file, .line = l->line };
	}
	a->insns[*at].n += n;
}

/* ---- stacks ---- */

static struct name_run annotate_resolve(struct annotate *a, uint32_t frame, const struct stack_epoch *ep,
					uint64_t time_ns)
{
	struct name_run *r = &a->epoch.runs[frame];

	if (r->nr == UINT32_MAX)
		*r = names_consumers(a->names, &ep->frames[frame], time_ns);
	return *r;
}

/* Count the function of the innermost level. */
static void count_self(struct annotate *a, const struct frame *f, struct name_run r, bool leaf, uint64_t n)
{
	uint32_t level = r.first + r.nr - 1, line;
	uint32_t function = function_of(a, a->names->levels[level].consumer);

	if (function == MAP_NONE)
		return;
	line = line_of(a, function, r, level);
	a->lines[line].n += n;
	a->ways[a->lines[line].way].n += n;
	a->functions[function].n += n;
	if (leaf)
		count_insn(a, function, f, r, n);
}

static void note_levels(struct annotate *a, struct name_run r)
{
	uint32_t i, function;

	for (i = r.first + r.nr; i-- > r.first;) {
		function = function_of(a, a->names->levels[i].consumer);
		if (function != MAP_NONE)
			a->functions[function].outermost = line_of(a, function, r, i);
	}
}

static void count_through(struct annotate *a, uint64_t n)
{
	size_t i;

	for (i = 0; i < a->nr_functions; i++) {
		struct annotate_function *f = &a->functions[i];

		if (f->outermost == MAP_NONE)
			continue;
		f->cum += n;
		a->lines[f->outermost].cum += n;
		a->ways[a->lines[f->outermost].way].cum += n;
		f->outermost = MAP_NONE;
	}
}

static void count_stack(struct annotate *a, uint32_t stack, uint64_t n, const struct stack_epoch *ep,
			uint64_t time_ns)
{
	bool first = true;
	uint32_t at;

	for (at = stack; at; at = ep->nodes[at].parent) {
		uint32_t frame = ep->nodes[at].frame;
		struct name_run r = annotate_resolve(a, frame, ep, time_ns);

		if (!r.nr)
			continue;
		if (first)
			count_self(a, &ep->frames[frame], r, at == stack, n);
		first = false;
		note_levels(a, r);
	}
	count_through(a, n);
}

/* ---- samples ---- */

static bool thread_wanted(struct annotate *a, uint32_t number)
{
	const struct names *x = a->names;
	const char *comm = "", *name = "";
	uint32_t *known = map_put(&a->wanted_threads, number), t, p = MAP_NONE, pid = 0, tid = 0;

	if (*known != MAP_NONE)
		return *known;
	t = map_get(&x->thread_of, number);
	if (t != MAP_NONE) {
		p = map_get(&x->proc_of, x->threads[t].proc);
		tid = x->threads[t].tid;
		name = model_str(x->m, x->threads[t].name);
	}
	if (p != MAP_NONE) {
		pid = x->procs[p].pid;
		comm = model_str(x->m, x->procs[p].comm);
	}
	*known = selection_has_names(a->o->select, pid, tid, comm, *name ? name : comm);
	return *known;
}

static bool annotate_is_selected(struct annotate *a, const struct rec_sample *r)
{
	const struct event_columns *k = &a->events;

	if (k->nr_events && (r->event >= k->nr_events || k->column_of[r->event]))
		return false;
	return cut_in_window(&a->cut, r) && select_number(&a->o->select->cpus, r->cpu) &&
	       thread_wanted(a, r->thread);
}

static void annotate_follow_epoch(struct annotate_epoch *x, const struct stack_epoch *ep)
{
	size_t i;

	if (x->number != ep->epoch)
		x->nr_runs = 0;
	x->number = ep->epoch;
	if (ep->nr_nodes > x->nr_counts) {
		x->counts = xrealloc(x->counts, ep->nr_nodes * sizeof(*x->counts));
		memset(x->counts + x->nr_counts, 0, (ep->nr_nodes - x->nr_counts) * sizeof(*x->counts));
		x->nr_counts = ep->nr_nodes;
	}
	if (ep->nr_frames > x->nr_runs) {
		x->runs = xrealloc(x->runs, ep->nr_frames * sizeof(*x->runs));
		for (i = x->nr_runs; i < ep->nr_frames; i++)
			x->runs[i].nr = UINT32_MAX;
		x->nr_runs = ep->nr_frames;
	}
}

static int annotate_take_samples(void *ctx, const struct rec_sample *r, size_t nr,
				 const struct stack_epoch *ep)
{
	struct annotate *a = ctx;
	struct annotate_epoch *x = &a->epoch;
	struct rec_sample part;
	bool kept;
	size_t i;

	annotate_follow_epoch(x, ep);
	for (i = 0; i < nr; i++) {
		if (!a->first_ns || r[i].time_ns < a->first_ns)
			a->first_ns = r[i].time_ns;
		a->last_ns = MAX(a->last_ns, r[i].time_ns);
		kept = filter_wants_sample(a->kept, &r[i], ep);
		if (!annotate_is_selected(a, &r[i]))
			continue;
		if (!kept || !cut_sum(&a->cut, &r[i], &part)) {
			a->nr_left_out += 1 + r[i].more;
			continue;
		}
		a->n += 1 + r[i].more;
		if (!r[i].stack || r[i].stack >= ep->nr_nodes)
			continue;
		if (!x->counts[r[i].stack] && r[i].more >= 0)
			*VEC_ADD(x->touched, x->nr_touched, x->alloc_touched) = r[i].stack;
		x->counts[r[i].stack] += 1 + r[i].more;
	}
	for (i = 0; i < x->nr_touched; i++) {
		count_stack(a, x->touched[i], x->counts[x->touched[i]], ep, r[0].time_ns);
		x->counts[x->touched[i]] = 0;
	}
	x->nr_touched = 0;
	return 0;
}

/* ---- order ---- */

static int compare_functions(const void *p, const void *q, void *ctx)
{
	const struct annotate *a = ctx;
	const struct annotate_function *f = &a->functions[*(const uint32_t *)p],
				       *g = &a->functions[*(const uint32_t *)q];
	const struct model *m = a->names->m;
	int c = COMPARE(g->n, f->n) ?: COMPARE(g->cum, f->cum) ?:
		strcmp(model_str(m, f->name), model_str(m, g->name));

	return c || !f->module || !g->module ? c : strcmp(model_str(m, f->module), model_str(m, g->module));
}

static int compare_ways(const void *p, const void *q, void *ctx)
{
	const struct annotate *a = ctx;
	const struct annotate_way *v = &a->ways[*(const uint32_t *)p], *w = &a->ways[*(const uint32_t *)q];
	int c = COMPARE(v->function, w->function) ?: COMPARE(w->n, v->n) ?: COMPARE(w->cum, v->cum) ?:
		COMPARE(v->kind, w->kind);

	return c || !v->into || !w->into ? c : strcmp(model_str(a->names->m, v->into),
						       model_str(a->names->m, w->into));
}

static int compare_lines(const void *p, const void *q, void *ctx)
{
	const struct annotate_line *k = p, *l = q;
	const struct annotate *a = ctx;
	int c = COMPARE(k->function, l->function);

	if (!c && k->file != l->file)
		c = strcmp(k->file ? model_str(a->names->m, k->file) : "",
			   l->file ? model_str(a->names->m, l->file) : "");
	return c ?: COMPARE(k->line, l->line) ?: COMPARE(k->way, l->way);
}

static int compare_codes(const void *p, const void *q, void *ctx)
{
	const struct annotate *a = ctx;
	const struct annotate_code *c = &a->codes[*(const uint32_t *)p], *d = &a->codes[*(const uint32_t *)q];

	return COMPARE(c->function, d->function) ?: COMPARE(d->n, c->n) ?:
	       strcmp(model_str(a->names->m, c->name), model_str(a->names->m, d->name)) ?:
	       COMPARE(c->range.start, d->range.start);
}

static int compare_insns(const void *p, const void *q)
{
	const struct annotate_insn *i = p, *j = q;

	return COMPARE(i->code, j->code) ?: COMPARE(i->off, j->off);
}

/*
 * Sorts nr rows of that size by compare, which gets their indices; the result, [old index], is the new one,
 * and the caller's to free.
 */
static uint32_t *sort_rows(struct annotate *a, void *rows, size_t nr, size_t size,
			   int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = xcalloc(nr + 1, sizeof(*order)), *place = xcalloc(nr + 1, sizeof(*place));
	char *copy = xcalloc(nr + 1, size);
	size_t i;

	for (i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare, a);
	for (i = 0; i < nr; i++) {
		place[order[i]] = i;
		memcpy(copy + i * size, (char *)rows + order[i] * size, size);
	}
	if (nr)
		memcpy(rows, copy, nr * size);
	free(copy);
	free(order);
	return place;
}

/* Sort, functions first: the order of the rest depends on them. */
static void annotate_sort(struct annotate *a)
{
	uint32_t *function = sort_rows(a, a->functions, a->nr_functions, sizeof(*a->functions),
				       compare_functions), *way, *code;
	size_t i;

	for (i = 0; i < a->nr_ways; i++)
		a->ways[i].function = function[a->ways[i].function];
	for (i = 0; i < a->nr_codes; i++)
		a->codes[i].function = function[a->codes[i].function];
	way = sort_rows(a, a->ways, a->nr_ways, sizeof(*a->ways), compare_ways);
	for (i = 0; i < a->nr_lines; i++) {
		a->lines[i].function = function[a->lines[i].function];
		a->lines[i].way = way[a->lines[i].way];
	}
	code = sort_rows(a, a->codes, a->nr_codes, sizeof(*a->codes), compare_codes);
	for (i = 0; i < a->nr_insns; i++)
		a->insns[i].code = code[a->insns[i].code];
	if (a->nr_lines)
		qsort_r(a->lines, a->nr_lines, sizeof(*a->lines), compare_lines, a);
	if (a->nr_insns)
		qsort(a->insns, a->nr_insns, sizeof(*a->insns), compare_insns);
	free(function);
	free(way);
	free(code);
}

/* ---- the whole ---- */

int annotate_read(struct annotate *a, struct names *x, struct trace_reader *t, const struct annotate_opts *o,
		  struct err *e)
{
	static const struct trace_sink sink = { .samples = annotate_take_samples };
	const struct columns_opts co = { .metrics = o->metrics };
	int r;

	*a = (struct annotate){ .names = x, .o = o };
	r = trace_read(t, &names_sink, x, e);
	if (!r)
		r = names_window(x, o->select, &a->window, e);
	if (!r)
		r = columns_of_samples(&a->events, x, &co, e);
	if (!r)
		r = filter_new(&a->kept, x, o->select->filter, t, e);
	cut_init(&a->cut, x, &a->window, a->kept);
	if (!r)
		r = trace_read(t, &sink, a, e);
	if (!r && !a->first_ns)
		r = err_set(e, ENODATA, "the trace has no samples");
	if (!r)
		annotate_sort(a);
	return r;
}

void annotate_release(struct annotate *a)
{
	free(a->functions);
	free(a->ways);
	free(a->lines);
	free(a->codes);
	free(a->insns);
	free(a->function_of);
	free(a->epoch.counts);
	free(a->epoch.runs);
	free(a->epoch.touched);
	map_release(&a->line_at);
	map_release(&a->way_at);
	map_release(&a->code_at);
	map_release(&a->insn_at);
	map_release(&a->function_at);
	map_release(&a->wanted_threads);
	filter_free(a->kept);
}
