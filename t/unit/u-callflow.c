// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exact call trees: what a process does to them, compared with lib/flow's builder from events,
 * which knows nothing of memory limits.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "callflow/callflow.h"
#include "callflow/layout.h"
#include "callflow/process.h"
#include "flow/check.h"
#include "flow/events.h"
#include "unit.h"

/* A clock that the test turns. */
static uint64_t now;

static uint64_t read_now(struct callflow_kthread *k)
{
	return now;
}

struct bench {
	struct callflow_area *a;
	size_t bytes;
	struct callflow_thread *t;
	struct callflow_kthread *k;
};

static uint32_t more_flags;

static void bench_open(struct bench *b, uint64_t pool_bytes, uint32_t depth)
{
	struct callflow_layout l = {
		.flags = CALLFLOW_TREES | more_flags, .nr_metrics = 1,
		.metrics = { { .kind = CALLFLOW_ALLOC_BYTES } },
		.max_depth = depth, .nr_threads = 64, .nr_functions = 64, .pool_bytes = pool_bytes,
		.tsc_ratio = (uint64_t)2 << 32, .nr_labels = 64,
	};

	b->bytes = callflow_layout_bytes(&l);
	b->a = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
	callflow_layout_write(&l, b->a);
	CHECK(callflow_attach(b->a, b->bytes));
	callflow_has_alloc_bytes(read_now);
	b->t = callflow_thread_new(getpid(), 0, 0);
	b->k = callflow_kthread_start(b->t, NULL);
	CHECK(b->t && b->k);
}

static const struct callflow_node *node(const struct bench *b, uint32_t ref)
{
	return (const void *)((const uint8_t *)b->a + b->a->pool_off + (uint64_t)ref * 8);
}

/* Consumers as small numbers. */
static uint32_t id(uint32_t consumer)
{
	if (consumer >= CALLFLOW_MARK)
		return 10000 + (consumer & CALLFLOW_VALUE);
	return consumer >= CALLFLOW_CLASS ? 20000 + (consumer & CALLFLOW_VALUE) : consumer;
}

/* Where the node is in f; what labels separate is one. */
static uint32_t to_flow(const struct bench *b, struct flow *f, uint32_t ref)
{
	uint32_t chain[4096], nr = 0, at = FLOW_NONE;

	for (; ref; ref = node(b, ref)->parent)
		if (!callflow_is_label(node(b, ref)->consumer))
			chain[nr++] = ref;
	while (nr)
		at = flow_child(f, at, id(node(b, chain[--nr])->consumer));
	return at;
}

/* The tree of thread slot as a flow; children that are there twice would show in the check below. */
static void read_tree(const struct bench *b, uint32_t slot, struct flow *f)
{
	const uint32_t *owners = (const void *)((const uint8_t *)b->a + b->a->owners_off);
	uint32_t words = b->a->node_bytes / 8, page, i;

	flow_init(f, 1, FLOW_CALLS);
	for (page = 1; page < b->a->nr_pages; page++) {
		if (owners[page] != slot + 1)
			continue;
		for (i = 0; i < 512 / words; i++) {
			const struct callflow_node *n = node(b, page * 512 + i * words);

			if (n->consumer && (n->calls & CALLFLOW_CALLS || n->base[0]))
				flow_add(f, to_flow(b, f, page * 512 + i * words), n->calls & CALLFLOW_CALLS,
					 n->base);
		}
	}
	flow_finish(f);
}

static uint64_t calls_of(const struct flow *f, uint32_t consumer)
{
	uint64_t n = 0;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		if (f->nodes[i].consumer == consumer)
			n += f->nodes[i].n;
	return n;
}

/* Every path of x with the same n and base in y. */
static bool is_within(const struct flow *x, const struct flow *y)
{
	uint32_t *to = xcalloc(x->nr_nodes, sizeof(*to)), i = FLOW_NONE;
	bool same = true;

	while (same && (i = flow_next(x, i))) {
		const struct flow_node *n = &x->nodes[i];

		to[i] = flow_child_find(y, to[n->parent], n->consumer);
		same = to[i] && y->nodes[to[i]].n == n->n && flow_base(y, to[i])[0] == flow_base(x, i)[0];
	}
	free(to);
	return same;
}

/* The innermost open call as the recorder finds it, who does not see the stack. */
static uint32_t innermost(const struct bench *b)
{
	uint64_t depth = callflow_depth(b->k) - b->t->beyond;
	uint32_t ref = b->t->at;

	if (b->t->innermost)
		return b->t->innermost;
	for (; depth; depth--)
		ref = node(b, ref)->child;
	return ref;
}

static void check_innermost(const struct bench *b)
{
	CHECK_U64(innermost(b), ((const struct callflow_open *)(uintptr_t)b->t->top)->node);
}

/*
 * An object of what the thread allocates, with a class that is known; it is reported after it was allocated.
 */
static uint64_t allocate(struct bench *b, uint32_t *class)
{
	uint64_t bytes = 8 * (1 + unit_random() % 9);

	*class = 1 + unit_random() % 20;
	now += bytes;
	callflow_charge_object(b->k, *class, bytes);
	return bytes;
}

static uint64_t of_objects;		/* of now */

static void allocate_both(struct bench *b, struct flow_events *e)
{
	uint32_t class;
	uint64_t bytes = allocate(b, &class);

	of_objects += bytes;
	flow_add(e->f, flow_child(e->f, e->open, id(CALLFLOW_CLASS | class)), 0, &bytes);
}

