// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * samples.c - folds the samples of a trace into a tree.
 *
 * A stack is walked once for each thread that had it: memo[stack] and others[] know its node.
 * The outer part of a stack is found the same way, so each is entered once however deep it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cut.h"
#include "model/filter.h"
#include "model/graft.h"
#include "model/samples.h"
#include "model/threadlabels.h"

/* Samples that end in a function say more about its kind than stacks that pass through it. */
enum { LEAF_SHIFT = 20 };

/* Stacks next to each other are looked up together: one cache line. */
enum { BLOCK = 16 };

struct thread {
	uint32_t node;
	bool counted;			/* its calls are in the tree */
};

/* The frames and stacks of the current epoch as far as they are known. */
struct epoch {
	uint32_t number;
	struct known_frame {
		uint32_t first;		/* names.levels[first..first + nr1 - 1); nr1 0: not resolved yet */
		uint32_t nr1 : 31, varies : 1;	/* varies: with time */
	} *frames;			/* [frame]; beside each other, as this is read for each node */
	size_t nr_frames;
	struct known_stack {
		uint32_t thread;	/* dense index + 1; 0: none yet */
		uint32_t node;
		uint32_t n;		/* samples of column 0 and usual weight, not added to the node yet */
		uint32_t level;		/* of its frame, the innermost, + 1; 0: none */
	} *memo;			/* [stack]: of the first thread that had it */
	size_t nr_memo;
	/* (thread, stack / BLOCK) -> index of a block, for the other threads */
	struct map others;
	uint32_t *blocks;		/* [block][stack % BLOCK]: node */
	size_t nr_blocks, alloc_blocks;
};

struct cpus {
	uint8_t *wanted;		/* [cpu] */
	size_t nr;			/* 0: all are */
};

/* The uses of labels of threads; without any, nothing is looked up. */
struct by_labels {
	const struct opt_list *select;	/* NULL: all */
	const char *key;		/* NULL: none is a level, */
	bool all;			/* or all together */
	struct map selected;		/* (those of the process, the thread's) -> 0, 1 */
	struct map levels;		/* the same -> consumer */
	struct map threads;		/* (dense index, consumer) -> dense index */
	struct stack_labels stacks;
};

/* The labels of a thread at a time: those of all threads of its process, and its own. */
struct had {
	uint32_t all, own;
};

struct samples {
	struct names *names;
	struct flow *flow;
	const struct event_columns *columns;
	struct graft *graft;		/* NULL: samples are alone */
	struct flow_times *times;	/* NULL: not wanted */
	bool untimed;			/* but of samples without a time as well */
	struct filter *filter;		/* NULL: there is none */
	const struct account_samples *sampled;	/* NULL: not wanted */
	uint32_t epoch_stacks, stacks_before;	/* of this epoch, and of those before */
	struct window window;
	struct cut cut;
	struct cpus cpus;
	struct by_labels labels;
	bool has_processes, has_threads;	/* the levels above functions that the trace knows */
	struct thread *threads;		/* [dense index] */
	size_t nr_threads, alloc_threads;
	struct map thread_of;		/* (root in the tree of calls, number) -> dense index */
	struct epoch epoch;
	uint64_t usual_weight;		/* of column 0 */
	uint32_t *chain;		/* scratch: stacks from a leaf up */
	size_t nr_chain, alloc_chain;
	struct name_run *runs;		/* scratch: frames of the chain, outermost first */
	size_t alloc_runs;
	struct samples_seen seen;
};

/* ---- selection ---- */

static int choose_cpus(struct cpus *c, const struct opt_list *l, struct err *e)
{
	uint64_t cpu;
	size_t i;

	for (i = 0; l && i < l->nr_items; i++) {
		char *end;

		cpu = strtoull(l->items[i], &end, 10);
		if (*end || end == l->items[i] || cpu > UINT16_MAX)
			return err_set(e, EINVAL, "invalid CPU '%s'", l->items[i]);
		if (cpu >= c->nr) {
			c->wanted = xrealloc(c->wanted, cpu + 1);
			memset(c->wanted + c->nr, 0, cpu + 1 - c->nr);
			c->nr = cpu + 1;
		}
		c->wanted[cpu] = 1;
	}
	return 0;
}

