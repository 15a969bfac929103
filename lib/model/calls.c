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
#include "model/calls.h"

enum { GROW_NODES = 8 };		/* threads without end have few calls each */
enum { THREAD, NOT_DEFINED, NR_OWN_NODES };	/* of call_tree_data.nodes */

static void grow_tree(struct calls *c, struct call_tree_data *t, size_t nr);

static struct call_tree_data *get_tree(struct calls *c, uint32_t number)
{
	uint32_t *at = map_put(&c->tree_of, number);

	if (*at == MAP_NONE) {
		*at = c->nr_trees;
		VEC_GROW(c->trees, c->nr_trees, c->alloc_trees);
		memset(&c->trees[c->nr_trees], 0, sizeof(*c->trees));
		c->trees[c->nr_trees].r.tree = number;
		grow_tree(c, &c->trees[c->nr_trees], NR_OWN_NODES);
		c->trees[c->nr_trees++].nr_nodes = NR_OWN_NODES;
	}
	return &c->trees[*at];
}

/* Room for nr more nodes. */
static void grow_tree(struct calls *c, struct call_tree_data *t, size_t nr)
{
	size_t width = 1 + c->nr_metrics, alloc;

	if (t->nr_nodes + nr <= t->alloc_nodes)
		return;
	alloc = MAX(t->nr_nodes + nr, MAX(t->alloc_nodes * 2, (size_t)GROW_NODES));
	t->nodes = xrealloc(t->nodes, alloc * sizeof(*t->nodes));
	t->values = xrealloc(t->values, alloc * width * sizeof(*t->values));
	memset(t->values + t->alloc_nodes * width, 0, (alloc - t->alloc_nodes) * width * sizeof(*t->values));
	t->alloc_nodes = alloc;
}

static void add_nodes(struct calls *c, struct call_tree_data *t, uint32_t first,
		      const struct call_node *nodes, uint32_t nr)
{
	if (!numbers_add(&t->numbers, first, nr, t->nr_nodes))
		return;
	grow_tree(c, t, nr);
	memcpy(t->nodes + t->nr_nodes, nodes, nr * sizeof(*nodes));
	t->nr_nodes += nr;
}