/* A random walk through calls, with leaves of outer frames and of frames nobody entered. */
static void step_both(struct bench *b, struct flow_events *e, uint32_t nr_functions)
{
	uint32_t f = 1 + unit_random() % nr_functions;
	uint64_t rest;

	now += unit_random() % 100;
	if (unit_random() % 4 == 0)
		allocate_both(b, e);
	rest = now - of_objects;
	if (unit_random() % 100 < 52) {
		callflow_enter(b->k, f);
		flow_events_enter(e, f, &rest);
	} else if (unit_random() % 100 < 97 && callflow_depth(b->k)) {
		f = e->f->nodes[e->open].consumer;
		callflow_leave(b->k, f);
		flow_events_leave(e, f, &rest);
	} else {
		callflow_leave(b->k, f);
		flow_events_leave(e, f, &rest);
	}
}

TEST(callflow_builds_the_tree_that_the_events_describe)
{
	struct flow_events e;
	struct flow want, got;
	struct bench b;
	int i;

	now = of_objects = 0;
	bench_open(&b, 64 << 20, 1 << 20);
	flow_init(&want, 1, FLOW_CALLS);
	flow_events_init(&e, &want);
	flow_events_switch(&e, id(CALLFLOW_CONSUMER_THREAD), &now);
	for (i = 0; i < 20000; i++) {
		step_both(&b, &e, 40);
		check_innermost(&b);
	}
	CHECK_U64(b.t->popped, want.repairs.popped);
	CHECK_U64(b.t->inserted, want.repairs.inserted);
	CHECK_U64(b.t->over_range, 0);
	CHECK(of_objects > 100000);
	CHECK(want.repairs.inserted > 0 && want.repairs.popped > 0);
	flow_events_finish(&e);
	CHECK_U64(callflow_depth(b.k), want.repairs.closed);
	flow_finish(&want);
	read_tree(&b, 0, &got);
	CHECK(is_within(&want, &got));
	CHECK(is_within(&got, &want));
	flow_events_release(&e);
	flow_release(&want);
	flow_release(&got);
}

static void check_totals(const struct bench *b, uint64_t calls)
{
	struct flow_check checks[FLOW_NR_CHECKS];
	struct flow f;
	uint64_t base;

	callflow_kthread_note(b->k);
	read_tree(b, 0, &f);
	CHECK_U64(flow_totals(&f, &base), calls + 1);	/* the thread's own */
	CHECK_U64(base, now);
	CHECK_U64(flow_check(&f, checks), 0);
	flow_release(&f);
}

TEST(callflow_full_memory_folds_and_keeps_the_totals)
{
	uint64_t calls = 0;
	uint32_t class;
	struct bench b;
	int i;

	now = 0;
	bench_open(&b, 1 << 20, 1 << 20);
	for (i = 0; i < 300000; i++) {
		now += unit_random() % 100;
		if (unit_random() % 8 == 0)
			allocate(&b, &class);
		if (unit_random() % 100 < (callflow_depth(b.k) < 60 ? 55 : 30)) {
			callflow_enter(b.k, 1 + unit_random() % 1000);
			calls++;
		} else if (callflow_depth(b.k)) {
			callflow_leave_top(b.k);
		}
		check_innermost(&b);
	}
	callflow_unwind(b.k, 0);
	CHECK(b.t->folded > 0 && b.t->folded < calls);
	CHECK_U64(b.t->inserted, 0);
	check_totals(&b, calls);
}

static uint64_t base_of(const struct flow *f, uint32_t consumer)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		if (f->nodes[i].consumer == consumer)
			sum += flow_base(f, i)[0];
	return sum;
}

/*
 * A call of two thousand: 1 in 9 takes 500 times as long as the others. Deep ones and wide ones, and
 * they change over time.
 */
static uint64_t call_many(struct bench *b, uint32_t first)
{
	uint64_t hot = 0;
	int i, k;

	for (i = 0; i < 200000; i++) {
		uint32_t cold = 10000 + unit_random() % 100000, is_hot = unit_random() % 9 == 0;

		for (k = 0; k < 5; k++)
			callflow_enter(b->k, is_hot ? first + (i % 40) * 10 + k : cold + 7 * k);
		now += is_hot ? 500 : 1;
		hot += is_hot ? 500 : 0;
		callflow_unwind(b->k, 0);
	}
	return hot;
}

TEST(callflow_full_memory_keeps_what_is_hot)
{
	uint64_t hot, calls = 2 * 200000 * 5;
	struct bench b;
	struct flow f;

	now = 0;
	bench_open(&b, 1 << 20, 1 << 20);
	/* the second ones come when it has been full for long */
	hot = call_many(&b, 1000) + call_many(&b, 2000);
	CHECK(b.t->folded > 1000000);
	check_totals(&b, calls);
	read_tree(&b, 0, &f);
	CHECK(base_of(&f, 10000 + (CALLFLOW_CONSUMER_PRUNED & CALLFLOW_VALUE)) < (now - hot) + hot / 20);
	CHECK(f.nr_nodes > (1 << 20) / 32 / 4);
	flow_release(&f);
}

/* After now has gone on by took in it, a call that has ended. */
static void call_for(struct bench *b, uint32_t consumer, uint64_t took)
{
	callflow_enter(b->k, consumer);
	now += took;
	callflow_leave(b->k, consumer);
}

static void read_swept(bool sweeps, struct flow *f)
{
	struct bench b;

	now = 0;
	bench_open(&b, 8 << 20, 1000);
	b.a->prune_share = (uint32_t)(0.1 * 4294967296.0);
	b.a->prune_tsc = sweeps ? 0 : UINT64_MAX;
	callflow_enter(b.k, 1);
	now += 70;
	callflow_enter(b.k, 2);
	call_for(&b, 6, 9);		/* all that 2 has: it goes with it */
	callflow_leave(b.k, 2);
	callflow_enter(b.k, 3);
	now += 20;
	call_for(&b, 7, 1);
	callflow_leave(b.k, 3);
	callflow_enter(b.k, 4);
	call_for(&b, 5, 1);		/* 4 is open, and stays */
	callflow_unwind(b.k, 0);
	check_totals(&b, 7);
	read_tree(&b, 0, f);
}

