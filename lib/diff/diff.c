// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff.c - while runs are added, each keeps its values by nodes of its own tree, and where these are in the
 * union; diff_finish() lays them out by nodes of the final tree.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "diff/diff.h"
#include "diff/match.h"
#include "diff/size.h"

static const char *const sides[] = { "A", "B" };

void diff_init(struct diff *d, const char *metric, const struct same_opts *same)
{
	memset(d, 0, sizeof(*d));
	d->metric = metric;
	if (same)
		d->same = *same;
	union_init(&d->u, &d->m, &(struct union_opts){ sides, same_identify, &d->same });
}

static void release_input(struct diff_input *i)
{
	free(i->where);
	free(i->base);
	free(i->n);
	free(i->saved);
	flow_times_release(&i->times);
	memset(i, 0, sizeof(*i));
}

void diff_release(struct diff *d)
{
	size_t i;

	for (i = 0; i < d->nr_runs; i++) {
		struct diff_run *r = &d->runs[i];

		release_input(&r->input);
		free(r->base);
		free(r->cum);
		free(r->n);
		free(r->cum_n);
		free(r->saved);
		free(r->saved_n);
		free(r->samples);
		free(r->first_sample);
		free(r->block_total);
	}
	for (i = 0; i < DIFF_NR_SIDES; i++) {
		free(d->code_n[i]);
		free(d->inlined_n[i]);
	}
	free(d->runs);
	free(d->name);
	free(d->unit);
	free(d->last);
	free(d->was);
	union_release(&d->u);
	model_release(&d->m);
}

/* ---- adding a run ---- */

static int no_metric(const struct model *m, const char *name, struct err *e)
{
	struct buf b = BUF_INIT;

	model_put_metrics(m, &b);
	if (m->sources[0].kind == FLOW_CALLS)
		buf_str(&b, ", calls");
	err_set(e, EINVAL, "unknown metric '%s' (available: %s)", name, b.data);
	buf_release(&b);
	return -EINVAL;
}

/* A column of the model that is compared: a metric, or with is_n calls; source: whose n that is. */
struct chosen {
	bool is_n, exact;
	enum flow_n kind;
	unsigned int metric, source;
	const char *name, *unit;
};

static int choose(const struct diff *d, const struct model *m, struct chosen *c, struct err *e)
{
	const char *name = d->name ? d->name : d->metric ? d->metric : model_str(m, m->metrics[0].name);
	unsigned int i = model_metric(m, name);

	if (i == m->nr_shown && (m->sources[0].kind != FLOW_CALLS || strcmp(name, "calls")))
		return no_metric(m, name, e);
	*c = (struct chosen){ .is_n = i == m->nr_shown, .name = name };
	if (!c->is_n) {
		c->metric = i;
		c->name = model_str(m, m->metrics[i].name);
		c->source = m->metrics[i].source;
	}
	c->unit = c->is_n ? "calls" : model_str(m, m->metrics[i].unit);
	c->kind = m->sources[c->source].kind;
	c->exact = c->kind == FLOW_CALLS || c->kind == FLOW_OBJECTS;
	if (d->name && (c->exact != d->exact || c->is_n != d->of_calls))
		return err_set(e, EINVAL, "'%s' is %s here and %s in the first recording", name,
			       c->exact ? "exact" : "sampled", d->exact ? "exact" : "sampled");
	return 0;
}

static void note_inlined(struct diff *d, unsigned int side, const struct model *m,
			 const struct diff_input *in)
{
	size_t i, nr = d->u.m->consumers.nr_items;

	for (i = 0; i < DIFF_NR_SIDES && nr > d->nr_code; i++) {
		d->code_n[i] = xrealloc(d->code_n[i], nr * sizeof(uint64_t));
		d->inlined_n[i] = xrealloc(d->inlined_n[i], nr * sizeof(uint64_t));
		memset(d->code_n[i] + d->nr_code, 0, (nr - d->nr_code) * sizeof(uint64_t));
		memset(d->inlined_n[i] + d->nr_code, 0, (nr - d->nr_code) * sizeof(uint64_t));
	}
	d->nr_code = MAX(d->nr_code, nr);
	for (i = 1; i < in->nr; i++) {
		uint32_t c = d->u.flow.nodes[in->where[i]].consumer;

		d->code_n[side][c] += in->n[i];
		if (kind_is(m->consumers.items[m->flow.nodes[i].consumer].kind, KIND_INLINED))
			d->inlined_n[side][c] += in->n[i];
	}
}

