// SPDX-License-Identifier: MIT
/*
 * area.c - the process's side of the shared area: adopting it, thread slots, functions.
 */
#include <linux/time.h>

#include "callflow/filter.h"
#include "callflow/process.h"

enum { MAX_KTHREADS = 1 << 16, KTHREAD_BYTES = 512, STACK_FIRST = 512, CALIBRATE_NS = 2000000 };

_Static_assert(sizeof(struct callflow_kthread) <= KTHREAD_BYTES, "kthreads do not share a cache line");

static bool callflow_area_fits(const struct callflow_area *a, uint64_t off, uint64_t bytes)
{
	return off >= CALLFLOW_PAGE && off % 8 == 0 && off <= a->bytes && bytes <= a->bytes - off;
}

static bool has_sound_rings(const struct callflow_area *a)
{
	if (!(a->flags & CALLFLOW_EVENTS))
		return true;
	return a->nr_rings && !(a->nr_rings & (a->nr_rings - 1)) && a->nr_rings <= 1024 && a->ring_events &&
	       !(a->ring_events & (a->ring_events - 1)) && a->nr_threads <= CALLFLOW_EVENT_THREADS &&
	       callflow_area_fits(a, a->rings_off,
				  a->nr_rings * callflow_ring_bytes(a->ring_events, a->nr_metrics));
}

static bool has_sound_labels(const struct callflow_area *a)
{
	if (!a->nr_labels)
		return true;
	return !(a->nr_labels & (a->nr_labels - 1)) && a->nr_labels <= 1u << 24 &&
	       callflow_area_fits(a, a->labels_off, a->nr_labels * sizeof(struct callflow_label)) &&
	       callflow_area_fits(a, a->label_texts_off, a->label_bytes);
}

static bool is_sound(const struct callflow_area *a, size_t bytes)
{
	if (bytes < CALLFLOW_PAGE || a->magic != CALLFLOW_MAGIC || a->version != CALLFLOW_VERSION ||
	    a->bytes > bytes || a->nr_metrics > CALLFLOW_MAX_METRICS ||
	    a->node_bytes != callflow_node_bytes(a->nr_metrics))
		return false;
	if (!a->nr_functions || (a->nr_functions & (a->nr_functions - 1)) ||
	    a->nr_functions > CALLFLOW_VALUE || a->nr_pages < 2 || a->nr_pages >= 1u << 23 ||
	    a->nr_reserved >= a->nr_pages || !a->max_depth)
		return false;
	return callflow_area_fits(a, a->threads_off,
				  (uint64_t)a->nr_threads * sizeof(struct callflow_thread)) &&
	       callflow_area_fits(a, a->functions_off, (uint64_t)a->nr_functions * 8) &&
	       callflow_area_fits(a, a->owners_off, (uint64_t)a->nr_pages * 4) &&
	       callflow_area_fits(a, a->pool_off, (uint64_t)a->nr_pages * CALLFLOW_PAGE) &&
	       (!(a->flags & CALLFLOW_TIMED) || a->nr_metrics == CALLFLOW_NR_TIMED) &&
	       has_sound_rings(a) && has_sound_labels(a) &&
	       (!a->rules_bytes || callflow_area_fits(a, a->rules_off, a->rules_bytes));
}

static enum step_mode mode_of(const struct callflow_area *a)
{
	bool cpu = a->nr_metrics && a->metrics[0].kind == CALLFLOW_CPU;
	bool wall = a->nr_metrics > cpu && a->metrics[cpu].kind == CALLFLOW_WALL;

	if (a->flags & CALLFLOW_TIMED)
		return STEP_CALLS;
	if ((a->flags & ~(CALLFLOW_PRECISE | CALLFLOW_SITES | CALLFLOW_TIERS)) != CALLFLOW_TREES ||
	    a->nr_metrics != (uint32_t)wall + cpu)
		return STEP_GENERAL;
	cf.has_cpu = cpu;
	cf.has_wall = wall;
	if (a->flags & CALLFLOW_PRECISE && (wall || cpu))
		return STEP_PRECISE;
	return wall && cpu ? STEP_WALL_CPU : wall ? STEP_WALL : cpu ? STEP_CPU : STEP_CALLS;
}

/* The recorder had more time for it; without one, 2 ms of waiting must do. */
static uint64_t measure_ratio(void)
{
	uint64_t ns = callflow_clock_ns(CLOCK_MONOTONIC), tsc = cpu_tsc(), passed;

	do
		passed = callflow_clock_ns(CLOCK_MONOTONIC) - ns;
	while (passed < CALIBRATE_NS);
	return callflow_ratio(cpu_tsc() - tsc, passed);
}

