// SPDX-License-Identifier: GPL-2.0-or-later
/* leaks.c - finds what keeps more and more live objects (leaks.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dist.h"
#include "base/mem.h"
#include "model/blame.h"
#include "model/filter.h"
#include "model/leaks.h"

enum { NR_PARTS = 16, NR_QUARTERS = 4, QUARTERS_THAT_GROW = 3 };

enum { FEW = 100 };	/* samples: what has few of these, as places that grow do, is not told from chance */

static const double CONFIDENT = .95;

struct leak_object {
	uint64_t born_ns, died_ns;	/* UINT64_MAX: it is left */
	uint64_t weight;
	uint32_t row;
};

struct leak_process {
	uint32_t number;
	uint64_t first_ns;		/* of an object */
	uint32_t pauses_before;		/* of the recording, in a segment that is not its first */
	struct sweep {
		uint64_t time_ns;
		uint32_t pauses;
	} *sweeps;			/* by time */
	size_t nr_sweeps, alloc_sweeps;
	uint64_t known_ns, whole_ns, interval;
	uint64_t totals_ns;		/* when the JVM had counted all objects; 0: never */
};

struct leak_class {			/* of a process */
	uint64_t bytes;			/* as the JVM counts them */
	double estimate, variance;
};

struct take {
	struct leaks *m;
	const struct selection *s;
	struct filter *kept;
	struct blame blame;
	uint32_t live, survived, freed, unknown;	/* events */
	/* an object whose end is in the next sample */
	struct rec_sample begun;
	bool has_begun;
};

/* ---- what the trace says ---- */

static struct leak_process *leak_process_of(struct leaks *m, uint32_t number)
{
	uint32_t *at = map_put(&m->process_of, number);

	if (*at == MAP_NONE) {
		VEC_GROW(m->processes, m->nr_processes, m->alloc_processes);
		*at = m->nr_processes;
		m->processes[m->nr_processes++] = (struct leak_process){
			.number = number, .first_ns = UINT64_MAX, .interval = m->interval };
	}
	return &m->processes[*at];
}

static int leaks_take_sweep(void *ctx, const struct rec_sweep *r)
{
	struct take *t = ctx;
	struct leak_process *p = leak_process_of(t->m, r->proc);

	*VEC_ADD(p->sweeps, p->nr_sweeps, p->alloc_sweeps) = (struct sweep){ r->time_ns, r->pauses };
	p->known_ns = MAX(p->known_ns, r->known_ns);
	p->whole_ns = MAX(p->whole_ns, r->whole_ns);
	p->interval = MAX(p->interval, r->interval);
	return 0;
}

static uint64_t class_key(const char *name, size_t len, uint32_t proc)
{
	return hash_pair(hash_bytes(name, len), proc);
}

static int take_class_total(void *ctx, const struct rec_class_total *r)
{
	struct take *t = ctx;
	struct leaks *m = t->m;
	uint32_t *at = map_put(&m->class_of, class_key(r->name, r->name_len, r->proc));
	struct leak_process *p = leak_process_of(m, r->proc);

	if (*at == MAP_NONE) {
		VEC_GROW(m->classes, m->nr_classes, m->alloc_classes);
		*at = m->nr_classes;
		m->classes[m->nr_classes++] = (struct leak_class){ 0 };
	}
	/* two of one name, of two loaders */
	m->classes[*at].bytes += MIN(r->bytes, UINT64_MAX - m->classes[*at].bytes);
	p->whole_ns = MAX(p->whole_ns, r->time_ns);
	p->known_ns = MAX(p->known_ns, r->time_ns);
	p->totals_ns = MAX(p->totals_ns, r->time_ns);
	m->totals_ns = MAX(m->totals_ns, r->time_ns);
	return 0;
}