TEST(callflow_a_sweep_drops_what_has_a_small_share_of_its_caller)
{
	const uint32_t pruned = 10000 + (CALLFLOW_CONSUMER_PRUNED & CALLFLOW_VALUE);
	struct flow f;

	read_swept(true, &f);
	CHECK_U64(calls_of(&f, 2) + calls_of(&f, 6) + calls_of(&f, 7), 0);
	CHECK_U64(calls_of(&f, 1), 1);
	CHECK_U64(base_of(&f, 1), 70);
	CHECK_U64(calls_of(&f, 3), 1);
	CHECK_U64(base_of(&f, 3), 20);
	CHECK_U64(calls_of(&f, 4) + calls_of(&f, 5), 2);
	CHECK_U64(calls_of(&f, pruned), 3);
	CHECK_U64(base_of(&f, pruned), 10);
	flow_release(&f);
}

TEST(callflow_a_sweep_waits_until_it_is_due)
{
	const uint32_t pruned = 10000 + (CALLFLOW_CONSUMER_PRUNED & CALLFLOW_VALUE);
	struct flow f;

	read_swept(false, &f);
	CHECK_U64(calls_of(&f, 2) + calls_of(&f, 6) + calls_of(&f, 7), 3);
	CHECK_U64(calls_of(&f, pruned), 0);
	flow_release(&f);
}

TEST(callflow_recursion_of_a_million_levels_stays_small_and_exact)
{
	const uint32_t nr = 1000000;
	struct flow f;
	struct bench b;
	uint32_t i;

	now = 0;
	bench_open(&b, 8 << 20, 1000);
	for (i = 0; i < nr; i++, now++)
		callflow_enter(b.k, 1 + i % 3);
	CHECK_U64(callflow_depth(b.k), nr);
	callflow_enter(b.k, 9);	/* no call of this one to fold into */
	callflow_leave(b.k, 9);
	for (; i; i--, now++)
		callflow_leave(b.k, 1 + (i - 1) % 3);
	CHECK_U64(callflow_depth(b.k), 0);
	CHECK_U64(b.t->popped + b.t->inserted, 0);
	CHECK_U64(b.t->folded_recursion, nr - 1000);
	CHECK_U64(b.t->folded, 1);
	check_totals(&b, nr + 1);
	read_tree(&b, 0, &f);
	CHECK_U64(calls_of(&f, 1), (nr + 2) / 3);
	CHECK(f.nr_nodes < 1010);
	flow_release(&f);
}

/*
 * Folded calls share nodes with those around them, and none of it may mislead who follows the last
 * used children.
 */
TEST(callflow_the_innermost_open_call_is_found_at_every_step)
{
	uint32_t class;
	struct bench b;
	int i;

	now = 0;
	bench_open(&b, 8 << 20, 20);
	for (i = 0; i < 200000; i++) {
		uint64_t depth = callflow_depth(b.k);

		if (unit_random() % 100 < (depth < 60 ? 52 : 40))
			callflow_enter(b.k, 1 + unit_random() % (i & 64 ? 3 : 12));
		else if (depth && unit_random() % 50 == 0)
			callflow_unwind(b.k, unit_random() % depth);
		else if (depth)
			callflow_leave_top(b.k);
		if (unit_random() % 8 == 0)
			allocate(&b, &class);
		check_innermost(&b);
	}
	CHECK(b.t->folded_recursion > 1000 && b.t->folded > 1000);
	CHECK_U64(b.t->popped > 0 && !b.t->inserted, 1);
}

/* The consumer of the labels that the node has; 0: none. */
static uint32_t labels_of(const struct bench *b, uint32_t ref)
{
	for (; ref; ref = node(b, ref)->parent)
		if (callflow_is_label(node(b, ref)->consumer))
			return node(b, ref)->consumer;
	return 0;
}

/* What contexts with these labels have, together. */
static void sum_of_labels(const struct bench *b, uint32_t labels, uint64_t *calls, uint64_t *base)
{
	uint32_t words = b->a->node_bytes / 8, page, i;

	*calls = *base = 0;
	for (page = 1; page < b->a->nr_pages; page++)
		for (i = 0; i < 512 / words; i++) {
			const struct callflow_node *n = node(b, page * 512 + i * words);

			if (!n->consumer || labels_of(b, page * 512 + i * words) != labels)
				continue;
			*calls += n->calls & CALLFLOW_CALLS;
			*base += n->base[0];
		}
}

static const char *const label_texts[] = { "", "endpoint=/cart", "endpoint=/pay", "endpoint=/pay,tenant=a" };

/* The same calls, with labels that change in the middle of them, and counted for each. */
struct labelled {
	uint64_t calls[4], base[4];
	uint32_t now, consumer[4];
};

static void change_labels(struct bench *b, struct labelled *l)
{
	l->now = unit_random() % 4;
	callflow_label(b->k, label_texts[l->now], strlen(label_texts[l->now]));
	l->consumer[l->now] = labels_of(b, b->t->at);
	CHECK(!l->now == !l->consumer[l->now]);
}

static void walk_labelled(struct bench *b, struct labelled *l, struct flow_events *e, int steps,
			  uint32_t nr_functions, uint32_t depth)
{
	int i;

	for (i = 0; i < steps; i++) {
		uint32_t f = 1 + unit_random() % nr_functions, took = unit_random() % 100;

		now += took;
		l->base[l->now] += took;
		if (unit_random() % 100 < (callflow_depth(b->k) < depth ? 55 : 30)) {
			callflow_enter(b->k, f);
			l->calls[l->now]++;
			if (e)
				flow_events_enter(e, f, &now);
		} else if (callflow_depth(b->k)) {
			callflow_leave_top(b->k);
			if (e)
				flow_events_leave(e, e->f->nodes[e->open].consumer, &now);
		}
		if (unit_random() % 8 == 0)
			change_labels(b, l);
		check_innermost(b);
	}
}