/* Zero in a forked child. */
static volatile uint32_t *alive(void)
{
	return (volatile uint32_t *)((uint8_t *)cf.kthreads + (size_t)MAX_KTHREADS * KTHREAD_BYTES);
}

static struct callflow_kthread *kthread_at(uint32_t i)
{
	return (void *)((uint8_t *)cf.kthreads + (size_t)i * KTHREAD_BYTES);
}

bool callflow_attach(void *area, size_t bytes)
{
	struct callflow_area *a = area;
	uint32_t m;

	if (cf.area || !is_sound(a, bytes))
		return false;
	if (!cf.kthreads)
		cf.kthreads = callflow_pages((size_t)MAX_KTHREADS * KTHREAD_BYTES + CALLFLOW_PAGE, true);
	if (!cf.kthreads)
		return false;
	cf.mapped_bytes = bytes;
	cf.pool = (uint8_t *)a + a->pool_off;
	cf.threads = (void *)((uint8_t *)a + a->threads_off);
	cf.functions = (void *)((uint8_t *)a + a->functions_off);
	cf.owners = (void *)((uint8_t *)a + a->owners_off);
	cf.mode = mode_of(a);
	cf.flags = a->flags;
	cf.nr_metrics = a->nr_metrics;
	cf.node_words = a->node_bytes / 8;
	cf.function_shift = 64 - __builtin_ctz(a->nr_functions);
	for (m = 0; m < a->nr_metrics; m++) {
		cf.metrics[m] = a->metrics[m];
		cf.need_seq |=
			a->metrics[m].kind == CALLFLOW_CPU || a->metrics[m].kind == CALLFLOW_DISPATCHES;
	}
	*alive() = 1;
	a->pid = sys(__NR_getpid);
	cf.ratio = a->tsc_ratio ? a->tsc_ratio : measure_ratio();
	a->start_ns = callflow_clock_ns(CLOCK_MONOTONIC);
	a->start_tsc = cpu_tsc();
	cf.ratio_tsc = a->start_tsc + (10000000 * cf.ratio >> 32);
	store_release(&cf.area, a);
	return true;
}

bool callflow_forked(void)
{
	return cf.area && !*alive();
}

void callflow_detach(void)
{
	struct callflow_kthread *kthreads = cf.kthreads;

	cf = (struct process){ .kthreads = kthreads };
}

static void free_private(struct callflow_thread *t)
{
	callflow_free_pages((void *)(uintptr_t)t->stack, callflow_stack_bytes(t->stack_max));
	callflow_free_wide(t);
}

void callflow_release(void)
{
	struct callflow_area *a = cf.area;
	uint32_t i;

	for (i = 0; i < MAX_KTHREADS && i < load_relaxed(&cf.next_kthread); i++) {
		struct callflow_kthread *k = kthread_at(i);

		if (!k->used)
			continue;
		callflow_clock_end(k);
		k->cur = k->own = NULL;
		store_release(&k->used, 0);
	}
	for (i = 0; i < a->nr_threads && i < load_relaxed(&a->next_thread); i++)
		if (cf.threads[i].state == CALLFLOW_LIVE)
			free_private(&cf.threads[i]);
	callflow_free_pages(a, cf.mapped_bytes);
	callflow_detach();
}

const struct callflow_area *callflow_area(void)
{
	return cf.area;
}

void callflow_has_alloc_bytes(uint64_t (*read)(struct callflow_kthread *k))
{
	cf.alloc_bytes = read;
}

void callflow_has_alloc_objects(void)
{
	cf.alloc_objects = true;
}

void callflow_has_bytecodes(void)
{
	cf.bytecodes = true;
}

bool callflow_wants_metric(enum callflow_metric_kind kind)
{
	const struct callflow_area *a = cf.area;
	uint32_t m;

	for (m = 0; m < a->nr_metrics; m++)
		if (a->metrics[m].kind == kind)
			return true;
	return false;
}

void callflow_sees_entries(void)
{
	cf.sees_entries = true;
}

const struct callflow_rules *callflow_rules(void)
{
	const struct callflow_area *a = cf.area;
	const void *r;

	if (!a || !a->rules_bytes)
		return NULL;
	r = (const uint8_t *)a + a->rules_off;
	return callflow_rules_valid(r, a->rules_bytes) ? r : NULL;
}

