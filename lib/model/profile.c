// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile.c - folds the samples of a trace into a tree.
 *
 * A stack is walked once for each thread that had it: memo[stack] and others[] know its node.
 * What stands above a stack is found the same way, so each is entered once however deep it is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/ops.h"
#include "model/calls.h"
#include "model/itrace.h"

/* Samples that end in a function say more about its kind than stacks that pass through it. */
enum { LEAF_SHIFT = 20 };

void profile_init(struct profile *p, struct model *m, const struct profile_opts *o)
{
	memset(p, 0, sizeof(*p));
	model_init(m, 1, FLOW_SAMPLES);
	p->m = m;
	p->o = *o;
	names_init(&p->names, m, &o->names);
}

void profile_release(struct profile *p)
{
	names_release(&p->names);
	free(p->cpu_wanted);
	free(p->threads);
	free(p->resolved);
	free(p->memo);
	free(p->chain);
	free(p->blocks);
	free(p->refused);
	free(p->weight);
	map_release(&p->thread_of);
	map_release(&p->others);
	memset(p, 0, sizeof(*p));
}

const char *profile_event_label(const struct profile *p, uint32_t event, const char *what)
{
	char key[48];

	snprintf(key, sizeof(key), "event.%u%s", event, what);
	return names_label(&p->names, key);
}

static void set_metric(struct profile *p, unsigned int column, uint32_t event)
{
	const char *unit = profile_event_label(p, event, ".unit"), *name = profile_event_label(p, event, "");

	p->column_of[event] = column;
	model_set_metric(p->m, column, name, strlen(name), unit ? unit : "events", unit ? strlen(unit) : 6);
}