TEST(callflow_labels_separate_what_is_one_tree_without)
{
	struct labelled l = { .calls = { 1 } };		/* the thread's own */
	struct flow_events e;
	struct flow want, got;
	uint64_t calls, base;
	struct bench b;
	int i;

	now = 0;
	bench_open(&b, 64 << 20, 1 << 20);
	flow_init(&want, 1, FLOW_CALLS);
	flow_events_init(&e, &want);
	flow_events_switch(&e, id(CALLFLOW_CONSUMER_THREAD), &now);
	walk_labelled(&b, &l, &e, 20000, 10, 30);
	callflow_kthread_note(b.k);
	flow_events_finish(&e);
	flow_finish(&want);
	read_tree(&b, 0, &got);
	CHECK(is_within(&want, &got));
	CHECK(is_within(&got, &want));
	CHECK_U64(b.t->folded + b.t->popped + b.t->inserted, 0);
	for (i = 0; i < 4; i++) {
		sum_of_labels(&b, l.consumer[i], &calls, &base);
		CHECK_U64(calls, l.calls[i]);
		CHECK_U64(base, l.base[i]);
	}
	flow_events_release(&e);
	flow_release(&want);
	flow_release(&got);
}

TEST(callflow_labels_keep_the_totals_where_contexts_are_merged)
{
	struct labelled l = { .calls = { 0 } };
	struct bench b;

	now = 0;
	bench_open(&b, 1 << 20, 20);
	walk_labelled(&b, &l, NULL, 100000, 3, 60);	/* deeper than contexts go */
	CHECK(b.t->folded_recursion > 1000);
	walk_labelled(&b, &l, NULL, 100000, 1000, 60);	/* more than there is room for */
	CHECK(b.t->folded > 1000);
	callflow_unwind(b.k, 0);
	check_totals(&b, l.calls[0] + l.calls[1] + l.calls[2] + l.calls[3]);
}

TEST(callflow_labels_that_find_no_room_are_unknown)
{
	struct bench b;
	char text[32];
	uint64_t calls, base;
	uint32_t i;

	now = 0;
	bench_open(&b, 1 << 20, 100);
	callflow_enter(b.k, 1);
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "trace-id=%u", i);
		callflow_label(b.k, text, strlen(text));
		callflow_enter(b.k, 2);
		now += 5;
		callflow_leave(b.k, 2);
	}
	callflow_label(b.k, "", 0);
	callflow_leave(b.k, 1);
	sum_of_labels(&b, CALLFLOW_CONSUMER_LABEL_UNKNOWN, &calls, &base);
	CHECK(calls > 900 && calls < 1000 && base == 5 * calls);
	check_totals(&b, 1001);
}

static void bench_open_timed(struct bench *b, uint32_t depth)
{
	struct callflow_layout l = {
		.flags = CALLFLOW_TREES | CALLFLOW_TIMED, .nr_metrics = CALLFLOW_NR_TIMED, .max_depth = depth,
		.nr_threads = 64, .nr_functions = 64, .pool_bytes = 8 << 20, .tsc_ratio = (uint64_t)2 << 32,
	};

	b->bytes = callflow_layout_bytes(&l);
	b->a = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
	callflow_layout_write(&l, b->a);
	CHECK(callflow_attach(b->a, b->bytes));
	b->t = callflow_thread_new(getpid(), 0, 0);
	b->k = callflow_kthread_start(b->t, NULL);
	CHECK(b->t && b->k);
}

/* Nodes that say that a call is open. */
static uint64_t nr_since(const struct bench *b)
{
	uint32_t words = b->a->node_bytes / 8, page, i;
	uint64_t nr = 0;

	for (page = 1; page < b->a->nr_pages; page++)
		for (i = 0; i < 512 / words; i++)
			nr += !!node(b, page * 512 + i * words)->base[CALLFLOW_SINCE];
	return nr;
}

/* Open calls that have their context alone. */
static uint64_t nr_timed(const struct bench *b)
{
	const struct callflow_open *o = (const void *)(uintptr_t)b->t->stack;
	uint64_t nr = 0;

	for (o++; o <= (const struct callflow_open *)(uintptr_t)b->t->top; o++) {
		if (o->consumer != node(b, o->node)->consumer)
			continue;
		nr++;
		CHECK(node(b, o->node)->base[CALLFLOW_SINCE]);
	}
	return nr;
}

TEST(callflow_timed_calls_say_since_when_they_are_open)
{
	struct bench b;
	int i;

	bench_open_timed(&b, 20);
	for (i = 0; i < 20000; i++) {
		uint64_t depth = callflow_depth(b.k);

		if (unit_random() % 100 < (depth < 40 ? 80 : 40))
			callflow_enter_timed(b.k, 1 + unit_random() % 3);
		else if (depth && unit_random() % 50 == 0)
			callflow_unwind(b.k, unit_random() % depth);
		else if (unit_random() % 8)
			callflow_leave_timed(b.k, 1 + unit_random() % 3);
		else
			callflow_thrown_timed(b.k, 1 + unit_random() % 3);
		if (i % 100 == 0)
			CHECK_U64(nr_since(&b), nr_timed(&b));
	}
	CHECK(b.t->folded_recursion > 10);
	callflow_enter_timed(b.k, 1);
	callflow_kthread_end(b.k);
	CHECK_U64(nr_since(&b), 0);
}

