// SPDX-License-Identifier: GPL-2.0-or-later
/* lifetimes.c - sums the lifetimes of objects that died (lifetimes.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/blame.h"
#include "model/filter.h"
#include "model/lifetimes.h"

/* A lifetime that this many objects had. */
struct lifetime {
	uint64_t ns, count, died_ns;	/* died_ns LIVES: they live, and ns is when they were allocated */
	uint32_t row, proc, pid, class_name;
};

#define LIVES UINT64_MAX

struct take {
	struct lifetimes *m;
	const struct selection *s;
	struct filter *kept;
	struct blame blame;
	uint32_t lifetime, died;	/* events: a sample of one, then one of the other; */
	uint32_t live;			/* of objects that live */
	struct rec_sample first;
	bool has_first;
	uint64_t *whole_ns;		/* [index of process] */
};

static struct lifetime_row *lifetime_row_of(struct lifetimes *m, uint32_t proc, uint32_t pid, struct blamed b)
{
	uint32_t *at = map_put(&m->row_of, hash_pair((uint64_t)b.leaf << 32 | b.site, proc));

	if (*at == MAP_NONE) {
		VEC_GROW(m->rows, m->nr_rows, m->alloc_rows);
		*at = m->nr_rows;
		m->rows[m->nr_rows++] = (struct lifetime_row){
			.proc = proc, .pid = pid, .class_name = b.leaf, .site = b.site,
		};
	}
	return &m->rows[*at];
}

static bool lifetimes_is_selected(struct take *t, const struct rec_sample *s, const struct stack_epoch *ep,
				  uint32_t *proc, uint32_t *pid)
{
	if (!s->weight || !blame_selected(&t->m->names, t->s, s->thread, proc, pid))
		return false;
	if (filter_wants_sample(t->kept, s, ep))
		return true;
	t->m->nr_left_out++;
	return false;
}

/* Add objects that died, which s stands for; ns: the sum of their lifetimes. */
static void add_dead(struct take *t, const struct rec_sample *s, uint64_t ns, const struct stack_epoch *ep)
{
	struct lifetimes *m = t->m;
	struct lifetime_row *row;
	struct blamed b;
	uint32_t proc, pid;

	if (!lifetimes_is_selected(t, s, ep, &proc, &pid))
		return;
	b = blame_stack(&t->blame, s, ep);
	row = lifetime_row_of(m, proc, pid, b);
	row->samples++;
	row->died += s->weight;
	row->ns += ns;
	*VEC_ADD(m->all, m->nr, m->alloc) = (struct lifetime){
		.ns = ns / s->weight, .count = s->weight, .died_ns = s->time_ns,
		.row = (uint32_t)(row - m->rows), .proc = proc, .pid = pid, .class_name = b.leaf,
	};
}

static void add_living(struct take *t, const struct rec_sample *s, const struct stack_epoch *ep)
{
	struct lifetimes *m = t->m;
	uint32_t proc, pid;

	if (!lifetimes_is_selected(t, s, ep, &proc, &pid))
		return;
	*VEC_ADD(m->all, m->nr, m->alloc) = (struct lifetime){
		.ns = s->time_ns, .count = s->weight, .died_ns = LIVES, .row = UINT32_MAX, .proc = proc,
		.pid = pid, .class_name = blame_stack(&t->blame, s, ep).leaf,
	};
}

static int lifetimes_take_samples(void *ctx, const struct rec_sample *s, size_t nr,
				  const struct stack_epoch *ep)
{
	struct take *t = ctx;
	size_t i;

	for (i = 0; i < nr; i++)
		if (s[i].event == t->lifetime) {
			t->first = s[i];
			t->has_first = true;
		} else if (s[i].event == t->died && t->has_first && t->first.thread == s[i].thread &&
			   t->first.time_ns == s[i].time_ns) {
			add_dead(t, &s[i], t->first.weight, ep);
			t->has_first = false;
		} else if (s[i].event == t->live) {
			add_living(t, &s[i], ep);
		}
	return 0;
}

/* Return the time up to which all garbage of that process, by its index, had been found. */
static uint64_t *whole_of(struct take *t, uint32_t proc)
{
	if (!t->whole_ns)
		t->whole_ns = xcalloc(t->m->names.nr_procs, sizeof(*t->whole_ns));
	return &t->whole_ns[proc];
}

static int lifetimes_take_sweep(void *ctx, const struct rec_sweep *r)
{
	struct take *take = ctx;
	struct lifetimes *m = take->m;
	uint32_t proc = map_get(&m->names.proc_of, r->proc);
	uint64_t *whole;

	if (proc == MAP_NONE)
		return 0;
	whole = whole_of(take, proc);
	*VEC_ADD(m->sweeps, m->nr_sweeps, m->alloc_sweeps) = (struct lifetime_sweep){
		.time_ns = r->time_ns, .proc = r->proc, .pid = m->names.procs[proc].pid, .pauses = r->pauses,
		.whole = r->whole_ns > *whole,
	};
	*whole = MAX(*whole, r->whole_ns);
	return 0;
}

