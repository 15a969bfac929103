// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls.c - gathers the trees of a trace and hangs them below their threads.
 *
 * The trace may be damaged: a node without a definition, or whose parents lead in a circle,
 * stands below [unwalkable: damaged part of the trace] of its thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/ops.h"
#include "report/calls.h"

enum { MAX_TREE_NODES = 1 << 28, GROW_NODES = 64 };

static struct call_tree_data *get_tree(struct calls *c, uint32_t number)
{
	uint32_t *at = map_put(&c->tree_of, number);

	if (*at == MAP_NONE) {
		*at = c->nr_trees;
		VEC_GROW(c->trees, c->nr_trees, c->alloc_trees);
		memset(&c->trees[c->nr_trees++], 0, sizeof(*c->trees));
	}
	return &c->trees[*at];
}

/* Numbers come without gaps: more than one record may define is a gap that damage made. */
static bool grow_tree(struct calls *c, struct call_tree_data *t, uint64_t nr)
{
	size_t width = 1 + c->nr_metrics, alloc;

	if (nr > MAX_TREE_NODES || nr > t->nr_nodes + (16u << 20))
		return false;
	if (nr > t->alloc_nodes) {
		alloc = MAX(nr, MAX(t->alloc_nodes * 2, (size_t)GROW_NODES));
		t->nodes = xrealloc(t->nodes, alloc * sizeof(*t->nodes));
		t->values = xrealloc(t->values, alloc * width * sizeof(*t->values));
		memset(t->nodes + t->alloc_nodes, 0xff, (alloc - t->alloc_nodes) * sizeof(*t->nodes));
		memset(t->values + t->alloc_nodes * width, 0, (alloc - t->alloc_nodes) * width * sizeof(*t->values));
		t->alloc_nodes = alloc;
	}
	t->nr_nodes = MAX(t->nr_nodes, (size_t)nr);
	return true;
}

static int take_consumer(void *ctx, const struct rec_call_consumer *r)
{
	struct calls *c = ctx;
	size_t nr;

	if (r->consumer >= c->nr_frames) {
		if (r->consumer > c->nr_frames + (1u << 20))
			return 0;
		nr = MAX((size_t)r->consumer + 1, c->nr_frames * 2);
		c->frames = xrealloc(c->frames, nr * sizeof(*c->frames));
		memset(c->frames + c->nr_frames, 0, (nr - c->nr_frames) * sizeof(*c->frames));
		c->nr_frames = nr;
	}
	c->frames[r->consumer] = r->frame;
	return 0;
}

static int take_tree(void *ctx, const struct rec_call_tree *r)
{
	struct calls *c = ctx;
	struct call_tree_data *t = get_tree(c, r->tree);

	t->r = *r;
	t->r.name = arena_strndup(&c->p->names.text, r->name, r->name_len);
	return 0;
}

static int take_nodes(void *ctx, const struct rec_call_nodes *r)
{
	struct calls *c = ctx;
	struct call_tree_data *t = get_tree(c, r->tree);

	if (grow_tree(c, t, (uint64_t)r->first + r->nr))
		memcpy(t->nodes + r->first, r->nodes, r->nr * sizeof(*r->nodes));
	return 0;
}

static bool in_window(const struct profile *p, uint64_t time_ns)
{
	return (!p->o.from_ns || time_ns >= p->start_ns + p->o.from_ns) &&
	       (!p->o.to_ns || time_ns < p->start_ns + p->o.to_ns);
}

static int take_values(void *ctx, const struct rec_call_values *r)
{
	struct calls *c = ctx;
	struct call_tree_data *t = get_tree(c, r->tree);
	size_t width = 1 + c->nr_metrics;
	uint32_t i, m;

	c->p->last_ns = MAX(c->p->last_ns, r->time_ns);
	for (i = 0; i < r->nr; i++) {
		const struct call_value *v = &r->values[i];
		uint64_t *sum;

		c->p->nr_read += v->calls;
		if (!in_window(c->p, r->time_ns) || !grow_tree(c, t, (uint64_t)v->node + 1))
			continue;
		sum = t->values + v->node * width;
		sum[0] += v->calls;
		for (m = 0; m < r->nr_metrics && m < c->nr_metrics; m++)
			sum[1 + m] += v->base[m];
	}
	return 0;
}