static bool samples_is_selected(const struct samples *s, const struct rec_sample *r)
{
	const struct cpus *c = &s->cpus;

	return !c->nr || (r->cpu < c->nr && c->wanted[r->cpu]);
}

static bool is_selected_label(struct samples *s, struct had had)
{
	uint32_t *known;

	if (!s->labels.select)
		return true;
	known = map_put(&s->labels.selected, names_pair(had.all, had.own));
	if (*known == MAP_NONE)
		*known = threadlabels_select(s->names, had.all, had.own, s->labels.select);
	return *known;
}

/* Return the metric that the sample counts for, -1 for none; by its name if the trace has names. */
static int column_of(struct samples *s, const struct rec_sample *r)
{
	const struct event_columns *k = s->columns;

	if (!k->nr_events)
		return 0;
	if (r->event < k->nr_events) {
		s->seen.nr_of_event[r->event] += 1 + r->more;
		s->seen.has_event[r->event] = true;
		return k->column_of[r->event];
	}
	s->seen.nr_unknown += 1 + r->more;
	return -1;
}

/* ---- threads ---- */

static uint32_t thread_index(struct samples *s, uint32_t number, uint64_t time_ns)
{
	uint32_t root = s->graft ? graft_root(s->graft, number, time_ns) : MAP_NONE;
	uint32_t *at = map_put(&s->thread_of, names_pair(root, number));
	uint32_t proc, thread, node;

	if (*at != MAP_NONE)
		return *at;
	*at = s->nr_threads;
	if (!number && !s->has_threads) {
		node = FLOW_NONE;
	} else if (root != MAP_NONE) {
		node = s->graft->roots[root].node;
	} else {
		thread = names_thread(s->names, number, &proc);
		node = FLOW_NONE;
		if (proc || s->has_processes)
			node = flow_child(s->flow, node, names_process(s->names, proc));
		node = flow_child(s->flow, node, thread);
	}
	*VEC_ADD(s->threads, s->nr_threads, s->alloc_threads) = (struct thread){ node, root != MAP_NONE };
	return s->nr_threads - 1;
}

/* Return the thread with these labels: its node is a level deeper. */
static uint32_t labelled_index(struct samples *s, uint32_t thread, struct had had)
{
	uint32_t *level, *at, node;

	if (!s->labels.key && !(s->labels.all && had.own))
		return thread;
	level = map_put(&s->labels.levels, names_pair(had.all, had.own));
	if (*level == MAP_NONE)
		*level = s->labels.key ? threadlabels_consumer(s->names, had.all, had.own, s->labels.key) :
					 threadlabels_all(s->names, had.own);
	at = map_put(&s->labels.threads, names_pair(thread, *level));
	if (*at != MAP_NONE)
		return *at;
	*at = s->nr_threads;
	node = flow_child(s->flow, s->threads[thread].node, *level);
	VEC_GROW(s->threads, s->nr_threads, s->alloc_threads);
	s->threads[s->nr_threads++] = (struct thread){ node, s->threads[thread].counted };
	return s->nr_threads - 1;
}

/* ---- what is known of an epoch ---- */

/* Add to the nodes what was only counted. */
void samples_flush(struct samples *s)
{
	size_t i;

	for (i = 0; i < s->epoch.nr_memo; i++) {
		struct known_stack *x = &s->epoch.memo[i];
		uint64_t weight;

		if (!x->n)
			continue;
		if (__builtin_mul_overflow(s->usual_weight, (uint64_t)x->n, &weight))
			weight = UINT64_MAX;
		flow_sum(&s->flow->nodes[x->node].n, x->n);
		flow_sum(&flow_base(s->flow, x->node)[0], weight);
		if (x->level)
			s->names->levels[x->level - 1].weight += (uint64_t)x->n << LEAF_SHIFT;
		x->n = 0;
	}
}