TEST(callflow_timed_calls_keep_the_longest)
{
	struct callflow_node *n;
	uint64_t longest, since;
	struct bench b;
	int i;

	bench_open_timed(&b, 20);
	callflow_enter_timed(b.k, 7);
	n = (void *)((uint8_t *)b.a + b.a->pool_off + (uint64_t)innermost(&b) * 8);
	since = n->base[CALLFLOW_SINCE];
	usleep(2000);
	CHECK_U64(n->base[CALLFLOW_LONGEST], 0);
	callflow_leave_timed(b.k, 7);
	longest = n->base[CALLFLOW_LONGEST];
	CHECK(longest && !n->base[CALLFLOW_SINCE]);
	CHECK_U64(n->base[CALLFLOW_LONGEST_SINCE], since);
	/* the recorder has taken it: only what came later counts */
	n->base[CALLFLOW_LONGEST] = 0;
	for (i = 0; i < 100; i++) {
		callflow_enter_timed(b.k, 7);
		callflow_leave_timed(b.k, 7);
	}
	CHECK(n->base[CALLFLOW_LONGEST] && n->base[CALLFLOW_LONGEST_SINCE] > since);
	CHECK_U64(n->calls & CALLFLOW_CALLS, 101);
}

TEST(callflow_nodes_with_many_children_keep_them_apart)
{
	const uint32_t nr = 5000;
	struct flow f;
	struct bench b;
	uint32_t i, round;

	now = 0;
	bench_open(&b, 8 << 20, 100);
	for (round = 0; round < 3; round++)
		for (i = 0; i < nr; i++) {
			callflow_enter(b.k, 1 + i * (round + 1) % nr);
			callflow_leave_top(b.k);
		}
	read_tree(&b, 0, &f);
	CHECK_U64(f.nr_nodes, nr + 2);
	CHECK_U64(calls_of(&f, 1), 4);		/* 0 is met once by steps of 1 and 3, twice by steps of 2 */
	CHECK_U64(calls_of(&f, 2), 2);		/* 1 is odd: never by steps of 2 */
	check_totals(&b, 3 * nr);
	flow_release(&f);
}

static uint64_t at(uint64_t sp, uint64_t site)
{
	return callflow_frame(sp * 16, site);
}

TEST(callflow_frames_that_longjmp_left_are_closed)
{
	struct flow f;
	struct bench b;

	now = 0;
	bench_open(&b, 1 << 20, 100);
	callflow_enter_frame(b.k, 1, at(1000, 7));
	callflow_enter_frame(b.k, 2, at(900, 7));
	callflow_enter_frame(b.k, 2, at(800, 7));
	callflow_enter_frame(b.k, 3, at(700, 7));
	callflow_enter_frame(b.k, 4, at(850, 8));	/* 800 and 700 are gone; 2 at 900 called it */
	CHECK_U64(b.t->popped, 2);
	CHECK_U64(callflow_depth(b.k), 3);
	callflow_leave_frame(b.k, 4, at(850, 8));
	callflow_enter_frame(b.k, 2, at(800, 7));
	callflow_enter_frame(b.k, 2, at(700, 7));
	callflow_leave_frame(b.k, 2, at(900, 7));	/* the outermost 2: it lies exactly there */
	CHECK_U64(b.t->popped, 4);
	callflow_leave_frame(b.k, 1, at(1000, 7));
	CHECK_U64(callflow_depth(b.k), 0);
	CHECK_U64(b.t->popped, 4);
	CHECK_U64(b.t->inserted, 0);
	read_tree(&b, 0, &f);
	CHECK_U64(calls_of(&f, 2), 4);
	check_totals(&b, 7);
	flow_release(&f);
}

TEST(callflow_inlined_functions_share_a_frame)
{
	struct bench b;

	now = 0;
	bench_open(&b, 1 << 20, 100);
	callflow_enter_frame(b.k, 1, at(1000, 7));
	callflow_enter_frame(b.k, 2, at(1000, 7));	/* inlined in 1, */
	callflow_enter_frame(b.k, 2, at(1000, 7));	/* and once more in itself */
	CHECK_U64(callflow_depth(b.k), 3);
	callflow_leave_frame(b.k, 2, at(1000, 7));
	callflow_leave_frame(b.k, 2, at(1000, 7));
	callflow_enter_frame(b.k, 3, at(900, 8));
	callflow_enter_frame(b.k, 4, at(900, 9));	/* 3 was left by longjmp(): another call from 1 */
	CHECK_U64(b.t->popped, 1);
	CHECK_U64(callflow_depth(b.k), 2);
	callflow_enter_frame(b.k, 5, at(800, 7));
	callflow_enter_frame(b.k, 4, at(900, 9));	/* 5 jumped back beyond 4, which is called again */
	CHECK_U64(b.t->popped, 3);
	CHECK_U64(callflow_depth(b.k), 2);
	callflow_enter_frame(b.k, 5, at(800, 7));
	callflow_enter_frame(b.k, 6, at(900, 9));	/* 5 jumped into 4, which has 6 inlined */
	CHECK_U64(b.t->popped, 4);
	CHECK_U64(callflow_depth(b.k), 3);
	callflow_leave_frame(b.k, 6, at(900, 9));
	callflow_leave_frame(b.k, 4, at(900, 9));
	callflow_leave_frame(b.k, 1, at(1000, 7));
	CHECK_U64(callflow_depth(b.k), 0);
	CHECK_U64(b.t->popped, 4);
	CHECK_U64(b.t->inserted, 0);
	check_totals(&b, 9);
}

TEST(callflow_a_function_that_ends_in_a_jump_has_no_frame_any_more)
{
	struct bench b;

	now = 0;
	bench_open(&b, 1 << 20, 100);
	callflow_enter_frame(b.k, 1, at(1000, 7));
	callflow_enter_frame(b.k, 2, at(900, 8));
	callflow_enter_frame(b.k, 2, at(800, 9));
	callflow_enter_frame(b.k, 2, at(700, 9));
	callflow_leave_frame(b.k, 2, at(800, 9));	/* the innermost: as high as its caller */
	CHECK_U64(callflow_depth(b.k), 3);
	callflow_leave_frame(b.k, 2, at(895, 9));	/* or a little below */
	CHECK_U64(callflow_depth(b.k), 2);
	callflow_leave_frame(b.k, 2, at(1000, 8));
	CHECK_U64(callflow_depth(b.k), 1);
	callflow_leave_frame(b.k, 1, at(1004, 7));
	CHECK_U64(callflow_depth(b.k), 0);
	CHECK_U64(b.t->popped + b.t->inserted, 0);
	check_totals(&b, 4);
}