/* --- building --- */

void calls_thread(struct calls *c, uint32_t number, uint32_t *process, uint32_t *thread)
{
	const struct rec_call_tree *r = &get_tree(c, number)->r;
	struct names *x = &c->p->names;
	uint32_t proc, at;

	*thread = names_thread(x, r->thread, &proc);
	if (!r->thread || r->name_len || r->flags & CALL_TREE_VIRTUAL) {
		struct consumer k = { .kind = CONSUMER_THREAD };

		at = map_get(&x->proc_of, r->proc);
		k.name = strtab_adds(&x->m->consumers.names, r->name_len ? r->name : "[no name]");
		if (r->thread && !(r->flags & CALL_TREE_VIRTUAL))
			k.key = x->m->consumers.items[*thread].key;
		else
			k.key = names_pair(at == MAP_NONE ? 0 : x->procs[at].pid, r->java_id);
		*thread = consumer_add(&x->m->consumers, &k);
		proc = r->proc;
	}
	*process = names_process(x, proc ? proc : r->proc);
}

static uint32_t tree_root(struct calls *c, uint32_t number)
{
	struct flow *f = &c->p->m->flow;
	uint32_t process, thread;

	calls_thread(c, number, &process, &thread);
	return flow_child(f, flow_child(f, FLOW_NONE, process), thread);
}

/* What is inlined at the first instruction is not called by that name. */
uint32_t calls_consumer(struct calls *c, uint32_t consumer)
{
	struct names *x = &c->p->names;
	const struct resolved *r;
	uint32_t at;

	if (consumer >= c->nr_frames || c->frames[consumer].kind == FRAME_NONE)
		return c->damaged;
	if (c->nr_consumers < c->nr_frames) {
		c->consumers = xrealloc(c->consumers, c->nr_frames * sizeof(*c->consumers));
		memset(c->consumers + c->nr_consumers, 0,
		       (c->nr_frames - c->nr_consumers) * sizeof(*c->consumers));
		c->nr_consumers = c->nr_frames;
	}
	if (!c->consumers[consumer]) {
		at = names_resolve(x, &c->frames[consumer], 0);
		r = &x->frames[at];
		c->consumers[consumer] = r->nr ? x->levels[r->first].consumer : c->damaged;
	}
	return c->consumers[consumer];
}

enum { NOT_PLACED = UINT32_MAX, BEING_PLACED = UINT32_MAX - 1 };

/* Where node i of the tree goes in the model; to[] knows what was placed. chain has room for all nodes. */
static uint32_t place(struct calls *c, const struct call_tree_data *t, uint32_t i, uint32_t *to, uint32_t *chain)
{
	struct flow *f = &c->p->m->flow;
	size_t nr = 0;
	uint32_t at;

	while (to[i] == NOT_PLACED) {
		to[i] = BEING_PLACED;
		chain[nr++] = i;
		i = t->nodes[i].parent;
		if (i >= t->nr_nodes)
			break;
	}
	if (i >= t->nr_nodes || to[i] == BEING_PLACED)
		at = flow_child(f, to[0], c->damaged);
	else
		at = to[i];
	while (nr) {
		i = chain[--nr];
		if (t->nodes[i].consumer || t->nodes[i].parent)
			at = flow_child(f, at, calls_consumer(c, t->nodes[i].consumer));
		to[i] = at;
	}
	return at;
}