static void forget_stacks(struct epoch *x)
{
	if (x->nr_memo)
		memset(x->memo, 0, x->nr_memo * sizeof(*x->memo));
	map_reset(&x->others);
	x->nr_blocks = 0;
}

/* Make room for what the epoch has by now. */
static void samples_follow_epoch(struct samples *s, const struct stack_epoch *ep)
{
	struct epoch *x = &s->epoch;

	if (x->number != ep->epoch) {
		/* 0 is none in each epoch */
		s->stacks_before += MIN(s->epoch_stacks - !!s->epoch_stacks, UINT32_MAX - s->stacks_before);
		samples_flush(s);
		x->number = ep->epoch;
		forget_stacks(x);
		if (x->nr_frames)
			memset(x->frames, 0, x->nr_frames * sizeof(*x->frames));
	}
	s->epoch_stacks = ep->nr_nodes;
	if (ep->nr_nodes > x->nr_memo) {
		x->memo = xrealloc(x->memo, ep->nr_nodes * sizeof(*x->memo));
		memset(x->memo + x->nr_memo, 0, (ep->nr_nodes - x->nr_memo) * sizeof(*x->memo));
		x->nr_memo = ep->nr_nodes;
	}
	if (ep->nr_frames > x->nr_frames) {
		x->frames = xrealloc(x->frames, ep->nr_frames * sizeof(*x->frames));
		memset(x->frames + x->nr_frames, 0, (ep->nr_frames - x->nr_frames) * sizeof(*x->frames));
		x->nr_frames = ep->nr_frames;
	}
}

static uint64_t block_key(uint32_t thread, uint32_t stack)
{
	return (uint64_t)thread << 32 | stack / BLOCK;
}

static uint32_t known_node(const struct epoch *x, uint32_t thread, uint32_t stack)
{
	uint32_t at;

	if (x->memo[stack].thread == thread + 1)
		return x->memo[stack].node;
	if (!x->memo[stack].thread)
		return FLOW_NONE;
	at = map_get(&x->others, block_key(thread, stack));
	return at == MAP_NONE ? FLOW_NONE : x->blocks[(size_t)at * BLOCK + stack % BLOCK];
}

static uint32_t new_block(struct epoch *x)
{
	size_t size = BLOCK * sizeof(*x->blocks);

	if (x->nr_blocks >= x->alloc_blocks) {
		x->alloc_blocks = x->alloc_blocks ? x->alloc_blocks * 2 : 64;
		x->blocks = xrealloc(x->blocks, x->alloc_blocks * size);
	}
	memset(x->blocks + x->nr_blocks * BLOCK, 0, size);
	return x->nr_blocks++;
}

static void samples_remember(struct epoch *x, uint32_t thread, uint32_t stack, uint32_t node, uint32_t frame)
{
	const struct known_frame *f = &x->frames[frame];
	uint32_t *at;

	if (!x->memo[stack].thread) {
		x->memo[stack] = (struct known_stack){ thread + 1, node, 0,
			f->nr1 > 1 ? f->first + f->nr1 - 1 : 0 };
		return;
	}
	at = map_put(&x->others, block_key(thread, stack));
	if (*at == MAP_NONE)
		*at = new_block(x);
	x->blocks[(size_t)*at * BLOCK + stack % BLOCK] = node;
}

static struct name_run samples_resolve(struct samples *s, uint32_t frame, const struct stack_epoch *ep,
				       uint64_t time_ns)
{
	struct known_frame *f = &s->epoch.frames[frame];

	if (!f->nr1 || f->varies) {
		bool varies = f->nr1 || names_varies(s->names, &ep->frames[frame]);
		struct name_run r = names_consumers(s->names, &ep->frames[frame], time_ns);

		*f = (struct known_frame){ r.first, r.nr + 1, varies };
	}
	return (struct name_run){ f->first, f->nr1 - 1 };
}

/* ---- from a stack to a node ---- */