TEST(callflow_a_mounted_thread_is_charged_what_its_carrier_consumes)
{
	struct callflow_thread *v;
	struct flow f;
	struct bench b;
	uint64_t base;

	now = 0;
	bench_open(&b, 1 << 20, 100);
	v = callflow_thread_new(0, 17, CALLFLOW_THREAD_VIRTUAL);
	callflow_enter(b.k, 1);
	now += 10;
	callflow_mount(b.k, v);
	now += 100;
	callflow_enter(b.k, 2);
	now += 1000;
	callflow_unmount(b.k);
	now += 10000;
	callflow_leave(b.k, 1);
	callflow_mount(b.k, v);
	now += 100000;
	callflow_leave(b.k, 2);
	callflow_unmount(b.k);
	callflow_kthread_end(b.k);
	CHECK_U64(v->mounts, 2);
	CHECK_U64(b.t->state, CALLFLOW_ENDED);
	read_tree(&b, 0, &f);
	CHECK_U64(flow_totals(&f, &base), 2);
	CHECK_U64(base, 10010);
	flow_release(&f);
	read_tree(&b, 1, &f);
	CHECK_U64(flow_totals(&f, &base), 2);
	CHECK_U64(base, 101100);
	CHECK_U64(calls_of(&f, 2), 1);
	flow_release(&f);
}

TEST(callflow_more_threads_than_slots_are_counted)
{
	struct bench b;
	int i;

	bench_open(&b, 1 << 20, 100);
	for (i = 1; i < 64; i++)
		CHECK(callflow_thread_new(i, 0, 0));
	CHECK(!callflow_thread_new(99, 0, 0));
	CHECK(!callflow_thread_new(100, 0, 0));
	CHECK_U64(b.a->lost_threads, 2);
}

/* What a thread calls without a tree is lost, until it has one and leaves it: then it is counted. */
TEST(callflow_calls_of_threads_without_room_are_lost_until_counted)
{
	struct callflow_thread *late;
	struct bench b;
	int i;

	bench_open(&b, 1 << 20, 100);
	callflow_sees_entries();
	callflow_mount(b.k, NULL);	/* excluded: it is not a loss */
	callflow_enter(b.k, 7);
	CHECK_U64(b.a->lost_calls, 0);
	callflow_mount_lost(b.k);
	for (i = 1; i <= 5; i++)
		callflow_enter(b.k, i);
	callflow_leave(b.k, 5);
	callflow_leave(b.k, 4);
	CHECK_U64(b.a->lost_calls, 5);
	late = callflow_thread_new(0, 1, CALLFLOW_THREAD_VIRTUAL | CALLFLOW_THREAD_LATE);
	callflow_mount(b.k, late);
	for (i = 3; i; i--)
		callflow_leave(b.k, i);
	callflow_enter(b.k, 9);
	CHECK_U64(b.a->lost_calls, 2);
	CHECK_U64(late->inserted, 3);
	callflow_unmount(b.k);
	CHECK_U64(b.a->lost_calls, 2);
}

/* An exit that is reported twice, as Thread.stop() can make it, changes nothing. */
TEST(callflow_an_exit_that_was_reported_leaves_the_tree_as_it_is)
{
	struct bench b;
	struct flow f;

	now = 0;
	bench_open(&b, 1 << 20, 100);
	callflow_sees_entries();
	callflow_enter(b.k, 1);
	callflow_enter(b.k, 2);
	callflow_leave(b.k, 2);
	callflow_thrown(b.k, 2);
	CHECK_U64(callflow_depth(b.k), 1);
	callflow_enter(b.k, 3);
	callflow_leave(b.k, 3);
	callflow_leave(b.k, 1);
	CHECK_U64(b.t->inserted, 1);
	CHECK_U64(b.t->popped, 0);
	read_tree(&b, 0, &f);
	CHECK_U64(flow_child_find(
			  &f,
			  flow_child_find(&f, flow_child_find(&f, FLOW_NONE, id(CALLFLOW_CONSUMER_THREAD)),
					  1),
			  3) != 0,
		  1);
	CHECK_U64(calls_of(&f, 1) + calls_of(&f, 2) + calls_of(&f, 3), 3);
	flow_release(&f);
}

TEST(callflow_tiers_of_a_method_are_contexts_that_its_exit_finds)
{
	const uint32_t c1 = CALLFLOW_TIER_C1 << CALLFLOW_TIER_SHIFT | 7, c2 = c1 + (1 << CALLFLOW_TIER_SHIFT);
	struct bench b;
	struct flow f;

	bench_open(&b, 1 << 20, 100);
	callflow_enter(b.k, c1);
	callflow_enter(b.k, c2);
	CHECK_U64(callflow_as_entered(b.k, 7), c2);
	callflow_leave(b.k, 7);
	CHECK_U64(callflow_as_entered(b.k, 7), c1);
	callflow_leave(b.k, c1);
	CHECK_U64(callflow_as_entered(b.k, 7), 7);
	CHECK_U64(callflow_depth(b.k) + b.t->popped, 0);
	read_tree(&b, 0, &f);
	CHECK_U64(calls_of(&f, c1) * calls_of(&f, c2), 1);
}

/* The site of a method: where there is none yet, a number that nothing has. */
static uint32_t site(uint64_t method, uint32_t place)
{
	return callflow_function(CALLFLOW_SITE | CALLFLOW_SITE_JAVA | method << CALLFLOW_PLACE_BITS | place);
}

static void call_at(struct bench *b, uint32_t place, uint32_t method)
{
	callflow_at(b->k, place);
	callflow_enter_at(b->k, method);
	now++;
}