static uint32_t leak_row_of(struct leaks *m, uint32_t proc, uint32_t pid, struct blamed p)
{
	uint64_t key = hash_pair((uint64_t)p.leaf << 32 | p.site, proc);
	uint32_t *at = map_put(&m->row_of, key);

	if (*at == MAP_NONE) {
		VEC_GROW(m->rows, m->nr_rows, m->alloc_rows);
		*at = m->nr_rows;
		m->rows[m->nr_rows++] = (struct leak_row){
			.proc = proc, .pid = pid, .class_name = p.leaf, .site = p.site };
	}
	return *at;
}

static void add_object(struct take *t, const struct rec_sample *s, uint64_t died_ns,
		       const struct stack_epoch *ep)
{
	struct leaks *m = t->m;
	struct leak_process *process;
	uint32_t proc, pid, row;

	if (!blame_selected(&m->names, t->s, s->thread, &proc, &pid))
		return;
	if (!filter_wants_sample(t->kept, s, ep)) {
		m->nr_left_out++;
		return;
	}
	process = leak_process_of(m, proc);
	process->first_ns = MIN(process->first_ns, s->time_ns);
	row = leak_row_of(m, proc, pid, blame_stack(&t->blame, s, ep));
	*VEC_ADD(m->objects, m->nr_objects, m->alloc_objects) =
		(struct leak_object){ s->time_ns, died_ns, s->weight, row };
}

/* Add a sample that no collection has decided yet. */
static void add_unknown(struct take *t, const struct rec_sample *s, const struct stack_epoch *ep)
{
	struct leaks *m = t->m;
	uint32_t proc, pid, row;

	if (!blame_selected(&m->names, t->s, s->thread, &proc, &pid) ||
	    !filter_wants_sample(t->kept, s, ep))
		return;
	row = leak_row_of(m, proc, pid, blame_stack(&t->blame, s, ep));
	m->rows[row].unknown += (double)s->weight;
	/* the interval is known when all has been read: leaks_finish() */
	*VEC_ADD(m->unknowns, m->nr_unknowns, m->alloc_unknowns) =
		(struct leak_object){ s->time_ns, UINT64_MAX, s->weight, row };
	m->unknown += (double)s->weight;
}

/*
 * Take samples. A dead object has two, one after the other: when it was allocated, and when it was found
 * dead.
 */
static int leaks_take_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct take *t = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct rec_sample *b = &t->begun;

		if (s[i].event == t->live) {
			add_object(t, &s[i], UINT64_MAX, ep);
		} else if (s[i].event == t->unknown) {
			add_unknown(t, &s[i], ep);
		} else if (s[i].event == t->survived) {
			t->m->nr_unpaired += t->has_begun;
			t->begun = s[i];
			t->has_begun = true;
		} else if (s[i].event == t->freed && t->has_begun && b->weight == s[i].weight &&
			   b->thread == s[i].thread && b->time_ns <= s[i].time_ns) {
			add_object(t, b, s[i].time_ns, ep);
			t->has_begun = false;
		} else if (s[i].event == t->freed) {
			t->m->nr_unpaired++;
		}
	}
	return 0;
}

/* ---- growth ---- */

static int by_sweep_time(const void *p, const void *q)
{
	const struct sweep *a = p, *b = q;

	return COMPARE(a->time_ns, b->time_ns);
}

/* Return how many pauses there had been. */
static uint32_t pauses_at(const struct leak_process *p, uint64_t time_ns)
{
	size_t lo = BISECT(i, p->nr_sweeps, p->sweeps[i].time_ns <= time_ns);

	return lo ? p->sweeps[lo - 1].pauses : p->pauses_before;
}

/* The changes of a row until a time. */
struct change {
	uint64_t begin_ns, middle_ns, end_ns;
	uint64_t came, went, left;		/* left: of all that came in the whole time */
	double bytes, variance;
	int64_t quarters[NR_QUARTERS];		/* samples that came, less those that went */
	uint64_t parts[NR_PARTS];		/* of the whole time: the first that is left of it; 0: none */
};

static unsigned int change_part(const struct change *c, uint64_t from_ns, uint64_t time_ns, unsigned int nr)
{
	double at = (double)(time_ns - from_ns) / (double)MAX(c->end_ns - from_ns, (uint64_t)1) * nr;

	return at >= nr ? nr - 1 : (unsigned int)at;
}