static int unknown_metric(const struct profile *p, const char *name, struct err *e)
{
	struct buf b = BUF_INIT;
	uint32_t i;

	for (i = 0; i < p->nr_events; i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", profile_event_label(p, i, ""));
	err_set(e, EINVAL, "unknown metric '%s' (the trace has: %s)", name, b.data ? b.data : "none");
	buf_release(&b);
	return -EINVAL;
}

/* Which event goes to which column: those that are asked for, else the first. Returns how many. */
static int place_events(struct profile *p, uint32_t event_in[], struct err *e)
{
	const struct opt_list *l = p->o.metrics;
	size_t at, nr = 0;
	uint32_t i;

	for (at = 0; l && at < l->nr_items; at++) {
		for (i = 0; i < p->nr_events && strcmp(profile_event_label(p, i, ""), l->items[at]); i++)
			;
		if (i == p->nr_events)
			return unknown_metric(p, l->items[at], e);
		if (p->column_of[i] < 0) {
			p->column_of[i] = nr;
			event_in[nr++] = i;
		}
	}
	if (!nr && p->nr_events)
		event_in[nr++] = 0;
	return nr;
}

int profile_too_many(size_t nr, size_t nr_events, struct err *e)
{
	if (nr <= FLOW_MAX_METRICS)
		return 0;
	return err_set(e, EINVAL, "too many metrics for one report%s: choose fewer with --metric",
		       nr_events > 1 ? " (each event beside the first takes two)" : "");
}

/* Without names of events all samples are one metric. */
static int choose_metrics(struct profile *p, struct err *e)
{
	uint32_t event_in[ARRAY_SIZE(p->column_of)];
	int nr, i, r;

	for (i = 0; i < (int)ARRAY_SIZE(p->column_of); i++)
		p->column_of[i] = -1;
	while (p->nr_events < ARRAY_SIZE(p->column_of) && profile_event_label(p, p->nr_events, ""))
		p->nr_events++;
	nr = place_events(p, event_in, e);
	if (nr < 0)
		return nr;
	r = profile_too_many(nr ? 2 * nr - 1 : 1, nr, e);
	if (r)
		return r;
	flow_release(&p->m->flow);
	flow_init(&p->m->flow, nr ? 2 * nr - 1 : 1, FLOW_SAMPLES);
	if (!nr)
		model_set_metric(p->m, 0, "samples", 7, "samples", 7);
	p->m->count_in[0] = COUNT_IN_N;
	for (i = 0; i < nr; i++)
		set_metric(p, i, event_in[i]);
	for (i = 1; i < nr; i++)
		model_set_count(p->m, i, nr + i - 1);
	return 0;
}

int profile_choose_cpus(struct profile *p, struct err *e)
{
	const struct opt_list *l = p->o.cpus;
	uint64_t cpu;
	size_t i;

	for (i = 0; l && i < l->nr_items; i++) {
		char *end;

		cpu = strtoull(l->items[i], &end, 10);
		if (*end || end == l->items[i] || cpu > UINT16_MAX)
			return err_set(e, EINVAL, "invalid CPU '%s'", l->items[i]);
		if (cpu >= p->nr_cpus_wanted) {
			p->cpu_wanted = xrealloc(p->cpu_wanted, cpu + 1);
			memset(p->cpu_wanted + p->nr_cpus_wanted, 0, cpu + 1 - p->nr_cpus_wanted);
			p->nr_cpus_wanted = cpu + 1;
		}
		p->cpu_wanted[cpu] = 1;
	}
	return 0;
}

int profile_start(struct profile *p, struct err *e)
{
	int r;

	p->start_ns = names_label_u64(&p->names, "start.mono_ns");
	if ((r = choose_metrics(p, e)))
		return r;
	return profile_choose_cpus(p, e);
}

static uint32_t thread_index(struct profile *p, uint32_t number, uint64_t time_ns)
{
	uint32_t root = p->graft ? graft_root(p->graft, number, time_ns) : MAP_NONE;
	uint32_t *at = map_put(&p->thread_of, names_pair(root, number));
	uint32_t proc, process, thread, node;

	if (*at != MAP_NONE)
		return *at;
	*at = p->nr_threads;
	if (root != MAP_NONE) {
		node = p->graft->roots[root].node;
	} else {
		thread = names_thread(&p->names, number, &proc);
		process = names_process(&p->names, proc);
		node = flow_child(&p->m->flow, flow_child(&p->m->flow, FLOW_NONE, process), thread);
	}
	VEC_GROW(p->threads, p->nr_threads, p->alloc_threads);
	p->threads[p->nr_threads++] = (struct profile_thread){ number, node, root != MAP_NONE };
	return p->nr_threads - 1;
}

/* What was only counted goes to the nodes. */
static void flush_memo(struct profile *p)
{
	size_t i;

	for (i = 0; i < p->nr_memo; i++) {
		struct profile_memo *x = &p->memo[i];

		if (!x->n)
			continue;
		p->m->flow.nodes[x->node].n += x->n;
		flow_base(&p->m->flow, x->node)[0] += x->n * p->usual_weight;
		if (x->level)
			p->weight[x->level - 1] += (uint64_t)x->n << LEAF_SHIFT;
		x->n = 0;
	}
}

/* Room for what the epoch has by now. */
static void follow_epoch(struct profile *p, const struct stack_epoch *ep)
{
	if (p->epoch != ep->epoch) {
		flush_memo(p);
		p->epoch = ep->epoch;
		if (p->nr_memo)
			memset(p->memo, 0, p->nr_memo * sizeof(*p->memo));
		if (p->nr_resolved)
			memset(p->resolved, 0, p->nr_resolved * sizeof(*p->resolved));
		map_reset(&p->others);
		p->nr_blocks = 0;
	}
	if (ep->nr_nodes > p->nr_memo) {
		p->memo = xrealloc(p->memo, ep->nr_nodes * sizeof(*p->memo));
		memset(p->memo + p->nr_memo, 0, (ep->nr_nodes - p->nr_memo) * sizeof(*p->memo));
		p->nr_memo = ep->nr_nodes;
	}
	if (ep->nr_frames > p->nr_resolved) {
		p->resolved = xrealloc(p->resolved, ep->nr_frames * sizeof(*p->resolved));
		memset(p->resolved + p->nr_resolved, 0,
		       (ep->nr_frames - p->nr_resolved) * sizeof(*p->resolved));
		p->nr_resolved = ep->nr_frames;
	}
}

static uint64_t block_key(uint32_t thread, uint32_t stack)
{
	return (uint64_t)thread << 32 | stack / PROFILE_BLOCK;
}

static uint32_t known_node(const struct profile *p, uint32_t thread, uint32_t stack)
{
	uint32_t at;

	if (p->memo[stack].thread == thread + 1)
		return p->memo[stack].node;
	if (!p->memo[stack].thread)
		return FLOW_NONE;
	at = map_get(&p->others, block_key(thread, stack));
	return at == MAP_NONE ? FLOW_NONE : p->blocks[(size_t)at * PROFILE_BLOCK + stack % PROFILE_BLOCK];
}

static uint32_t new_block(struct profile *p)
{
	size_t size = PROFILE_BLOCK * sizeof(*p->blocks);

	if (p->nr_blocks >= p->alloc_blocks) {
		p->alloc_blocks = p->alloc_blocks ? p->alloc_blocks * 2 : 64;
		p->blocks = xrealloc(p->blocks, p->alloc_blocks * size);
	}
	memset(p->blocks + p->nr_blocks * PROFILE_BLOCK, 0, size);
	return p->nr_blocks++;
}

static void remember(struct profile *p, uint32_t thread, uint32_t stack, uint32_t node, uint32_t frame)
{
	const struct profile_frame *r = &p->resolved[frame];
	uint32_t *at;

	if (!p->memo[stack].thread) {
		p->memo[stack] = (struct profile_memo){ thread + 1, node, 0,
			r->nr1 > 1 ? r->first + r->nr1 - 1 : 0 };
		return;
	}
	at = map_put(&p->others, block_key(thread, stack));
	if (*at == MAP_NONE)
		*at = new_block(p);
	p->blocks[(size_t)*at * PROFILE_BLOCK + stack % PROFILE_BLOCK] = node;
}

/* Room in weight[] for what was resolved since. */
static void follow_levels(struct profile *p)
{
	size_t nr = p->names.nr_levels;

	if (nr <= p->nr_weight)
		return;
	nr = MAX(nr, p->nr_weight * 2);
	p->weight = xrealloc(p->weight, nr * sizeof(*p->weight));
	memset(p->weight + p->nr_weight, 0, (nr - p->nr_weight) * sizeof(*p->weight));
	p->nr_weight = nr;
}

void profile_weigh(struct profile *p, uint32_t level, uint64_t weight)
{
	follow_levels(p);
	p->weight[level] += weight;
}

const struct profile_frame *profile_resolve(struct profile *p, uint32_t frame, const struct stack_epoch *ep,
					    uint64_t time_ns)
{
	const struct resolved *r;
	uint32_t at;

	if (!p->resolved[frame].nr1) {
		at = names_resolve(&p->names, &ep->frames[frame], time_ns);
		r = &p->names.frames[at];
		p->resolved[frame] = (struct profile_frame){ r->first, r->nr + 1 };
		follow_levels(p);
	}
	return &p->resolved[frame];
}

/* The node below parent for one frame, and for what is inlined in it. */
static uint32_t enter_frame(struct profile *p, uint32_t parent, uint32_t frame, const struct stack_epoch *ep,
			    uint64_t time_ns)
{
	const struct profile_frame r = *profile_resolve(p, frame, ep, time_ns);
	uint32_t i;

	for (i = r.first; i < r.first + r.nr1 - 1; i++) {
		if (p->names.levels[i].consumer == p->m->own &&
		    p->m->flow.nodes[parent].consumer == p->m->own && parent)
			continue;
		parent = flow_child(&p->m->flow, parent, p->names.levels[i].consumer);
		p->weight[i]++;
	}
	return parent;
}

static uint32_t damaged_node(struct profile *p, uint32_t thread)
{
	const struct frame f = { .kind = FRAME_MARK, .b = MARK_DAMAGED };
	uint32_t at = names_resolve(&p->names, &f, 0);

	return flow_child(&p->m->flow, p->threads[thread].node,
			  p->names.levels[p->names.frames[at].first].consumer);
}

static uint32_t stack_node(struct profile *p, uint32_t thread, uint32_t stack, const struct stack_epoch *ep,
			   uint64_t time_ns)
{
	uint32_t node = FLOW_NONE, s;

	if (!stack)
		return p->threads[thread].node;
	if (stack >= ep->nr_nodes)
		return damaged_node(p, thread);
	p->nr_chain = 0;
	for (s = stack; s && !(node = known_node(p, thread, s)); s = ep->nodes[s].parent) {
		VEC_GROW(p->chain, p->nr_chain, p->alloc_chain);
		p->chain[p->nr_chain++] = s;
	}
	if (!s)
		node = p->threads[thread].node;
	while (p->nr_chain) {
		s = p->chain[--p->nr_chain];
		node = enter_frame(p, node, ep->nodes[s].frame, ep, time_ns);
		remember(p, thread, s, node, ep->nodes[s].frame);
	}
	return node;
}

/*
 * The same in a tree of calls, where a node says nothing of those above it: each stack is followed
 * from its root.
 */
static uint32_t grafted_node(struct profile *p, uint32_t thread, uint32_t stack, const struct stack_epoch *ep,
			     uint64_t time_ns)
{
	uint32_t node, s;
	bool missing;

	if (!stack || stack >= ep->nr_nodes || !p->threads[thread].counted)
		return stack_node(p, thread, stack, ep, time_ns);
	if ((node = known_node(p, thread, stack)))
		return node;
	p->nr_chain = 0;
	for (s = stack; s; s = ep->nodes[s].parent) {
		VEC_GROW(p->chain, p->nr_chain, p->alloc_chain);
		p->chain[p->nr_chain++] = s;
	}
	node = graft_node(p, p->threads[thread].node, p->chain, p->nr_chain, ep, time_ns, &missing);
	if (missing)
		p->nr_missing++;	/* not remembered, so that each is counted */
	else
		remember(p, thread, stack, node, ep->nodes[stack].frame);
	return node;
}

static void weigh_leaf(struct profile *p, uint32_t stack, const struct stack_epoch *ep)
{
	const struct profile_frame *r;

	if (!stack || stack >= ep->nr_nodes)
		return;
	r = &p->resolved[ep->nodes[stack].frame];
	if (r->nr1 > 1)
		p->weight[r->first + r->nr1 - 2] += 1u << LEAF_SHIFT;
}

static bool in_window(const struct profile *p, const struct rec_sample *s)
{
	if (p->o.from_ns && s->time_ns < p->start_ns + p->o.from_ns)
		return false;
	if (p->o.to_ns && s->time_ns >= p->start_ns + p->o.to_ns)
		return false;
	return !p->nr_cpus_wanted || (s->cpu < p->nr_cpus_wanted && p->cpu_wanted[s->cpu]);
}

/* The metric the sample counts for, -1 when for none; by its name where the trace has names. */
static int column_of(struct profile *p, const struct rec_sample *s)
{
	if (!p->nr_events)
		return 0;
	if (s->event < p->nr_events) {
		p->nr_of_event[s->event]++;
		return p->column_of[s->event];
	}
	p->nr_unknown++;
	return -1;
}

static void count_sample(struct profile *p, uint32_t node, int column, uint64_t weight)
{
	uint64_t *base = flow_base(&p->m->flow, node);
	unsigned int in = p->m->count_in[column];

	if (in == COUNT_IN_N)
		p->m->flow.nodes[node].n++;
	else
		base[in]++;
	base[column] += weight;
}

static void add_sample(struct profile *p, const struct rec_sample *s, uint32_t thread, int column,
		       const struct stack_epoch *ep)
{
	uint64_t weight = p->nr_events ? s->weight : 1;
	struct profile_memo *x;
	uint32_t node;

	if (p->graft) {
		node = grafted_node(p, thread, s->stack, ep, s->time_ns);
		weigh_leaf(p, s->stack, ep);
		count_sample(p, node, column, weight);
		return;
	}
	/* The usual case touches one cache line: a stack the thread had before. */
	if (!column && weight == p->usual_weight && s->stack && s->stack < ep->nr_nodes) {
		x = &p->memo[s->stack];
		if (x->thread == thread + 1 && x->n != UINT32_MAX) {
			x->n++;
			return;
		}
	}
	if (!p->usual_weight && !column)
		p->usual_weight = weight;
	node = stack_node(p, thread, s->stack, ep, s->time_ns);
	weigh_leaf(p, s->stack, ep);
	count_sample(p, node, column, weight);
}

int profile_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct profile *p = ctx;
	uint32_t thread = 0, number = 0;
	bool known = false;
	int column;
	size_t i;

	follow_epoch(p, ep);
	for (i = 0; i < nr; i++) {
		if (s[i].time_ns < p->reset_ns)
			continue;
		if (!p->first_ns || s[i].time_ns < p->first_ns)
			p->first_ns = s[i].time_ns;
		p->last_ns = MAX(p->last_ns, s[i].time_ns);
		column = column_of(p, &s[i]);
		p->nr_read += !column;	/* of the first event, as n */
		if (column < 0 || !in_window(p, &s[i]))
			continue;
		if (!known || s[i].thread != number || p->graft) {
			known = true;
			number = s[i].thread;
			thread = thread_index(p, number, s[i].time_ns);
		}
		add_sample(p, &s[i], thread, column, ep);
	}
	return 0;
}