/* Return the node below parent for one frame, and for what is inlined in it. */
static uint32_t enter_frame(struct samples *s, uint32_t parent, struct name_run r)
{
	uint32_t own = s->names->m->own, i;

	for (i = r.first; i < r.first + r.nr; i++) {
		struct name_level *level = &s->names->levels[i];

		if (parent && level->consumer == own && s->flow->nodes[parent].consumer == own)
			continue;
		parent = flow_child(s->flow, parent, level->consumer);
		level->weight++;
	}
	return parent;
}

static uint32_t damaged_node(struct samples *s, uint32_t thread)
{
	const struct frame f = { .kind = FRAME_MARK, .mark = MARK_DAMAGED };
	struct name_run r = names_consumers(s->names, &f, 0);

	return flow_child(s->flow, s->threads[thread].node, s->names->levels[r.first].consumer);
}

static void add_to_chain(struct samples *s, uint32_t stack)
{
	*VEC_ADD(s->chain, s->nr_chain, s->alloc_chain) = stack;
}

static uint32_t stack_node(struct samples *s, uint32_t thread, uint32_t stack, const struct stack_epoch *ep,
			   uint64_t time_ns)
{
	uint32_t node = FLOW_NONE, at;
	bool varies = false;

	if (!stack && s->threads[thread].node)
		return s->threads[thread].node;
	if (!stack || stack >= ep->nr_nodes)
		return damaged_node(s, thread);
	s->nr_chain = 0;
	for (at = stack; at && !(node = known_node(&s->epoch, thread, at)); at = ep->nodes[at].parent)
		add_to_chain(s, at);
	if (!at)
		node = s->threads[thread].node;
	while (s->nr_chain) {
		uint32_t frame;

		at = s->chain[--s->nr_chain];
		frame = ep->nodes[at].frame;
		node = enter_frame(s, node, samples_resolve(s, frame, ep, time_ns));
		varies |= s->epoch.frames[frame].varies;
		if (!varies && node)
			samples_remember(&s->epoch, thread, at, node, frame);
	}
	return node ? node : damaged_node(s, thread);
}

/*
 * Return the same in a tree of calls, where a node says nothing of those above it: each stack is followed
 * from its root.
 */
static uint32_t grafted_node(struct samples *s, uint32_t thread, uint32_t stack, const struct stack_epoch *ep,
			     uint64_t time_ns)
{
	uint32_t node, at, frame;
	bool missing, varies = false;
	size_t i;

	if (!stack || stack >= ep->nr_nodes || !s->threads[thread].counted)
		return stack_node(s, thread, stack, ep, time_ns);
	if ((node = known_node(&s->epoch, thread, stack)))
		return node;
	s->nr_chain = 0;
	for (at = stack; at; at = ep->nodes[at].parent)
		add_to_chain(s, at);
	for (i = 0; i < s->nr_chain; i++) {
		VEC_GROW(s->runs, i, s->alloc_runs);
		frame = ep->nodes[s->chain[s->nr_chain - 1 - i]].frame;
		s->runs[i] = samples_resolve(s, frame, ep, time_ns);
		varies |= s->epoch.frames[frame].varies;
	}
	node = graft_node(s->graft, s->threads[thread].node, s->runs, s->nr_chain, &missing);
	if (missing)
		s->seen.nr_missing++;	/* not remembered, so that each is counted */
	else if (!varies)
		samples_remember(&s->epoch, thread, stack, node, ep->nodes[stack].frame);
	return node;
}

/* ---- samples ---- */

static void weigh_leaf(struct samples *s, uint32_t stack, const struct stack_epoch *ep)
{
	const struct known_frame *f;

	if (!stack || stack >= ep->nr_nodes)
		return;
	f = &s->epoch.frames[ep->nodes[stack].frame];
	if (f->nr1 > 1)
		s->names->levels[f->first + f->nr1 - 2].weight += 1u << LEAF_SHIFT;
}

/* Count nr samples. */
static void count_sample(struct samples *s, uint32_t node, int column, uint64_t nr, uint64_t weight)
{
	const struct model *m = s->names->m;
	unsigned int counter = model_counter(m, m->metrics[column].source);
	uint64_t *base = flow_base(s->flow, node);

	if (counter)
		flow_sum(&base[counter], nr);
	else if (!column || !m->n_of_first)
		flow_sum(&s->flow->nodes[node].n, nr);
	flow_sum(&base[column], weight);
}