static void add_change(struct change *c, const struct leak_object *o, double interval)
{
	bool left = o->died_ns == UINT64_MAX, first = o->born_ns <= c->middle_ns;
	uint64_t *part;

	if (o->born_ns > c->end_ns || o->born_ns < c->begin_ns)
		return;
	c->left += left;
	if (left) {
		part = &c->parts[change_part(c, c->begin_ns, o->born_ns, NR_PARTS)];
		*part = *part ? MIN(*part, o->born_ns) : o->born_ns;
	}
	if (left == first || (first && o->died_ns <= c->middle_ns))
		return;
	c->came += left;
	c->went += !left;
	c->bytes += left ? (double)o->weight : -(double)o->weight;
	c->variance += growth_variance(o->weight, interval);
	c->quarters[change_part(c, c->middle_ns, left ? o->born_ns : MIN(o->died_ns, c->end_ns),
				NR_QUARTERS)] +=
		left ? 1 : -1;
}

/*
 * start_ns: a trace that is a segment of a recording has what was there by then, and not what had gone, so
 * that nothing can be compared with a time before.
 */
static struct change change_until(const struct leak_process *p, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t begin_ns = MIN(p->first_ns, end_ns), middle_ns = begin_ns + (end_ns - begin_ns) / 2;

	return (struct change){ .begin_ns = begin_ns, .middle_ns = MIN(MAX(middle_ns, start_ns), end_ns),
				.end_ns = end_ns };
}

static bool keeps_growing(const struct change *c)
{
	int i, nr = 0;

	for (i = 0; i < NR_QUARTERS; i++)
		nr += c->quarters[i] > 0;
	return nr >= QUARTERS_THAT_GROW;
}

/* Return when what is left began to come, without a gap until the end that is longer than chance explains. */
static uint64_t change_since(const struct change *c)
{
	enum { EXPECTED = 4 };		/* samples in a gap: then chance leaves it empty with exp(-4) */
	uint64_t gap = MAX((uint64_t)2, NR_PARTS * EXPECTED / MAX(c->left, (uint64_t)1)), empty = 0;
	uint64_t at = c->end_ns;
	int i;

	for (i = NR_PARTS - 1; i >= 0 && empty < gap; i--) {
		empty = c->parts[i] ? 0 : empty + 1;
		at = c->parts[i] ? c->parts[i] : at;
	}
	return at;
}

static void set_growth(struct leak_row *r, const struct change *c, const struct leak_process *p,
		       enum leak_grows grows, double confidence, uint64_t start_ns)
{
	double s = (double)(c->end_ns - c->middle_ns) / 1e9;
	uint32_t pauses = pauses_at(p, c->end_ns) - pauses_at(p, c->middle_ns);
	struct growth_range range;

	r->came = c->came;
	r->went = c->went;
	if (confidence < CONFIDENT || !keeps_growing(c) || c->bytes <= 0 || s <= 0)
		return;
	range = growth_range(c->bytes, c->variance);
	r->grows = grows;
	r->confidence = confidence;
	r->a_second = c->bytes / s;
	r->a_second_range = (struct growth_range){ range.low / s, range.high / s };
	r->a_collection = pauses ? c->bytes / pauses : NAN;
	r->since_ns = change_since(c) - MIN(change_since(c), start_ns);
}

/*
 * Compares all rows, each until the end that its process has. whole: those times until which the old were
 * looked at.
 */