TEST(callflow_places_that_methods_call_from_are_contexts)
{
	struct bench b;
	struct flow f;
	uint32_t caller, at, i;

	more_flags = CALLFLOW_SITES;
	bench_open(&b, 1 << 20, 5000);
	call_at(&b, 3, 1);		/* by nobody: there is no site */
	call_at(&b, 12, 2);
	callflow_leave_at(b.k, 2);
	callflow_enter_at(b.k, 2);	/* from there again */
	callflow_enter_at(b.k, 4);	/* which has not said from where */
	callflow_leave_at(b.k, 4);
	callflow_thrown_at(b.k, 2);
	call_at(&b, 13, 2);
	callflow_leave_at(b.k, 2);
	for (i = 0; i < 1000; i++)	/* the stack grows */
		call_at(&b, 20, 1);
	for (i = 0; i < 1000; i++)
		callflow_leave_at(b.k, 1);
	callflow_enter_at(b.k, 5);	/* and still has where the outermost was */
	CHECK_U64(callflow_depth(b.k), 3);
	callflow_unwind(b.k, 1);
	callflow_at(b.k, 0);
	callflow_enter_at(b.k, 5);
	callflow_leave_at(b.k, 5);
	callflow_leave_at(b.k, 1);
	CHECK_U64(callflow_depth(b.k), 0);
	CHECK_U64(b.t->thrown, 1);
	CHECK_U64(b.t->popped, 2);
	read_tree(&b, 0, &f);
	caller = flow_child_find(&f, flow_child_find(&f, FLOW_NONE, id(CALLFLOW_CONSUMER_THREAD)), 1);
	at = flow_child_find(&f, caller, site(1, 12));
	CHECK_U64(f.nodes[at].n, 2);
	CHECK_U64(f.nodes[flow_child_find(&f, at, 2)].n, 2);
	CHECK_U64(f.nodes[flow_child_find(&f, flow_child_find(&f, at, 2), 4)].n, 1);
	CHECK_U64(f.nodes[flow_child_find(&f, caller, site(1, 13))].n, 1);
	CHECK_U64(f.nodes[flow_child_find(&f, flow_child_find(&f, caller, site(1, 20)), 5)].n, 1);
	CHECK_U64(f.nodes[flow_child_find(&f, caller, 5)].n, 1);
	CHECK_U64(calls_of(&f, site(1, 20)), 1001);
	CHECK_U64(calls_of(&f, site(1, 3)) + flow_base(&f, at)[0], 0);
	flow_release(&f);
}

TEST(callflow_places_are_left_with_their_calls_at_any_depth)
{
	struct bench b;
	uint32_t i;

	more_flags = CALLFLOW_SITES;
	bench_open(&b, 1 << 20, 10);
	for (i = 0; i < 100; i++)
		call_at(&b, 1 + i % 3, 1);
	CHECK_U64(callflow_depth(b.k), 199);
	for (i = 0; i < 100; i++)
		callflow_leave_at(b.k, 1);
	CHECK_U64(callflow_depth(b.k) + b.t->popped, 0);
}

/* A thousand threads, one after the other, in 64 slots: the first have a tree each, nothing is lost. */
static void run_threads(uint32_t flags, uint64_t pool_bytes, uint64_t most_pages)
{
	struct callflow_thread *early[3];
	struct callflow_kthread *k;
	struct bench b;
	uint64_t calls = 0, base = 0, of_tree;
	uint32_t i, last;

	now = 0;
	bench_open(&b, pool_bytes, 100);
	callflow_kthread_end(b.k);
	for (i = 1; i <= 1000; i++) {
		struct callflow_thread *t = callflow_thread_new(i, i, flags);

		CHECK(t);
		if (i <= ARRAY_SIZE(early))
			early[i - 1] = t;
		callflow_thread_name(t, "one", 3);
		k = callflow_kthread_start(flags & CALLFLOW_THREAD_VIRTUAL ? NULL : t, NULL);
		if (flags & CALLFLOW_THREAD_VIRTUAL)
			callflow_mount(k, t);
		callflow_enter(k, 1 + i % 7);
		now += i;
		callflow_enter(k, 100 + i);	/* left open */
		now++;
		if (flags & CALLFLOW_THREAD_VIRTUAL)
			callflow_unmount(k);
		callflow_kthread_end(k);
		if (flags & CALLFLOW_THREAD_VIRTUAL)
			callflow_thread_end(t);
		CHECK_STR(t->name, t->flags & CALLFLOW_THREAD_SEVERAL ?
			  flags ? "[several virtual threads] one" : "[several threads] one" : "one");
	}
	CHECK_U64(b.a->lost_threads, 0);
	CHECK(b.a->next_page <= most_pages);
	last = b.a->next_thread;
	CHECK(last <= 33);
	CHECK_U64(b.a->merged_threads, 1 + 1000 - last);
	for (i = 0; i < last; i++) {
		struct flow f;

		read_tree(&b, i, &f);
		calls += flow_totals(&f, &of_tree);
		base += of_tree;
		flow_release(&f);
	}
	/* those that began when there was plenty have their trees, and names, for themselves */
	for (i = 0; i < ARRAY_SIZE(early); i++) {
		CHECK_STR(early[i]->name, "one");
		CHECK_U64(early[i]->tid, i + 1);
	}
	/* with the threads themselves, and the one that the bench began with */
	CHECK_U64(calls, 3 * 1000 + 1);
	CHECK_U64(base, 1000 * 1001 / 2 + 1000);
}

TEST(callflow_ended_threads_give_their_trees_to_others_when_slots_run_short)
{
	run_threads(0, 1 << 20, 256);
}

TEST(callflow_virtual_threads_have_trees)
{
	run_threads(CALLFLOW_THREAD_VIRTUAL, 1 << 20, 256);
}