static void keep_times(struct diff_input *in, const struct model *m, const struct chosen *c)
{
	size_t i;

	for (i = 0; i < m->times.nr_list && !c->exact; i++)
		if (m->times.list[i].metric == c->metric)
			flow_times_add(&in->times, &m->times.list[i]);
}

/*
 * Return what part of it the last compiler's code would have saved: that of C1 takes nearly twice as long, as
 * it counts for the last compiler, and the interpreter twenty times.
 */
static double saved_of(uint32_t kind)
{
	return kind == CONSUMER_JAVA_INTERPRETED ? .95 : kind == CONSUMER_JAVA_C1 ? .4 : 0;
}

static void keep_values(struct diff_run *r, const struct model *m, const struct chosen *c)
{
	struct diff_input *in = &r->input;
	size_t i;

	for (i = 1; i < in->nr; i++) {
		in->n[i] = model_node_n(m, c->source, i);
		in->base[i] = c->is_n ? in->n[i] : flow_base(&m->flow, i)[c->metric];
		in->saved[i] = saved_of(m->consumers.items[m->flow.nodes[i].consumer].kind);
		r->total += in->base[i];
		r->total_n += in->n[i];
	}
}

int diff_add(struct diff *d, unsigned int side, const struct model *m, const struct diff_about *about,
	     struct err *e)
{
	struct diff_run run = { .about = *about, .side = side };
	struct chosen c;
	int r = choose(d, m, &c, e);

	if (r)
		return r;
	run.input.nr = m->flow.nr_nodes;
	run.input.where = xcalloc(run.input.nr, sizeof(uint32_t));
	run.input.base = xcalloc(run.input.nr, sizeof(uint64_t));
	run.input.n = xcalloc(run.input.nr, sizeof(uint64_t));
	run.input.saved = xcalloc(run.input.nr, sizeof(double));
	if ((r = union_add(&d->u, m, side, run.input.where, e))) {
		release_input(&run.input);
		return r;
	}
	if (!d->name) {
		d->name = xstrdup(c.name);
		d->unit = xstrdup(c.unit);
		d->exact = c.exact;
		d->kind = c.kind;
		d->of_calls = c.is_n;
	}
	keep_values(&run, m, &c);
	keep_times(&run.input, m, &c);
	note_inlined(d, side, m, &run.input);
	VEC_GROW(d->runs, d->nr_runs, d->alloc_runs);
	d->runs[d->nr_runs++] = run;
	d->nr_of_side[side]++;
	d->has_jit |= about->has_jit;
	d->counts_unknown |= about->counts_unknown;
	return 0;
}

/* ---- the tree of all ---- */

/* Node i of the tree has become node to[i]. */
static void move(struct diff *d, const uint32_t *to)
{
	size_t i, k;

	for (i = 0; i < d->nr_runs; i++)
		for (k = 1; k < d->runs[i].input.nr; k++)
			d->runs[i].input.where[k] = to[d->runs[i].input.where[k]];
}