/* Returns its node. */
static uint32_t add_sample(struct samples *s, const struct rec_sample *r, uint32_t thread, int column,
			   const struct stack_epoch *ep)
{
	uint64_t weight = s->columns->nr_events ? r->weight : 1;
	struct known_stack *x;
	uint32_t node;

	if (s->graft) {
		node = grafted_node(s, thread, r->stack, ep, r->time_ns);
		weigh_leaf(s, r->stack, ep);
		count_sample(s, node, column, 1 + r->more, weight);
		return node;
	}
	/* The usual case touches one cache line: a stack the thread had before. */
	if (!column && weight && weight == s->usual_weight && !r->more && r->stack &&
	    r->stack < ep->nr_nodes) {
		x = &s->epoch.memo[r->stack];
		if (x->thread == thread + 1 && x->n != UINT32_MAX) {
			x->n++;
			return x->node;
		}
	}
	if (!s->usual_weight && !column)
		s->usual_weight = weight;
	node = stack_node(s, thread, r->stack, ep, r->time_ns);
	weigh_leaf(s, r->stack, ep);
	count_sample(s, node, column, 1 + r->more, weight);
	return node;
}

/* Return a stack's number in all epochs; hostile ones may have more than fit. */
static uint32_t samples_stack_number(const struct samples *s, uint32_t stack)
{
	if (!stack || stack >= s->epoch_stacks || stack > UINT32_MAX - s->stacks_before)
		return stack ? UINT32_MAX : 0;
	return s->stacks_before + stack;
}

static void add_time(struct samples *s, const struct rec_sample *r, uint32_t node, int column)
{
	flow_times_add(s->times, &(struct flow_time){ .time_ns = r->time_ns,
			       .weight = s->columns->nr_events ? r->weight : 1, .node = node,
			       .thread = r->thread, .stack = samples_stack_number(s, r->stack), .cpu = r->cpu,
			       .metric = column, .user = r->user });
}

static struct had samples_labels_of(struct samples *s, const struct rec_sample *r,
				    const struct stack_epoch *ep)
{
	struct had had;

	if (!s->labels.select && !s->labels.key && !s->labels.all)
		return (struct had){ 0 };
	had.all = names_labels_of_thread(s->names, r->thread);
	had.own = threadlabels_at(s->names, r->thread, r->time_ns);
	if (!had.own && s->names->has_label_frames)
		had.own = threadlabels_of_stack(&s->labels.stacks, s->names, ep, r->stack);
	return had;
}

/* The thread that was looked at last; with a graft which it is depends on the time. */
struct last_thread {
	bool known;
	uint32_t number, index;
};

static uint32_t index_of(struct samples *s, struct last_thread *last, const struct rec_sample *r)
{
	if (!last->known || r->thread != last->number || s->graft)
		*last = (struct last_thread){ true, r->thread, thread_index(s, r->thread, r->time_ns) };
	return last->index;
}

static void samples_take_part(struct samples *s, const struct rec_sample *part, uint32_t thread, int column,
			      const struct stack_epoch *ep)
{
	uint32_t node = add_sample(s, part, thread, column, ep);

	if (s->times && (part->time_ns || s->untimed))
		add_time(s, part, node, column);
}

/*
 * Take what of the sample is in the window. The thread's labels are those at the sample's end: a waiting
 * thread changes none.
 */
static void samples_take_sample(struct samples *s, const struct rec_sample *r, struct last_thread *last,
				int column, bool wanted, const struct stack_epoch *ep)
{
	struct rec_sample part;
	uint64_t at_ns = 0;
	uint32_t thread;
	struct had had;

	if (!cut_in_window(&s->cut, r))
		return;
	if (cut_is_own(&s->cut, r)) {
		s->seen.own_ns += cut_sum(&s->cut, r, &part) ? part.weight : 0;
		return;
	}
	if (!wanted || !cut_next(&s->cut, r, &at_ns, &part)) {
		s->seen.nr_left_out += 1 + r->more;
		return;
	}
	had = samples_labels_of(s, r, ep);
	if (!is_selected_label(s, had))
		return;
	thread = labelled_index(s, index_of(s, last, r), had);
	do {
		samples_take_part(s, &part, thread, column, ep);
	} while (cut_next(&s->cut, r, &at_ns, &part));
}