static void build_tree(struct calls *c, struct call_tree_data *t)
{
	struct flow *f = &c->p->m->flow;
	uint32_t *to, *chain, i;

	if (!t->nr_nodes)
		return;
	to = xmalloc(t->nr_nodes * sizeof(*to));
	chain = xmalloc(t->nr_nodes * sizeof(*chain));
	memset(to, 0xff, t->nr_nodes * sizeof(*to));
	to[0] = tree_root(c, t->r.tree);
	for (i = 1; i < t->nr_nodes; i++) {
		const uint64_t *v = t->values + i * (1 + c->nr_metrics);
		unsigned int m;
		bool any = v[0];

		for (m = 0; m < c->nr_metrics; m++)
			any |= v[1 + m];
		if (any)
			flow_add(f, place(c, t, i, to, chain), v[0], c->nr_metrics ? v + 1 : v);
	}
	f->repairs.inserted += t->r.inserted;
	f->repairs.popped += t->r.popped;
	f->repairs.closed += t->r.open;
	f->repairs.backwards += t->r.over_range;
	free(to);
	free(chain);
}

static void set_metrics(struct calls *c)
{
	const struct names *x = &c->p->names;
	char key[48];

	while (c->nr_metrics < CALL_MAX_METRICS) {
		snprintf(key, sizeof(key), "call.metric.%u", c->nr_metrics);
		if (!names_label(x, key))
			break;
		c->nr_metrics++;
	}
	flow_release(&c->p->m->flow);
	flow_init(&c->p->m->flow, MAX(c->nr_metrics, 1u), FLOW_CALLS);
	if (!c->nr_metrics)
		model_set_metric(c->p->m, 0, "calls", 5, "calls", 5);	/* then calls are what is consumed */
}

static void name_metrics(struct calls *c)
{
	const struct names *x = &c->p->names;
	unsigned int m;

	for (m = 0; m < c->nr_metrics; m++) {
		char key[48];
		const char *name, *unit;

		snprintf(key, sizeof(key), "call.metric.%u", m);
		name = names_label(x, key);
		snprintf(key, sizeof(key), "call.metric.%u.unit", m);
		unit = names_label(x, key);
		model_set_metric(c->p->m, m, name, strlen(name), unit ? unit : "", unit ? strlen(unit) : 0);
	}
}

void calls_init(struct calls *c, struct profile *p)
{
	const char *mark = frame_mark_name(MARK_DAMAGED);

	*c = (struct calls){ .p = p };
	p->start_ns = names_label_u64(&p->names, "start.mono_ns");
	set_metrics(c);
	name_metrics(c);
	c->damaged = consumer_add_name(&p->m->consumers, CONSUMER_MARK, mark, strlen(mark));
}

void calls_release(struct calls *c)
{
	size_t i;

	for (i = 0; i < c->nr_trees; i++) {
		free(c->trees[i].nodes);
		free(c->trees[i].values);
	}
	free(c->trees);
	free(c->frames);
	free(c->consumers);
	map_release(&c->tree_of);
}

const struct trace_sink calls_sink = { .call_consumer = take_consumer, .call_tree = take_tree };

static int read_trees(struct calls *c, struct trace_reader *t, struct err *e)
{
	struct trace_sink sink = calls_sink;
	size_t i;
	int r;

	sink.call_nodes = take_nodes;
	sink.call_values = take_values;
	r = trace_read(t, &sink, c, e);
	for (i = 0; i < c->nr_trees && !r; i++)
		build_tree(c, &c->trees[i]);
	return r;
}

int calls_read(struct profile *p, struct trace_reader *t, struct err *e)
{
	struct calls c;
	int r;

	calls_init(&c, p);
	r = p->o.replay ? replay_read(&c, t, e) : read_trees(&c, t, e);
	calls_release(&c);
	if (!r && p->o.metrics && p->o.metrics->nr_items)
		r = model_pick_metrics(p->m, p->o.metrics->items, p->o.metrics->nr_items, e);
	return r;
}