static int take_consumer(void *ctx, const struct rec_call_consumer *r)
{
	struct calls *c = ctx;
	uint32_t *at = map_put(&c->consumer_of, r->consumer);

	if (*at == MAP_NONE) {
		*at = c->nr_consumers;
		VEC_GROW(c->frames, c->nr_consumers, c->alloc_frames);
		VEC_GROW(c->consumers, c->nr_consumers, c->alloc_consumers);
		c->nr_consumers++;
	}
	c->frames[*at] = r->frame;
	c->consumers[*at] = 0;
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
	uint32_t i = 0, at;

	/* Known ones change; what is left follows all that are known. */
	for (; i < r->nr && r->first + i < numbers_end(&t->numbers); i++) {
		at = numbers_local(&t->numbers, r->first + i);
		if (at != UINT32_MAX)
			t->nodes[at] = r->nodes[i];
	}
	if (i < r->nr)
		add_nodes(c, t, r->first + i, r->nodes + i, r->nr - i);
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

	if (r->time_ns < c->p->reset_ns)
		return 0;
	c->p->last_ns = MAX(c->p->last_ns, r->time_ns);
	for (i = 0; i < r->nr; i++) {
		const struct call_value *v = &r->values[i];
		uint64_t *sum;

		c->p->nr_read += v->calls;
		if (!in_window(c->p, r->time_ns))
			continue;
		m = numbers_local(&t->numbers, v->node);
		sum = t->values + (m == UINT32_MAX ? NOT_DEFINED : m) * width;
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

uint32_t calls_root(struct calls *c, uint32_t number)
{
	struct flow *f = &c->p->m->flow;
	uint32_t process, thread;

	calls_thread(c, number, &process, &thread);
	return flow_child(f, flow_child(f, FLOW_NONE, process), thread);
}

/* What is inlined at the first instruction is not called by that name. */
uint32_t calls_consumer(struct calls *c, uint32_t consumer)
{
	uint32_t at = map_get(&c->consumer_of, consumer), resolved;
	struct names *x = &c->p->names;
	const struct resolved *r;

	if (at == MAP_NONE || c->frames[at].kind == FRAME_NONE)
		return c->damaged;
	if (!c->consumers[at]) {
		resolved = names_resolve(x, &c->frames[at], 0);
		r = &x->frames[resolved];
		c->consumers[at] = r->nr ? x->levels[r->first].consumer : c->damaged;
	}
	return c->consumers[at];
}

enum { NOT_PLACED = UINT32_MAX, BEING_PLACED = UINT32_MAX - 1 };

void calls_add(struct calls *c, uint32_t node, uint64_t nr_calls, const uint64_t *values)
{
	uint64_t base[FLOW_MAX_METRICS] = { 0 };
	unsigned int m;

	for (m = 0; m < c->nr_metrics + c->nr_extra; m++)
		if (c->column_of[m] >= 0)
			base[c->column_of[m]] = values[m];
	if (c->calls_are_consumed)
		base[0] = nr_calls;
	flow_add(&c->p->m->flow, node, nr_calls, base);
}

/* Where node i of the tree goes in the model; to[] knows what was placed. chain has room for all nodes. */
static uint32_t place(struct calls *c, const struct call_tree_data *t, uint32_t i, uint32_t *to,
		      uint32_t *chain)
{
	struct flow *f = &c->p->m->flow;
	size_t nr = 0;
	uint32_t at;

	while (i >= NR_OWN_NODES && to[i] == NOT_PLACED) {
		to[i] = BEING_PLACED;
		chain[nr++] = i;
		i = t->nodes[i].parent ? numbers_local(&t->numbers, t->nodes[i].parent) : THREAD;
		if (i == UINT32_MAX)
			i = NOT_DEFINED;
	}
	if (i == NOT_DEFINED || to[i] == BEING_PLACED)
		at = flow_child(f, to[THREAD], c->damaged);
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

	to = xmalloc(t->nr_nodes * sizeof(*to));
	chain = xmalloc(t->nr_nodes * sizeof(*chain));
	memset(to, 0xff, t->nr_nodes * sizeof(*to));
	to[THREAD] = calls_root(c, t->r.tree);
	for (i = 1; i < t->nr_nodes; i++) {
		const uint64_t *v = t->values + i * (1 + c->nr_metrics);
		unsigned int m;
		bool any = v[0] || (c->with_samples && i >= NR_OWN_NODES);

		for (m = 0; m < c->nr_metrics; m++)
			any |= v[1 + m];
		if (any)
			calls_add(c, place(c, t, i, to, chain), v[0], v + 1);
	}
	f->repairs.inserted += t->r.inserted;
	f->repairs.popped += t->r.popped;
	f->repairs.closed += t->r.open;
	f->repairs.backwards += t->r.over_range;
	free(to);
	free(chain);
}

/* --- metrics --- */

enum { MAX_CANDIDATES = CALL_MAX_METRICS + CALLS_NR_EXTRA + ARRAY_SIZE(((struct profile *)NULL)->column_of) };

/* What the trace has: the metrics of its calls, then the events of its samples. */
struct candidates {
	struct candidate {
		char name[96];
		const char *unit;
		int *column;
		bool is_event;
	} list[MAX_CANDIDATES];
	size_t nr, nr_chosen, nr_events;	/* nr_events: of nr_chosen */
};

static struct candidate *find_candidate(struct candidates *x, const char *name)
{
	size_t i;

	for (i = 0; i < x->nr; i++)
		if (!strcmp(x->list[i].name, name))
			return &x->list[i];
	return NULL;
}

static void add_candidate(struct candidates *x, const char *name, const char *unit, int *column,
			  bool is_event)
{
	bool taken = find_candidate(x, name);
	struct candidate *k = &x->list[x->nr++];

	snprintf(k->name, sizeof(k->name), "%s%s", name, taken ? ".sampled" : "");
	k->unit = unit ? unit : is_event ? "events" : "";
	k->column = column;
	k->is_event = is_event;
	*column = -1;
}

static const char *const calls_extra[CALLS_NR_EXTRA] = { "dispatches", "interrupts" };

/* What replay.c can tell of events, where it was recorded; columns for both, or for none. */
static void list_extra(struct calls *c, struct candidates *x)
{
	const struct names *names = &c->p->names;
	const char *irq = names_label(names, "sched.irq");
	const bool has[CALLS_NR_EXTRA] = { names_label(names, "sched.scope"), irq && !strcmp(irq, "yes") };
	unsigned int i;

	if (c->nr_metrics + CALLS_NR_EXTRA > CALL_MAX_METRICS)
		return;
	c->nr_extra = CALLS_NR_EXTRA;
	for (i = 0; i < CALLS_NR_EXTRA; i++) {
		c->column_of[c->nr_metrics + i] = -1;
		if (has[i] && !find_candidate(x, calls_extra[i]))
			add_candidate(x, calls_extra[i], calls_extra[i], &c->column_of[c->nr_metrics + i],
				      false);
	}
}

static void list_candidates(struct calls *c, struct candidates *x)
{
	const struct names *names = &c->p->names;
	struct profile *p = c->p;
	const char *name;
	char key[48];

	for (c->nr_metrics = 0; c->nr_metrics < CALL_MAX_METRICS; c->nr_metrics++) {
		char unit[48];

		snprintf(key, sizeof(key), "call.metric.%u", c->nr_metrics);
		snprintf(unit, sizeof(unit), "call.metric.%u.unit", c->nr_metrics);
		if (!(name = names_label(names, key)))
			break;
		add_candidate(x, name, names_label(names, unit), &c->column_of[c->nr_metrics], false);
	}
	if (p->o.replay)
		list_extra(c, x);
	for (p->nr_events = 0; p->nr_events < ARRAY_SIZE(p->column_of); p->nr_events++) {
		if (p->o.no_samples || !(name = profile_event_label(p, p->nr_events, "")))
			break;
		add_candidate(x, name, profile_event_label(p, p->nr_events, ".unit"),
			      &p->column_of[p->nr_events], true);
	}
}

static int unknown_metric(const struct candidates *x, const char *name, struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < x->nr; i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", x->list[i].name);
	err_set(e, EINVAL, "unknown metric '%s' (the trace has: %s)", name, b.data ? b.data : "calls");
	buf_release(&b);
	return -EINVAL;
}

/* Gives a column to each that is wanted, in the order in which they are. */
static int choose(struct calls *c, struct candidates *x, struct err *e)
{
	const struct opt_list *l = c->p->o.metrics;
	bool all = !l || !l->nr_items;
	size_t i, nr = all ? x->nr : l->nr_items;

	for (i = 0; i < nr; i++) {
		struct candidate *k = all ? &x->list[i] : find_candidate(x, l->items[i]);

		if (!k && !x->nr && !strcmp(l->items[i], "calls"))
			continue;
		if (!k)
			return unknown_metric(x, l->items[i], e);
		if (*k->column >= 0 || (all && k->is_event && x->nr_events))
			continue;	/* of several events the first */
		*k->column = x->nr_chosen++;
		x->nr_events += k->is_event;
	}
	c->with_samples = x->nr_events;
	return profile_too_many(x->nr_chosen + x->nr_events, x->nr_events, e);
}

/*
 * The samples of the first event are a metric behind what was chosen, those of each other one a metric
 * behind that.
 */
static void set_counts(struct model *m, const struct candidates *x)
{
	unsigned int at = x->nr_chosen, k;
	size_t i;

	model_set_metric(m, at, "samples", 7, "samples", 7);
	for (k = 0; k < x->nr_chosen; k++)
		for (i = 0; i < x->nr; i++) {
			if (*x->list[i].column != (int)k || !x->list[i].is_event)
				continue;
			if (at == x->nr_chosen)
				m->count_in[k] = at;
			else
				model_set_count(m, k, at);
			at++;
		}
}

static int set_metrics(struct calls *c, struct err *e)
{
	struct candidates x = { .nr = 0 };
	struct model *m = c->p->m;
	size_t i;
	int r;

	list_candidates(c, &x);
	if ((r = choose(c, &x, e)))
		return r;
	c->calls_are_consumed = !x.nr_chosen;
	flow_release(&m->flow);
	flow_init(&m->flow, x.nr_chosen + x.nr_events + c->calls_are_consumed, FLOW_CALLS);
	for (i = 0; i < x.nr; i++)
		if (*x.list[i].column >= 0)
			model_set_metric(m, *x.list[i].column, x.list[i].name, strlen(x.list[i].name),
					 x.list[i].unit, strlen(x.list[i].unit));
	if (c->calls_are_consumed)
		model_set_metric(m, 0, "calls", 5, "calls", 5);
	m->has_samples = c->with_samples;
	if (c->with_samples)
		set_counts(m, &x);
	return 0;
}

int calls_init(struct calls *c, struct profile *p, struct err *e)
{
	const char *mark = frame_mark_name(MARK_DAMAGED);

	*c = (struct calls){ .p = p };
	p->start_ns = names_label_u64(&p->names, "start.mono_ns");
	c->damaged = consumer_add_name(&p->m->consumers, CONSUMER_MARK, mark, strlen(mark));
	return set_metrics(c, e);
}

void calls_release(struct calls *c)
{
	size_t i;

	for (i = 0; i < c->nr_trees; i++) {
		numbers_release(&c->trees[i].numbers);
		free(c->trees[i].nodes);
		free(c->trees[i].values);
	}
	free(c->trees);
	free(c->frames);
	free(c->consumers);
	map_release(&c->tree_of);
	map_release(&c->consumer_of);
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

/* In a window of time a context may have samples without calls; it has a place before that is known. */
static void drop_empty(struct profile *p)
{
	const struct flow *f = &p->m->flow;
	bool *keep = xcalloc(f->nr_nodes, sizeof(*keep));
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	struct flow out;
	unsigned int m;
	size_t i;

	for (i = f->nr_nodes; --i > 0;) {
		keep[i] |= f->nodes[i].n != 0;
		for (m = 0; m < f->nr_metrics; m++)
			keep[i] |= flow_base(f, i)[m] != 0;
		keep[f->nodes[i].parent] |= keep[i];
	}
	flow_init(&out, f->nr_metrics, f->n_means);
	out.repairs = f->repairs;
	for (i = 1; i < f->nr_nodes; i++)
		if (keep[i]) {
			at[i] = flow_child(&out, at[f->nodes[i].parent], f->nodes[i].consumer);
			flow_add(&out, at[i], f->nodes[i].n, flow_base(f, i));
		}
	free(keep);
	free(at);
	model_take_flow(p->m, &out);
}

static int read_samples(struct calls *c, struct trace_reader *t, struct err *e)
{
	const struct trace_sink samples = { .samples = profile_samples };
	uint64_t nr_calls = c->p->nr_read;
	struct graft g;
	int r;

	if ((r = profile_choose_cpus(c->p, e)))
		return r;
	graft_init(&g, c);
	c->p->graft = &g;
	r = trace_read(t, &samples, c->p, e);
	c->p->graft = NULL;
	c->p->nr_read = nr_calls;
	graft_release(&g);
	drop_empty(c->p);
	return r;
}

int calls_read(struct profile *p, struct trace_reader *t, struct err *e)
{
	struct calls c;
	int r = calls_init(&c, p, e);

	if (!r)
		r = p->o.replay ? replay_read(&c, t, e) : read_trees(&c, t, e);
	if (!r && c.with_samples)
		r = read_samples(&c, t, e);
	calls_release(&c);
	return r;
}