static void list_refused(struct profile *p, struct model_source *src)
{
	char key[32];

	for (;;) {
		const char *val;

		snprintf(key, sizeof(key), "refused.%zu", p->nr_refused);
		val = names_label(&p->names, key);
		if (!val)
			break;
		VEC_GROW(p->refused, p->nr_refused, p->alloc_refused);
		p->refused[p->nr_refused++] = val;
	}
	src->refused = p->refused;
	src->nr_refused = p->nr_refused;
}

/* Events that nobody asked for, nor refused; NULL: none. */
static const char *list_not_shown(struct profile *p)
{
	struct buf b = BUF_INIT;
	const char *text = NULL;
	uint32_t i;

	for (i = 0; i < p->nr_events && !(p->o.metrics && p->o.metrics->nr_items) && !p->o.no_samples; i++)
		if (p->column_of[i] < 0 && p->nr_of_event[i])
			buf_fmt(&b, "%s%" PRIu64 " sample%s of %s", b.len ? ", " : "", p->nr_of_event[i],
				p->nr_of_event[i] == 1 ? "" : "s", profile_event_label(p, i, ""));
	if (b.len)
		text = arena_strndup(&p->names.text, b.data, b.len);
	buf_release(&b);
	return text;
}

void profile_finish(struct profile *p, struct model_source *src)
{
	const struct names *x = &p->names;
	uint64_t end = names_label_u64(x, "end.mono_ns"), begin;
	const char *rate = profile_event_label(p, 0, ".rate_hz"), *period = profile_event_label(p, 0, ".period");
	const char *sampler = names_label(x, "sampler");

	flush_memo(p);
	flow_finish(&p->m->flow);
	if (!p->o.names.by_kind) {
		follow_levels(p);
		names_settle_kinds(&p->names, p->weight);
	}
	memset(src, 0, sizeof(*src));
	src->is_trace = true;
	src->command = names_label(x, "command");
	src->host = names_label(x, "host");
	src->machine = names_label(x, "arch");
	src->start_ns = names_label_u64(x, "start.realtime_ns");
	if (!end)
		end = p->last_ns;
	if (!p->start_ns)
		p->start_ns = p->first_ns;
	begin = MAX(p->start_ns, p->reset_ns);
	src->duration_ns = end > begin ? end - begin : 0;
	src->lost = x->lost + p->nr_unknown;
	src->throttled = x->throttled;
	src->rate_hz = rate ? strtod(rate, NULL) : 0;
	src->tick_bound = sampler && !strcmp(sampler, "timers");
	src->rate_mode = profile_event_label(p, 0, ".mode");
	src->period = period ? strtoull(period, NULL, 10) : 0;
	src->nr_cpus = names_label_u64(x, "cpus");
	src->nr_read = p->nr_read;
	src->nr_local_modules = x->nr_local_modules;
	src->modules = x->modules;
	src->nr_modules = x->nr_modules;
	src->nr_missing = p->nr_missing;
	list_refused(p, src);
	src->not_shown = list_not_shown(p);
}

