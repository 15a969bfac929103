/* SPDX-License-Identifier: MIT */
/*
 * process.h - what the files of this room share: the process's own knowledge of the area, and
 * the few system calls.
 */
#ifndef CALLFLOW_PROCESS_H
#define CALLFLOW_PROCESS_H

#include <asm/unistd.h>

#include "base/atomic.h"
#include "callflow/callflow.h"
#include "callflow/cpu.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* The short ways of a step; anything but the two clocks takes the general one. */
enum step_mode {
	STEP_CALLS,
	STEP_WALL,
	STEP_CPU,
	STEP_WALL_CPU,
	STEP_PRECISE,			/* those with clocks, and CALLFLOW_PRECISE */
	STEP_GENERAL,
};

struct process {
	struct callflow_area *area;	/* NULL: none adopted */
	size_t mapped_bytes;		/* of it */
	uint8_t *pool;
	struct callflow_thread *threads;
	uint64_t *functions;
	uint32_t *owners;
	enum step_mode mode;
	bool has_cpu, has_wall;		/* of STEP_PRECISE */
	uint32_t flags;
	uint32_t nr_metrics;
	uint32_t node_words;		/* size of a node in units of 8 bytes */
	uint32_t function_shift;
	bool need_seq;			/* CPU time or dispatches are asked */
	struct callflow_metric metrics[CALLFLOW_MAX_METRICS];
	uint64_t (*alloc_bytes)(struct callflow_kthread *k);
	bool alloc_objects, bytecodes;	/* they are reported */
	bool sees_entries;
	const struct callflow_outside *outside;	/* NULL: there is nothing to ask */
	uint64_t ratio;			/* cycles a ns, times 2^32 */
	uint64_t ratio_tsc;		/* when to compute it again */
	/*
	 * Threads that have ended, whose tree another one may go on with, [virtual][begun when there was
	 * plenty]: index + 1 of the first, above 32 bits a count of changes.
	 */
	uint64_t ended[2][2];
	struct callflow_kthread *kthreads;
	uint32_t next_kthread;
};

extern struct process callflow_process __attribute__((visibility("hidden")));
#define cf callflow_process

static inline struct callflow_node *node_at(uint32_t ref)
{
	return (void *)(cf.pool + ((uint64_t)ref << 3));
}

static inline struct callflow_open *stack_of(const struct callflow_thread *t)
{
	return (void *)(uintptr_t)t->stack;
}

static inline struct callflow_open *top_of(const struct callflow_thread *t)
{
	return (void *)(uintptr_t)t->top;
}

/* Return whether its consumer is stored inverted. */
static inline bool is_apart(const struct callflow_open *o)
{
	return o->consumer > CALLFLOW_CONSUMER_PRUNED || o->consumer == ~CALLFLOW_CONSUMER_PRUNED ||
	       (o->consumer & CALLFLOW_KIND) == 2u << 30;
}

static inline uint32_t consumer_of(const struct callflow_open *o)
{
	return is_apart(o) ? ~o->consumer : o->consumer;
}

/*
 * Return the bytes of a stack with max entries. With CALLFLOW_SITES a word follows for each of them: the
 * consumer of the place that this call calls from, 0 if not known.
 */
static inline size_t callflow_stack_bytes(uint32_t max)
{
	return max * (sizeof(struct callflow_open) + (cf.flags & CALLFLOW_SITES ? sizeof(uint32_t) : 0));
}

static inline uint32_t *site_of_top(const struct callflow_thread *t)
{
	uint32_t *sites = (uint32_t *)(stack_of(t) + t->stack_max);

	return &sites[top_of(t) - stack_of(t)];
}

/* Return zeroed pages, or NULL; with wiped, they are zeroed again in a forked child. */
void *callflow_pages(size_t bytes, bool wiped);
void callflow_free_pages(void *p, size_t bytes);
uint64_t callflow_clock_ns(int clock);
uint64_t callflow_ratio(uint64_t cycles, uint64_t ns);	/* cycles a ns, times 2^32 */

/* clock.c: the kernel moved the thread: CPU time by a system call. */
uint64_t callflow_cpu_resync(struct callflow_kthread *k);
/*
 * Take over the kernel's CPU time of the thread, read between two time stamps. ran: it had the CPU from
 * one to the other, so half of that has passed since. Otherwise it may have waited for most of it, and none
 * of it counts.
 */
uint64_t callflow_cpu_set(struct callflow_kthread *k, uint64_t ns, uint64_t before, uint64_t after, bool ran);
void callflow_clock_start(struct callflow_kthread *k);
void callflow_clock_end(struct callflow_kthread *k);
uint64_t callflow_counter_read(const volatile void *page);

/* charge.c: the cost of the step in the tree is charged to no context, because it depends on the tree. */
void callflow_skip_step(struct callflow_kthread *k);

/* events.c: tells the recorder what t did. */
void callflow_event(struct callflow_thread *t, enum callflow_event_kind kind, uint32_t consumer);

static inline uint32_t callflow_function_slot(uint64_t addr)
{
	return addr * 0x9e3779b97f4a7c15ull >> cf.function_shift;
}

/* Return the consumer of a function that has the first slot of its hash; 0: another function has it. */
static inline uint32_t callflow_known_function(uint64_t addr)
{
	uint32_t i = callflow_function_slot(addr);

	return likely(load_relaxed(&cf.functions[i]) == addr) ? CALLFLOW_NATIVE | i : 0;
}

/* labels.c: CALLFLOW_CONSUMER_LABEL_UNKNOWN when there are too many. */
uint32_t callflow_label_consumer(const char *text, size_t len);

/* timed.c: open calls from was, innermost, down to the one above o are over. */
void callflow_end_timed(const struct callflow_open *was, const struct callflow_open *o, uint64_t tsc);

/* tree.c */
/*
 * A call right inside the one that was just entered, or right around the one that was just left: there is
 * nothing to charge in between. k->cur is not NULL.
 */
void callflow_enter_more(struct callflow_kthread *k, uint32_t consumer);
void callflow_leave_more(struct callflow_kthread *k, uint32_t consumer);
/* Return a new node; 0: no room. */
uint32_t callflow_node_new(struct callflow_thread *t, uint32_t parent, uint32_t consumer);
void callflow_free_wide(struct callflow_thread *t);
/* prune.c: makes room in the tree of t, by its own thread; false: there is none to be made now. */
bool callflow_prune(struct callflow_thread *t);
/*
 * Return a node for a context that parent does not have yet, or 0. First drop what has too small a share,
 * where that is asked for and due, and prune where there is no room.
 */
uint32_t callflow_context_new(struct callflow_thread *t, uint32_t parent, uint32_t consumer);
void callflow_set_stack(struct callflow_thread *t, struct callflow_open *stack, uint32_t max, uint64_t depth);
/* Begin to charge t from now on; the clock of a thread that is mounted again goes on. */
void callflow_set_last(struct callflow_kthread *k, struct callflow_thread *t);

/* Return the CPU time in cycles, from a time stamp just read. */
static inline uint64_t callflow_cpu_at(struct callflow_kthread *k, uint64_t tsc)
{
	uint64_t v;

	if (likely(*k->seq == k->seen))
		v = tsc + k->off_tsc;
	else
		v = callflow_cpu_resync(k);
	/* A resync may step back by some microseconds: reported values never decrease. */
	if (unlikely(v < k->high))
		return k->high;
	k->high = v;
	return v;
}

#endif