/* ---- what is found out of all ---- */

static int by_proc_and_time(const void *p, const void *q)
{
	const struct lifetime_sweep *a = p, *b = q;

	return COMPARE(a->proc, b->proc) ?: COMPARE(a->time_ns, b->time_ns);
}

/*
 * Return the first look at the objects of the process at that time or later, or what is behind its last
 * one.
 */
static size_t sweep_at(const struct lifetimes *m, uint32_t proc, uint64_t time_ns)
{
	const struct lifetime_sweep *x = m->sweeps;

	return BISECT(i, m->nr_sweeps, x[i].proc < proc || (x[i].proc == proc && x[i].time_ns < time_ns));
}

/* Return when they were looked at last before that; 0: never. */
static uint64_t sweep_before(const struct lifetimes *m, uint32_t proc, uint64_t time_ns)
{
	size_t at = sweep_at(m, proc, time_ns);

	return at && m->sweeps[at - 1].proc == proc ? m->sweeps[at - 1].time_ns : 0;
}

static bool is_of(const struct lifetimes *m, size_t sweep, uint32_t proc)
{
	return sweep < m->nr_sweeps && m->sweeps[sweep].proc == proc;
}

/* Count living objects: first those allocated and gone before each scan, then those that were there. */
static void count_living(struct lifetimes *m)
{
	size_t i, at;

	for (i = 0; i < m->nr; i++) {
		const struct lifetime *x = &m->all[i];
		uint64_t born_ns = x->died_ns == LIVES ? x->ns : x->died_ns - MIN(x->ns, x->died_ns);

		at = sweep_at(m, x->proc, born_ns);
		if (is_of(m, at, x->proc))
			m->sweeps[at].live += x->count;
		at = x->died_ns == LIVES ? m->nr_sweeps : sweep_at(m, x->proc, x->died_ns);
		if (is_of(m, at, x->proc))
			m->sweeps[at].died += x->count;
	}
	for (i = 0; i < m->nr_sweeps; i++) {
		struct lifetime_sweep *x = &m->sweeps[i];

		x->live += i && x[-1].proc == x->proc ? x[-1].live : 0;
		x->live -= MIN(x->died, x->live);
	}
}

/* ---- by class ---- */

static int lifetimes_by_time(const void *p, const void *q)
{
	const uint64_t *a = p, *b = q;

	return COMPARE(*a, *b);
}

static void choose_points(struct lifetimes *m)
{
	uint64_t *all = xcalloc(m->nr_sweeps + 1, sizeof(*all));
	size_t nr_whole = 0, nr = 0, i;

	for (i = 0; i < m->nr_sweeps; i++)
		nr_whole += m->sweeps[i].whole;
	m->points_are_whole = nr_whole > 1;
	for (i = 0; i < m->nr_sweeps; i++)
		if (m->sweeps[i].whole || !m->points_are_whole)
			all[nr++] = m->sweeps[i].time_ns;
	qsort(all, nr, sizeof(*all), lifetimes_by_time);
	m->nr_points = MIN(nr, (size_t)LIFETIMES_POINTS);
	for (i = 0; i < m->nr_points; i++)
		m->points_ns[i] = m->nr_points > 1 ? all[i * (nr - 1) / (m->nr_points - 1)] : all[0];
	free(all);
}

static struct lifetime_class *lifetime_class_of(struct lifetimes *m, const struct lifetime *x)
{
	uint32_t *at = map_put(&m->class_of, (uint64_t)x->proc << 32 | x->class_name);

	if (*at == MAP_NONE) {
		VEC_GROW(m->classes, m->nr_classes, m->alloc_classes);
		*at = m->nr_classes;
		m->classes[m->nr_classes++] = (struct lifetime_class){
			.proc = x->proc, .pid = x->pid, .class_name = x->class_name,
		};
	}
	return &m->classes[*at];
}

static int by_last(const void *p, const void *q, void *ctx)
{
	const struct lifetime_class *a = p, *b = q;
	const struct lifetimes *m = ctx;
	size_t last = m->nr_points ? m->nr_points - 1 : 0;
	uint64_t x = a->live[last], y = b->live[last];

	return COMPARE(y, x) ?: COMPARE(a->class_name, b->class_name);
}