/* What "arcprof ctl" marked in the trace. */
static int take_marks(struct profile *p, struct err *e)
{
	uint64_t start = names_label_u64(&p->names, "start.mono_ns");
	uint64_t zero = names_label_u64(&p->names, "zero.mono_ns");

	p->reset_ns = names_label_u64(&p->names, "reset.mono_ns");
	if (p->o.from_ns != SELECT_FROM_ZERO)
		return 0;
	if (!zero) {
		err_set(e, ENODATA, "the trace has no zero point");
		err_hint(e, "while it is recorded, 'arcprof ctl zero' sets one");
		return -ENODATA;
	}
	p->o.from_ns = zero - MIN(start, zero);
	return 0;
}

int profile_names(struct profile *p, struct trace_reader *t, struct err *e)
{
	int r = trace_read(t, &names_sink, &p->names, e);

	return r ? r : take_marks(p, e);
}

int profile_read(struct profile *p, struct model *m, struct model_source *src, struct trace_reader *t,
		 const struct profile_opts *o, struct err *e)
{
	const struct trace_sink samples = { .samples = profile_samples };
	bool calls;
	int r;

	profile_init(p, m, o);
	r = profile_names(p, t, e);
	if (!r && branches_are_in(&p->names)) {
		const struct itrace_model_opts io = { { p->o.from_ns, o->to_ns }, o->fold_plt };

		return itrace_model(&p->names, src, t, &io, e);
	}
	calls = names_label(&p->names, "callflow") && !o->samples &&
		!(o->prefer_samples && profile_event_label(p, 0, ""));
	if (calls) {	/* what is inlined is a context all the same; graft.c hides the rest */
		p->names.o.functions = true;
		p->names.o.no_inline = false;
	}
	if (!r && calls) {
		r = calls_read(p, t, e);
	} else {
		if (!r)
			r = profile_start(p, e);
		if (!r)
			r = trace_read(t, &samples, p, e);
	}
	profile_finish(p, src);
	if (!r && calls)
		calls_calibrate(p, src);
	return r;
}