static void leaks_compare_rows(struct leaks *m, bool whole, uint64_t start_ns)
{
	struct change *changes = xcalloc(m->nr_rows, sizeof(*changes));
	double *p = xcalloc(m->nr_rows, sizeof(*p)), *q = xcalloc(m->nr_rows, sizeof(*q));
	size_t i;

	for (i = 0; i < m->nr_rows; i++) {
		const struct leak_process *x = leak_process_of(m, m->rows[i].proc);

		changes[i] = change_until(x, start_ns, whole ? x->whole_ns : x->known_ns);
	}
	for (i = 0; i < m->nr_objects; i++)
		add_change(&changes[m->objects[i].row], &m->objects[i],
			   (double)leak_process_of(m, m->rows[m->objects[i].row].proc)->interval);
	for (i = 0; i < m->nr_rows; i++)
		p[i] = growth_chance(changes[i].came, changes[i].went);
	dist_fdr(p, q, m->nr_rows);
	for (i = 0; i < m->nr_rows; i++)
		/* what was seen to go is not a leak for what nothing has looked at since */
		if (m->rows[i].grows == LEAK_NO && !m->rows[i].went)
			set_growth(&m->rows[i], &changes[i], leak_process_of(m, m->rows[i].proc),
				   whole ? LEAK_YES : LEAK_MAYBE, 1 - q[i], start_ns);
	free(changes);
	free(p);
	free(q);
}

/* ---- what is left ---- */

static int by_row_and_birth(const void *p, const void *q)
{
	const struct leak_object *a = p, *b = q;

	return COMPARE(a->row, b->row) ?: COMPARE(a->born_ns, b->born_ns);
}

/* Return whether the object was left when the totals were counted, or else in the end. */
static bool leaks_is_left(const struct leak_process *p, const struct leak_object *o)
{
	return o->died_ns == UINT64_MAX && (!p->totals_ns || o->born_ns <= p->totals_ns);
}

static uint32_t pauses_between(const struct leak_process *p, uint64_t from_ns, uint64_t to_ns)
{
	if (p->pauses_before && from_ns < p->sweeps[0].time_ns)
		return LEAK_PAUSES_UNKNOWN;
	return pauses_at(p, to_ns) - pauses_at(p, from_ns);
}

/* Add the objects of one row, by birth. */
static void add_left(struct leaks *m, struct leak_row *r, const struct leak_object *o, size_t nr)
{
	const struct leak_process *p = leak_process_of(m, r->proc);
	uint64_t last_ns = p->nr_sweeps ? p->sweeps[p->nr_sweeps - 1].time_ns : 0;
	uint64_t end_ns = p->totals_ns ? p->totals_ns : last_ns, seen = 0;
	double variance = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint64_t age_ns = end_ns - MIN(end_ns, o[i].born_ns);

		if (!leaks_is_left(p, &o[i]))
			continue;
		if (!r->n++) {
			r->oldest_ns = age_ns;
			r->oldest_pauses = pauses_between(p, o[i].born_ns, end_ns);
		}
		r->bytes += (double)o[i].weight;
		variance += growth_variance(o[i].weight, (double)p->interval);
		growth_ages_add(m->ages, age_ns, o[i].weight);
	}
	for (i = 0; i < nr && seen <= r->n / 2; i++) {
		seen += leaks_is_left(p, &o[i]);
		r->median_ns = end_ns - MIN(end_ns, o[i].born_ns);
	}
	r->variance = variance;
	r->range = growth_range(r->bytes, variance);
	m->bytes += r->bytes;
	m->n += r->n;
}

static void add_all_left(struct leaks *m)
{
	size_t i, first = 0;

	growth_ages_init(m->ages);
	if (m->nr_objects)
		qsort(m->objects, m->nr_objects, sizeof(*m->objects), by_row_and_birth);
	for (i = 1; i <= m->nr_objects; i++) {
		if (i < m->nr_objects && m->objects[i].row == m->objects[first].row)
			continue;
		add_left(m, &m->rows[m->objects[first].row], &m->objects[first], i - first);
		first = i;
	}
}

/* Return whether only some threads or times are selected: what the JVM counted is of all. */
static bool is_of_some(const struct selection *s)
{
	return selection_wants(s) & (SELECT_TID | SELECT_THREAD) ||
	       (s->filter && s->filter->has & (RULES_OF_THREADS | RULE_BIT(RULE_PHASE)));
}