/* Return when its process was first looked at at that time or later; UINT64_MAX: never again. */
static uint64_t looked_at(const struct lifetimes *m, uint32_t proc, uint64_t time_ns)
{
	size_t at = time_ns == LIVES ? m->nr_sweeps : sweep_at(m, proc, time_ns);

	return is_of(m, at, proc) ? m->sweeps[at].time_ns : UINT64_MAX;
}

void lifetimes_by_class(struct lifetimes *m)
{
	struct lifetime_class *class;
	size_t i, k;

	choose_points(m);
	for (i = 0; i < m->nr; i++) {
		const struct lifetime *x = &m->all[i];
		uint64_t born_ns = x->died_ns == LIVES ? x->ns : x->died_ns - MIN(x->ns, x->died_ns);
		uint64_t from_ns = looked_at(m, x->proc, born_ns), to_ns = looked_at(m, x->proc, x->died_ns);

		for (k = 0, class = NULL; k < m->nr_points; k++) {
			if (m->points_ns[k] < from_ns || m->points_ns[k] >= to_ns)
				continue;
			class = class ? class : lifetime_class_of(m, x);
			class->live[k] += x->count;
		}
	}
	if (m->nr_classes)
		qsort_r(m->classes, m->nr_classes, sizeof(*m->classes), by_last, m);
}

/* ---- lengths ---- */

static int by_row_and_length(const void *p, const void *q)
{
	const struct lifetime *a = p, *b = q;

	return COMPARE(a->row, b->row) ?: COMPARE(a->ns, b->ns);
}

static int lifetimes_by_number(const void *p, const void *q)
{
	const struct lifetime_row *a = p, *b = q;

	return COMPARE(b->died, a->died) ?: COMPARE(a->class_name, b->class_name);
}

static void lifetimes_finish(struct lifetimes *m)
{
	uint64_t seen = 0;
	size_t i;

	if (m->nr_sweeps)
		qsort(m->sweeps, m->nr_sweeps, sizeof(*m->sweeps), by_proc_and_time);
	if (m->nr)
		qsort(m->all, m->nr, sizeof(*m->all), by_row_and_length);
	count_living(m);
	/* those that live are the last */
	for (i = 0; i < m->nr && m->all[i].died_ns != LIVES; i++) {
		const struct lifetime *x = &m->all[i];
		struct lifetime_row *r = &m->rows[x->row];
		uint64_t before, born_ns = x->died_ns - MIN(x->ns, x->died_ns);

		seen = i && x[-1].row == x->row ? seen + x->count : x->count;
		before = seen - x->count;
		if (before < (r->died + 1) / 2 && seen >= (r->died + 1) / 2)
			r->p50_ns = x->ns;
		if (before < r->died - r->died / 10 && seen >= r->died - r->died / 10)
			r->p90_ns = x->ns;
		if (sweep_before(m, r->proc, x->died_ns) <= born_ns)
			r->young += x->count;
	}
	for (i = 0; i < m->nr_rows; i++) {
		m->died += m->rows[i].died;
		m->young += m->rows[i].young;
	}
	if (m->nr_rows)
		qsort(m->rows, m->nr_rows, sizeof(*m->rows), lifetimes_by_number);
}

int lifetimes_read(struct lifetimes *m, struct trace_reader *t, const struct selection *s, struct err *e)
{
	static const struct trace_sink sink = {
		.samples = lifetimes_take_samples, .sweep = lifetimes_take_sweep
	};
	struct take take = { .m = m, .s = s };
	uint64_t real_ns;
	int r;

	memset(m, 0, sizeof(*m));
	trace_reader_start(t, &m->start_ns, &real_ns);
	r = names_read_texts(&m->names, &m->strings, t, e);
	if (r)
		return r;
	take.blame = (struct blame){ .names = &m->names, .what = BLAME_METHOD };
	take.lifetime = names_find_event(&m->names, "lifetime");
	take.died = names_find_event(&m->names, "died");
	take.live = names_find_event(&m->names, "live-objects");
	if (take.lifetime == UINT32_MAX || take.died == UINT32_MAX) {
		err_set(e, ENODATA, "lifetimes of objects were not recorded");
		err_hint(e, "arcprof record -e live,lifetime");
		return -ENODATA;
	}
	r = filter_new(&take.kept, &m->names, s->filter, t, e);
	if (!r)
		r = trace_read(t, &sink, &take, e);
	blame_release(&take.blame);
	filter_free(take.kept);
	free(take.whole_ns);
	if (!r)
		lifetimes_finish(m);
	return r;
}

void lifetimes_release(struct lifetimes *m)
{
	free(m->sweeps);
	free(m->classes);
	map_release(&m->class_of);
	free(m->all);
	free(m->rows);
	map_release(&m->row_of);
	names_release(&m->names);
	model_release(&m->strings);
}