static void add_to_account(struct samples *s, const struct rec_sample *r)
{
	struct account_sampled *sampled = s->sampled ? s->sampled->of[r->event] : NULL;
	uint32_t at = sampled ? map_get(&s->names->thread_of, r->thread) : MAP_NONE;

	/* of the whole machine, idle tasks are sampled as well, and charged nothing */
	if (s->names->nr_busy && names_is_idle(s->names, r->thread))
		return;
	flow_sum(&s->seen.weight_of_event[r->event], r->weight);
	if (at == MAP_NONE)
		return;
	flow_sum(&sampled[at].amount, r->weight);
	flow_sum(&sampled[at].nr, 1 + r->more);
}

int samples_take(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	struct samples *s = ctx;
	struct last_thread last = { 0 };
	bool wanted;
	int column;
	size_t i;

	samples_follow_epoch(s, ep);
	for (i = 0; i < nr; i++) {
		if (r[i].event < ACCOUNT_MAX_EVENTS)
			add_to_account(s, &r[i]);
		if (r[i].time_ns < s->window.reset_ns)
			continue;
		if (!s->seen.first_ns || r[i].time_ns < s->seen.first_ns)
			s->seen.first_ns = r[i].time_ns;
		s->seen.last_ns = MAX(s->seen.last_ns, r[i].time_ns);
		column = column_of(s, &r[i]);
		if (!column)
			s->seen.nr_read += 1 + r[i].more;
		wanted = !s->filter || filter_wants_sample(s->filter, &r[i], ep);
		if (column >= 0 && samples_is_selected(s, &r[i]))
			samples_take_sample(s, &r[i], &last, column, wanted, ep);
	}
	return 0;
}

static void samples_release(struct samples *s)
{
	free(s->cpus.wanted);
	free(s->threads);
	free(s->epoch.frames);
	free(s->epoch.memo);
	free(s->epoch.blocks);
	map_release(&s->epoch.others);
	map_release(&s->thread_of);
	map_release(&s->labels.selected);
	map_release(&s->labels.levels);
	map_release(&s->labels.threads);
	threadlabels_release_stacks(&s->labels.stacks);
	free(s->chain);
	free(s->runs);
	free(s);
}

int samples_new(struct samples **out, struct names *x, const struct samples_opts *o, struct err *e)
{
	struct samples *s = xcalloc(1, sizeof(*s));
	int r;

	s->names = x;
	s->flow = &x->m->flow;
	s->columns = o->columns;
	s->graft = o->graft;
	s->times = o->times ? &x->m->times : NULL;
	s->untimed = o->untimed;
	s->filter = o->filter;
	s->sampled = o->sampled;
	s->window = *o->window;
	cut_init(&s->cut, x, &s->window, s->filter);
	/* where no thread has labels, and in trees of calls, the view selects processes */
	if (o->labels && o->labels->nr_items && names_has_labels(x) && !o->graft)
		s->labels.select = o->labels;
	s->labels.key = o->by_label;
	s->labels.all = o->all_labels && names_has_labels(x);
	x->m->labels_selected = s->labels.select;
	s->has_processes = names_has_level(x, "processes");
	s->has_threads = names_has_level(x, "threads");
	*out = s;
	if ((r = choose_cpus(&s->cpus, o->cpus, e))) {
		samples_release(s);
		*out = NULL;
	}
	return r;
}

void samples_new_tree(struct samples *s)
{
	forget_stacks(&s->epoch);
	map_reset(&s->thread_of);
	map_reset(&s->labels.threads);
	s->nr_threads = 0;
}

void samples_free(struct samples *s, struct samples_seen *seen)
{
	samples_flush(s);
	*seen = s->seen;
	samples_release(s);
}