static void lay_out_values(struct diff_run *r, const struct flow *f)
{
	size_t i;

	r->base = xcalloc(f->nr_nodes, sizeof(*r->base));
	r->n = xcalloc(f->nr_nodes, sizeof(*r->n));
	r->saved = xcalloc(f->nr_nodes, sizeof(*r->saved));
	r->saved_n = xcalloc(f->nr_nodes, sizeof(*r->saved_n));
	for (i = 1; i < r->input.nr; i++) {
		uint32_t to = r->input.where[i];

		r->base[to] += r->input.base[i];
		r->n[to] += r->input.n[i];
		r->saved[to] += r->input.saved[i] * r->input.base[i];
		r->saved_n[to] += r->input.saved[i] * r->input.n[i];
	}
	r->cum = xmalloc(f->nr_nodes * sizeof(*r->cum));
	r->cum_n = xmalloc(f->nr_nodes * sizeof(*r->cum_n));
	memcpy(r->cum, r->base, f->nr_nodes * sizeof(*r->cum));
	memcpy(r->cum_n, r->n, f->nr_nodes * sizeof(*r->cum_n));
	for (i = f->nr_nodes; --i > 0;) {
		r->cum[f->nodes[i].parent] += r->cum[i];
		r->cum_n[f->nodes[i].parent] += r->cum_n[i];
	}
}

static int compare_samples(const void *p, const void *q)
{
	const struct diff_sample *a = p, *b = q;

	return a->node < b->node ? -1 : a->node > b->node;
}

static int compare_times(const void *p, const void *q)
{
	const struct flow_time *a = p, *b = q;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Blocks of equal numbers of samples: a run may have been idle for a while. */
static void lay_out_samples(struct diff_run *r, const struct flow *f)
{
	const struct flow_times *t = &r->input.times;
	size_t i, k;

	if (!t->nr_list)
		return;
	qsort(t->list, t->nr_list, sizeof(*t->list), compare_times);
	r->samples = xmalloc(t->nr_list * sizeof(*r->samples));
	r->block_total = xcalloc(DIFF_NR_BLOCKS, sizeof(*r->block_total));
	for (i = 0; i < t->nr_list; i++) {
		uint32_t block = i * DIFF_NR_BLOCKS / t->nr_list;

		r->samples[r->nr_samples++] = (struct diff_sample){ r->input.where[t->list[i].node], block,
			t->list[i].weight };
		r->block_total[block] += t->list[i].weight;
	}
	qsort(r->samples, r->nr_samples, sizeof(*r->samples), compare_samples);
	r->first_sample = xmalloc((f->nr_nodes + 1) * sizeof(*r->first_sample));
	for (i = k = 0; i <= f->nr_nodes; i++) {
		while (k < r->nr_samples && r->samples[k].node < i)
			k++;
		r->first_sample[i] = k;
	}
}

static void find_last(struct diff *d)
{
	const struct flow *f = &d->m.flow;
	size_t i;

	d->last = xmalloc(f->nr_nodes * sizeof(*d->last));
	for (i = 0; i < f->nr_nodes; i++)
		d->last[i] = i;
	for (i = f->nr_nodes; --i > 0;)
		d->last[f->nodes[i].parent] = MAX(d->last[f->nodes[i].parent], d->last[i]);
}

void diff_finish(struct diff *d)
{
	struct flow *f = &d->m.flow;
	uint32_t *to;
	size_t i;

	assert(d->nr_of_side[DIFF_A] && d->nr_of_side[DIFF_B]);
	union_finish(&d->u);
	d->was = xcalloc(d->m.consumers.nr_items, sizeof(*d->was));
	to = xcalloc(f->nr_nodes, sizeof(*to));
	if (match_consumers(d, to))
		move(d, to);
	free(to);
	to = xcalloc(f->nr_nodes, sizeof(*to));
	flow_renumber(f, to);
	flow_finish(f);
	move(d, to);
	free(to);
	find_last(d);
	for (i = 0; i < d->nr_runs; i++) {
		lay_out_values(&d->runs[i], f);
		lay_out_samples(&d->runs[i], f);
		release_input(&d->runs[i].input);
	}
	size_find(d);
}

uint64_t diff_side_total(const struct diff *d, unsigned int side)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < d->nr_runs; i++)
		total += d->runs[i].side == side ? d->runs[i].total : 0;
	return total;
}