static struct leak_class *leak_class_of(struct leaks *m, const struct leak_row *r)
{
	const char *name = consumer_name(&m->strings.consumers, r->class_name);
	uint32_t at = map_get(&m->class_of, class_key(name, strlen(name), r->proc));

	return !r->class_name || at == MAP_NONE ? NULL : &m->classes[at];
}

/* Return the variance of the row's share of its class, of which the rest is independent (delta method). */
static double share_variance(const struct leak_row *r, const struct leak_class *c)
{
	double rest = c->estimate - r->bytes, rest_variance = c->variance - r->variance;

	return (rest * rest * r->variance + r->bytes * r->bytes * MAX(rest_variance, 0.)) /
	       pow(c->estimate, 4);
}

static void scale(struct leak_row *r, const struct leak_class *c)
{
	const double exact = (double)c->bytes, share = c->estimate > 0 ? r->bytes / c->estimate : 0;

	r->class_bytes = exact;
	if (share <= 0 || fabs(exact - c->estimate) > 3 * sqrt(c->variance))
		return;
	r->scaled = true;
	r->range = growth_range(exact * share, exact * exact * share_variance(r, c));
	r->range.high = MIN(r->range.high, exact);
	r->bytes = exact * share;
}

static void scale_to_classes(struct leaks *m, const struct selection *s)
{
	struct leak_class *c;
	size_t i;

	for (i = 0; i < m->nr_rows; i++)
		m->rows[i].class_bytes = NAN;
	for (i = 0; i < m->nr_rows && !is_of_some(s); i++) {
		if (!(c = leak_class_of(m, &m->rows[i])))
			continue;
		c->estimate += m->rows[i].bytes;
		c->variance += m->rows[i].variance;
	}
	for (i = 0; i < m->nr_rows && !is_of_some(s); i++)
		if ((c = leak_class_of(m, &m->rows[i])))
			scale(&m->rows[i], c);
}

/*
 * Estimates say what is known to live; upper bounds say what may. When JVMs had counted their objects, these
 * were not there.
 */
static void add_unknowns(struct leaks *m)
{
	double variance = 0, unknown_variance = 0;
	size_t i;

	for (i = 0; i < m->nr_unknowns; i++) {
		struct leak_row *r = &m->rows[m->unknowns[i].row];
		double v = growth_variance(m->unknowns[i].weight,
					   (double)leak_process_of(m, r->proc)->interval);

		r->unknown_variance += v;
		unknown_variance += v;
	}
	for (i = 0; i < m->nr_rows; i++) {
		struct leak_row *r = &m->rows[i];

		variance += r->variance;
		if (r->unknown > 0 && !r->scaled)
			r->range.high = growth_range(r->bytes + r->unknown,
						     r->variance + r->unknown_variance).high;
	}
	m->range.low = growth_range(m->bytes, variance).low;
	m->range.high = growth_range(m->bytes + m->unknown, variance + unknown_variance).high;
	/* that nothing was sampled does not say that there is nothing */
	if (m->bytes + m->unknown <= 0)
		m->range.high = -log(.025) * (double)m->interval;
}

static int by_growth(const void *p, const void *q, void *ctx)
{
	const struct leak_row *a = p, *b = q;
	const struct leaks *m = ctx;
	const struct consumers *names = &m->strings.consumers;

	return COMPARE(b->grows, a->grows) ?: COMPARE(b->a_second, a->a_second) ?:
	       COMPARE(b->bytes, a->bytes) ?:
	       strcmp(consumer_name(names, a->class_name), consumer_name(names, b->class_name)) ?:
	       strcmp(consumer_name(names, a->site), consumer_name(names, b->site));
}