TEST(callflow_and_when_memory_does)
{
	run_threads(0, 64 << 10, 32);
}

/* More at once than there is room for: main, which has ended, keeps its name while there is any. */
static void crowd(uint64_t pool_bytes)
{
	struct callflow_thread *first, *t;
	uint32_t nr = 0;
	struct bench b;

	now = 0;
	bench_open(&b, pool_bytes, 100);
	first = callflow_thread_new(1, 1, 0);
	callflow_thread_name(first, "main", 4);
	callflow_kthread_end(callflow_kthread_start(first, NULL));
	while ((t = callflow_thread_new(2, 2, 0)) && t != first) {
		CHECK_STR(first->name, "main");
		CHECK_U64(b.a->merged_threads, 0);
		CHECK(++nr < 64);
	}
	CHECK(t == first);
	CHECK(nr >= 8);
	CHECK_STR(first->name, "[several threads] main");
	callflow_thread_name(t, "main-2", 6);
	CHECK_STR(first->name, "[several threads] main*");
	callflow_thread_name(t, "mail", 4);
	CHECK_STR(first->name, "[several threads] mai*");
	callflow_thread_name(t, "other", 5);
	CHECK_STR(first->name, "[several threads]");
	callflow_thread_name(t, "main", 4);
	CHECK_STR(first->name, "[several threads]");
	CHECK_U64(b.a->merged_threads, 1);
}

TEST(callflow_a_tree_from_when_there_was_plenty_is_the_last_to_be_continued)
{
	crowd(1 << 20);		/* slots run out */
	callflow_release();
	crowd(64 << 10);	/* pages do */
}

TEST(callflow_functions_have_one_number_each)
{
	uint32_t seen[32], i, k;
	struct bench b;

	bench_open(&b, 1 << 20, 100);
	for (i = 0; i < 32; i++) {
		seen[i] = callflow_function(0x401000 + 16 * i);
		CHECK_U64(seen[i] & CALLFLOW_KIND, CALLFLOW_NATIVE);
		for (k = 0; k < i; k++)
			CHECK(seen[k] != seen[i]);
	}
	for (i = 0; i < 32; i++)
		CHECK_U64(callflow_function(0x401000 + 16 * i), seen[i]);
	/* The table does not fill up: looking would become slow. */
	callflow_function(1);
	CHECK_U64(callflow_function(2), CALLFLOW_CONSUMER_PRUNED);
	CHECK_U64(b.a->lost_functions, 1);
}

TEST(callflow_area_that_makes_no_sense_is_refused)
{
	struct callflow_layout l = { .flags = CALLFLOW_TREES, .max_depth = 10, .nr_threads = 1,
		.nr_functions = 1 };
	size_t bytes = callflow_layout_bytes(&l), i;
	struct callflow_area *a =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int nr_refused = 0;

	for (i = 0; i < offsetof(struct callflow_area, start_tsc); i += 4) {
		memset(a, 0, CALLFLOW_PAGE);
		callflow_layout_write(&l, a);
		*(uint32_t *)((char *)a + i) ^= 0xfedcba98;
		if (callflow_attach(a, bytes))
			callflow_detach();	/* a word that only says what is measured */
		else
			nr_refused++;
	}
	CHECK(nr_refused >= 11);
	memset(a, 0, CALLFLOW_PAGE);
	callflow_layout_write(&l, a);
	CHECK(!callflow_attach(a, bytes - 1));
	CHECK(callflow_attach(a, bytes));
	CHECK(!callflow_attach(a, bytes));
}

/* CPU time of a busy loop by the trees, against the kernel's own account. */
static void check_cpu_time(uint32_t flags)
{
	struct callflow_layout l = {
		.flags = flags, .nr_metrics = 1, .metrics = { { .kind = CALLFLOW_CPU } },
		.max_depth = 10, .nr_threads = 1, .nr_functions = 1,
	};
	size_t bytes = callflow_layout_bytes(&l);
	struct bench b = { .bytes = bytes };
	double kernel;
	struct flow f;
	uint64_t base;
	int i;

	b.a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	callflow_layout_write(&l, b.a);
	CHECK(callflow_attach(b.a, bytes));
	b.t = callflow_thread_new(getpid(), 0, 0);
	b.k = callflow_kthread_start(b.t, NULL);
	for (i = 0; i < 2000000; i++) {
		callflow_enter(b.k, 1);
		callflow_leave(b.k, 1);
		if (i % 500000 == 0)
			usleep(1000);
	}
	callflow_kthread_end(b.k);
	read_tree(&b, 0, &f);
	CHECK_U64(flow_totals(&f, &base), 2000001);
	kernel = b.t->kernel_cpu_ns;
	CHECK(kernel > 1000000);
	CHECK_U64(b.t->over_range, 0);
	/* Cycles a ns of this machine are between 0.01 (arm64's timer) and 10. */
	CHECK(base > kernel / 100 && base < kernel * 10);
	flow_release(&f);
}

TEST(callflow_cpu_time_does_not_grow_while_another_thread_has_the_cpu)
{
	struct callflow_kthread k = { .cpu_ns = 300000, .cpu_tsc = 600000 };

	/* it ran while the kernel was asked: half of that came after the answer */
	CHECK_U64(callflow_cpu_set(&k, 300000, 5000000, 5001000, true), 600500);
	CHECK_U64(k.off_tsc + 5001000, 600500);
	/* it was put off its CPU meanwhile, for a tenth of a second */
	CHECK_U64(callflow_cpu_set(&k, 300000, 6000000, 206000000, false), 600000);
	CHECK_U64(k.off_tsc + 206000000, 600000);
}

TEST(callflow_cpu_time_is_the_kernels)
{
	check_cpu_time(CALLFLOW_TREES);
}

TEST(callflow_precise_cpu_time_is_the_kernels)
{
	check_cpu_time(CALLFLOW_TREES | CALLFLOW_PRECISE);
}