static __attribute__((noinline)) uint32_t seek_function(uint64_t addr, uint32_t i)
{
	struct callflow_area *a = cf.area;
	uint32_t mask = a->nr_functions - 1, tries = a->nr_functions;

	for (; tries; tries--, i = (i + 1) & mask) {
		uint64_t seen = i ? load_relaxed(&cf.functions[i]) : 1;

		if (likely(seen == addr))
			return CALLFLOW_NATIVE | i;
		if (seen)
			continue;
		/* Half full is as full as it gets, or looking becomes slow. */
		if (load_relaxed(&a->nr_used_functions) > a->nr_functions / 2)
			break;
		if (__atomic_compare_exchange_n(&cf.functions[i], &seen, addr, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			add_relaxed(&a->nr_used_functions, 1);
			return CALLFLOW_NATIVE | i;
		}
		if (seen == addr)
			return CALLFLOW_NATIVE | i;
	}
	add_relaxed(&a->lost_functions, 1);
	return CALLFLOW_CONSUMER_PRUNED;
}

uint32_t callflow_function(uint64_t addr)
{
	uint32_t consumer = callflow_known_function(addr);

	return likely(consumer) ? consumer : seek_function(addr, callflow_function_slot(addr));
}

static bool new_stack(struct callflow_thread *t)
{
	struct callflow_open *stack = callflow_pages(callflow_stack_bytes(STACK_FIRST), false);

	if (!stack)
		return false;
	callflow_set_stack(t, stack, STACK_FIRST, 0);
	t->at = t->root;
	stack[0] = (struct callflow_open){ t->root, CALLFLOW_CONSUMER_THREAD, 0 };
	return true;
}

/* --- threads that have ended --- */

static uint64_t *ended_like(uint32_t flags, bool own)
{
	return &cf.ended[!!(flags & CALLFLOW_THREAD_VIRTUAL)][own];
}

static void offer(struct callflow_thread *t)
{
	bool own = !(t->flags & (CALLFLOW_THREAD_SEVERAL | CALLFLOW_THREAD_SHARED));
	uint64_t *list = ended_like(t->flags, own), head = load_relaxed(list);
	uint32_t index = t - cf.threads;

	do
		store_relaxed(&t->next_ended, (uint32_t)head);
	while (!__atomic_compare_exchange_n(list, &head, ((head >> 32) + 1) << 32 | (index + 1), false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static struct callflow_thread *take_ended(uint32_t flags, bool own)
{
	uint64_t *list = ended_like(flags, own), head = load_acquire(list), next;
	struct callflow_thread *t;

	do {
		if (!(uint32_t)head)
			return NULL;
		t = &cf.threads[(uint32_t)head - 1];
		next = ((head >> 32) + 1) << 32 | load_relaxed(&t->next_ended);
	} while (!__atomic_compare_exchange_n(list, &head, next, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return t;
}

/* While there is plenty, each thread has a tree for itself. */
static bool is_short(void)
{
	const struct callflow_area *a = cf.area;

	return load_relaxed(&a->next_thread) >= a->nr_threads / 2 ||
	       load_relaxed(&a->next_page) >= (a->nr_pages - a->nr_reserved) / 2;
}

static void callflow_area_set_name(struct callflow_thread *t, const char *name, size_t len)
{
	size_t i;

	if (len > CALLFLOW_NAME - 1)
		len = CALLFLOW_NAME - 1;
	for (i = 0; i < len; i++)
		t->name[i] = name[i];
	t->name[len] = '\0';
}

/* Return the length of what all names of such trees begin with, which is *label. */
static size_t several(uint32_t flags, const char **label)
{
	static const char virtual_ones[] = "[several virtual threads]", others[] = "[several threads]";

	*label = flags & CALLFLOW_THREAD_VIRTUAL ? virtual_ones : others;
	return (flags & CALLFLOW_THREAD_VIRTUAL ? sizeof(virtual_ones) : sizeof(others)) - 1;
}

/* Make "[several threads] http-*", from the name of all of them or its beginning, if that is not empty. */
static void name_several(struct callflow_thread *t, const char *common, size_t len, bool cut)
{
	const char *label;
	char name[CALLFLOW_NAME];
	size_t at = several(t->flags, &label), i;

	for (i = 0; i < at; i++)
		name[i] = label[i];
	if (len)
		name[at++] = ' ';
	for (i = 0; i < len && at < CALLFLOW_NAME - 2; i++)
		name[at++] = common[i];
	if (len && (cut || i < len))
		name[at++] = '*';
	callflow_area_set_name(t, name, at);
}

static size_t length(const char *s)
{
	size_t len = 0;

	while (s[len])
		len++;
	return len;
}

/* Name a tree with which another thread goes on: what its name has in common with the others'. */
static void add_name(struct callflow_thread *t, const char *name, size_t len)
{
	enum { LEAST = 3 };		/* characters that say something */
	const char *label, *common;
	char was[CALLFLOW_NAME];
	size_t skip = several(t->flags, &label) + 1, nr = length(t->name), n, i;
	bool cut;

	if (nr <= skip)
		return;
	for (i = 0; i <= nr; i++)
		was[i] = t->name[i];
	common = was + skip;
	nr -= skip;
	cut = common[nr - 1] == '*';
	nr -= cut;
	for (n = 0; n < nr && n < len && common[n] == name[n]; n++)
		;
	if (n < nr || n < len)
		name_several(t, common, n < LEAST ? 0 : n, true);
}

static void call_them_several(struct callflow_thread *t, uint32_t flags)
{
	bool one = !(t->flags & CALLFLOW_THREAD_SEVERAL);
	char was[CALLFLOW_NAME];
	size_t nr = length(t->name), i;

	for (i = 0; i <= nr; i++)
		was[i] = t->name[i];
	t->flags = flags | CALLFLOW_THREAD_SEVERAL;
	t->tid = 0;
	t->java_id = t->end_ns = t->kernel_cpu_ns = 0;
	if (one)
		name_several(t, was, nr, false);
	if (cf.flags & CALLFLOW_EVENTS && t->left_open)
		callflow_event(t, CALLFLOW_UNWOUND, t->left_open);
}

/* --- threads --- */

static struct callflow_thread *new_slot(void)
{
	struct callflow_area *a = cf.area;
	uint32_t i;

	if (load_relaxed(&a->next_thread) >= a->nr_threads ||
	    (i = add_relaxed(&a->next_thread, 1)) >= a->nr_threads)
		return NULL;
	return &cf.threads[i];
}

static bool new_root(struct callflow_thread *t)
{
	t->root = callflow_node_new(t, 0, CALLFLOW_CONSUMER_THREAD);
	if (t->root)
		t->pruned = callflow_node_new(t, t->root, CALLFLOW_CONSUMER_PRUNED);
	return t->pruned;
}

static struct callflow_thread *new_tree(uint32_t tid, uint64_t java_id, uint32_t flags)
{
	struct callflow_thread *t = new_slot();

	if (!t || !new_root(t))
		return NULL;
	t->tid = tid;
	t->java_id = java_id;
	t->flags = flags;
	t->start_ns = callflow_clock_ns(CLOCK_MONOTONIC);
	return t;
}

static struct callflow_thread *continued(struct callflow_thread *ended, uint32_t flags)
{
	if (ended) {
		call_them_several(ended, flags);
		add_relaxed(&cf.area->merged_threads, 1);
	}
	return ended;
}

/*
 * When room is short a thread goes on with the tree of one that began when it was, too, and has ended, or
 * gets a new one. Trees of threads that began with plenty of room, such as the first, keep their names
 * until there is neither a slot nor a page, not even of those kept for roots.
 */
static struct callflow_thread *tree_for(uint32_t tid, uint64_t java_id, uint32_t flags)
{
	struct callflow_thread *t;

	if (!is_short())
		return new_tree(tid, java_id, flags);
	flags |= CALLFLOW_THREAD_SHARED;
	t = continued(take_ended(flags, false), flags);
	if (!t)
		t = new_tree(tid, java_id, flags);
	return t ? t : continued(take_ended(flags, true), flags);
}

struct callflow_thread *callflow_thread_new(uint32_t tid, uint64_t java_id, uint32_t flags)
{
	struct callflow_thread *t = tree_for(tid, java_id, flags);
	uint64_t tsc = cpu_tsc();
	uint32_t m;

	if (!t || !new_stack(t)) {
		add_relaxed(&cf.area->lost_threads, 1);
		return NULL;
	}
	for (m = 0; m < cf.nr_metrics; m++)
		if (cf.metrics[m].kind == CALLFLOW_WALL)
			t->last[m] = tsc;
	node_at(t->root)->calls++;
	store_release(&t->state, CALLFLOW_LIVE);
	return t;
}

void callflow_thread_name(struct callflow_thread *t, const char *name, size_t len)
{
	if (t->flags & CALLFLOW_THREAD_SEVERAL)
		add_name(t, name, len);
	else
		callflow_area_set_name(t, name, len);
}

void callflow_thread_end(struct callflow_thread *t)
{
	t->end_ns = callflow_clock_ns(CLOCK_MONOTONIC);
	t->left_open = (t->top - t->stack) / sizeof(struct callflow_open) + t->beyond;
	if (cf.flags & CALLFLOW_TIMED)
		callflow_end_timed((void *)(uintptr_t)t->top, (void *)(uintptr_t)t->stack, cpu_tsc());
	store_release(&t->state, CALLFLOW_ENDED);
	free_private(t);
	t->stack = t->top = t->soft_top = 0;
	t->stack_max = t->beyond = t->innermost = t->running_on = t->at = 0;
	offer(t);
}

static struct callflow_kthread *take_kthread(void)
{
	uint32_t i, n;

	for (n = 0; n < MAX_KTHREADS; n++) {
		struct callflow_kthread *k;
		uint32_t is_free = 0;

		i = add_relaxed(&cf.next_kthread, 1) % MAX_KTHREADS;
		k = kthread_at(i);
		if (__atomic_compare_exchange_n(&k->used, &is_free, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return k;
	}
	return NULL;
}

/* Reset the last CPU time: what was consumed so far will be charged to the root, with the first call. */
static void forget_cpu(struct callflow_thread *t)
{
	uint32_t m;

	for (m = 0; m < cf.nr_metrics; m++)
		if (cf.metrics[m].kind == CALLFLOW_CPU)
			t->last[m] = 0;
}

struct callflow_kthread *callflow_kthread_start(struct callflow_thread *own, void *user)
{
	struct callflow_kthread *k = take_kthread();

	if (!k)
		return NULL;
	k->cur = k->own = own;
	k->no_room = false;
	k->high = k->cpu_ns = k->cpu_tsc = k->off_tsc = 0;
	k->user = user;
	k->native = false;
	k->tid = sys(__NR_gettid);
	k->thread_pointer = (uintptr_t)__builtin_thread_pointer();
	callflow_clock_start(k);
	callflow_set_last(k, own);
	if (!own)
		return k;
	own->cpu_origin_ns = own->flags & CALLFLOW_THREAD_FROM_BIRTH ? 0 : k->start_ns;
	own->seen_cpu_ns = 0;
	if (own->flags & CALLFLOW_THREAD_FROM_BIRTH)
		forget_cpu(own);
	store_release(&own->running_on, k->tid);
	return k;
}

void callflow_kthread_note(struct callflow_kthread *k)
{
	struct callflow_thread *own = k->own;

	if (!own)
		return;
	callflow_charge_now(k);
	if (!(own->flags & CALLFLOW_THREAD_SEVERAL))
		own->kernel_cpu_ns = callflow_clock_ns(CLOCK_THREAD_CPUTIME_ID) - own->cpu_origin_ns;
}

/*
 * Return the CPU time of a thread of this process; 0: it has gone. The kernel's MAKE_THREAD_CPUCLOCK(tid,
 * CPUCLOCK_SCHED).
 */
static uint64_t cpu_of(uint32_t tid)
{
	return callflow_clock_ns((int)(~tid << 3 | 6));
}

/*
 * Return whether the CPU time that was read is still that of the charged thread: no other has taken it
 * meanwhile.
 */
static bool is_still(const struct callflow_kthread *k, uint32_t tid, const struct callflow_thread *cur,
		     const struct callflow_thread *own)
{
	return load_acquire(&k->used) && load_acquire(&k->cur) == cur && load_relaxed(&k->own) == own &&
	       load_relaxed(&k->tid) == tid;
}

void callflow_look(void)
{
	uint32_t i;

	if (!load_acquire(&cf.area))
		return;
	for (i = 0; i < MAX_KTHREADS && i < load_relaxed(&cf.next_kthread); i++) {
		const struct callflow_kthread *k = kthread_at(i);
		struct callflow_thread *cur = load_acquire(&k->cur), *own = load_relaxed(&k->own);
		uint32_t tid = load_relaxed(&k->tid);
		uint64_t ns = load_acquire(&k->used) && (cur || own) ? cpu_of(tid) : 0;

		if (!ns || !is_still(k, tid, cur, own))
			continue;
		if (cur)
			cur->seen_cpu_ns = ns;
		if (own)
			own->seen_cpu_ns = ns;
	}
}

void callflow_kthread_set_user(struct callflow_kthread *k, void *user)
{
	callflow_charge_now(k);
	k->user = user;
	callflow_set_last(k, k->cur);
}

void callflow_kthread_end(struct callflow_kthread *k)
{
	struct callflow_thread *own = k->own;

	if (k->cur != own)
		callflow_unmount(k);
	callflow_kthread_note(k);
	k->cur = k->own = NULL;
	k->thread_pointer = 0;
	callflow_clock_end(k);
	if (own)
		callflow_thread_end(own);
	store_release(&k->used, 0);
}