static void leaks_finish(struct leaks *m, const struct selection *s, uint64_t start_ns)
{
	size_t i;

	for (i = 0; i < m->nr_processes; i++) {
		struct leak_process *p = &m->processes[i];

		if (p->nr_sweeps)
			qsort(p->sweeps, p->nr_sweeps, sizeof(*p->sweeps), by_sweep_time);
		if (p->nr_sweeps && p->sweeps[0].time_ns < start_ns)
			p->pauses_before = p->sweeps[0].pauses;
		m->pauses += p->nr_sweeps ? p->sweeps[p->nr_sweeps - 1].pauses - p->pauses_before : 0;
		m->interval = MAX(m->interval, p->interval);
		if (p->first_ns == UINT64_MAX)
			continue;
		m->compared_ns = MAX(m->compared_ns,
				     p->known_ns - MIN(p->known_ns, MAX(p->first_ns, start_ns)));
		m->whole_ns = MAX(m->whole_ns, p->whole_ns - MIN(p->whole_ns, start_ns));
	}
	m->totals_ns -= MIN(m->totals_ns, start_ns);
	add_all_left(m);
	scale_to_classes(m, s);
	add_unknowns(m);
	leaks_compare_rows(m, true, start_ns);
	leaks_compare_rows(m, false, start_ns);
	if (m->nr_rows)
		qsort_r(m->rows, m->nr_rows, sizeof(*m->rows), by_growth, m);
	for (i = 0; i < m->nr_rows; i++) {
		m->nr_growing += m->rows[i].grows == LEAK_YES;
		m->nr_maybe += m->rows[i].grows == LEAK_MAYBE;
	}
}

int leaks_read(struct leaks *m, struct trace_reader *t, const struct selection *s,
	       const struct leaks_opts *opts, struct err *e)
{
	static const struct trace_sink sink = { .samples = leaks_take_samples, .sweep = leaks_take_sweep,
						.class_total = take_class_total };
	struct take take = { .m = m, .s = s };
	const char *interval;
	uint64_t start_ns, real_ns;
	int r;

	memset(m, 0, sizeof(*m));
	trace_reader_start(t, &start_ns, &real_ns);
	r = names_read_texts(&m->names, &m->strings, t, e);
	if (r)
		return r;
	take.blame = (struct blame){ .names = &m->names, .library = opts->library,
		.what = opts->by_class ? BLAME_NOBODY : BLAME_METHOD };
	take.live = names_find_event(&m->names, "live");
	take.survived = names_find_event(&m->names, "survived");
	take.freed = names_find_event(&m->names, "freed");
	take.unknown = names_find_event(&m->names, "live-unknown");
	if (take.live == UINT32_MAX) {
		err_set(e, ENODATA, "live objects were not recorded");
		err_hint(e, "arcprof record -e live");
		return -ENODATA;
	}
	interval = names_event(&m->names, take.live, ".interval");
	/* the agent may have chosen a larger one */
	m->interval = interval ? strtoull(interval, NULL, 10) : 0;
	r = filter_new(&take.kept, &m->names, s->filter, t, e);
	if (!r)
		r = trace_read(t, &sink, &take, e);
	m->nr_unpaired += take.has_begun;
	blame_release(&take.blame);
	filter_free(take.kept);
	if (take.unknown == UINT32_MAX)		/* an older trace */
		m->unknown = (double)names_label_u64(&m->names, "live.unknown_bytes");
	if (!r)
		leaks_finish(m, s, start_ns);
	return r;
}

enum leaks_lack leaks_lack(const struct leaks *m)
{
	if (!m->compared_ns && (m->n || m->unknown > 0))
		return LEAKS_LACK_COLLECTION;
	if (m->nr_growing + m->nr_maybe)
		return m->whole_ns ? LEAKS_LACK_NOTHING : LEAKS_LACK_LOOK;
	return m->n < FEW && m->interval ? LEAKS_LACK_SAMPLES : LEAKS_LACK_NOTHING;
}

void leaks_release(struct leaks *m)
{
	size_t i;

	for (i = 0; i < m->nr_processes; i++)
		free(m->processes[i].sweeps);
	free(m->processes);
	free(m->classes);
	map_release(&m->class_of);
	free(m->objects);
	free(m->unknowns);
	free(m->rows);
	map_release(&m->row_of);
	map_release(&m->process_of);
	names_release(&m->names);
	model_release(&m->strings);
}
