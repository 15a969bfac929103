/* SPDX-License-Identifier: MIT */
/*
 * area.h - the shared memory in which a measured process keeps its call trees, and which
 * the recorder reads while the process runs and after it died.
 *
 * The recorder makes it (a sealed memfd), fills the first page, and hands it to the process:
 *
 *	struct callflow_area		one page; what to measure, and where the rest lies
 *	struct callflow_thread[]	threads_off: one per thread, in the order they appeared
 *	uint64_t[]			functions_off: addresses, call sites with CALLFLOW_SITE, open
 *					addressing; a native consumer is the index of its slot
 *	uint32_t[]			owners_off: for each page of the pool, thread index + 1
 *	pool				pool_off: nodes, in pages that belong to one thread each
 *	struct callflow_ring[]		rings_off: events, when they are traced: a page with the head,
 *					then ring_events of them
 *	rules				rules_off: what to instrument (filter.h)
 *	struct callflow_label[]		labels_off: sets of labels that threads have, when these are recorded;
 *					their texts are at label_texts_off
 *
 * A node is named by its place: offset into the pool in units of 8 bytes, so that 32 bits reach
 * 32 GB and no multiplication is needed. Nodes never move; a node is complete before its
 * consumer is stored (release), so a reader who sees a consumer sees a node. When memory is full, or
 * contexts with a small share are to be dropped, a thread gives the nodes of contexts in which little
 * was consumed to other ones: their counts go to [pruned] of the node above, and the number of uses, in
 * the upper bits of calls, tells the new from the old. That happens between a thread's pruning and 0, and
 * not while the recorder is reading.
 *
 * The recorder trusts nothing in here. All integers are those of the machine.
 */
#ifndef CALLFLOW_AREA_H
#define CALLFLOW_AREA_H

#include <stdint.h>

#define CALLFLOW_MAGIC 0x46435241u	/* "ARCF" */
#define CALLFLOW_VERSION 7

enum {
	CALLFLOW_PAGE = 4096,
	CALLFLOW_MAX_METRICS = 8,
	CALLFLOW_NAME = 64,		/* bytes of a thread's name, with the end */
};

enum callflow_flags {
	CALLFLOW_TREES = 1 << 0,	/* build trees */
	CALLFLOW_EVENTS = 1 << 1,	/* write every event to the rings */
	/* counters are read again on the way out: the step in the tree is charged to no context */
	CALLFLOW_LATE_READ = 1 << 2,
	/* clocks are read when all before is done, not while a processor is still at it */
	CALLFLOW_PRECISE = 1 << 4,
	/* outermost calls are traced instruction by instruction; no metrics */
	CALLFLOW_BRACKETS = 1 << 3,
	/* calls are timed one by one: base[] is that of enum callflow_timed, and there are no metrics */
	CALLFLOW_TIMED = 1 << 5,
	/* how the code of each method runs is known: enum callflow_tier in its consumer */
	CALLFLOW_TIERS = 1 << 6,
	/* the places that functions are called from are contexts, too */
	CALLFLOW_SITES = 1 << 7,
};

/*
 * The kind of a metric. "a kernel thread's": only what was consumed while mounted is charged; the unit of
 * those marked tsc is cycles of the time stamp counter: the recorder converts them.
 */
enum callflow_metric_kind {
	CALLFLOW_NO_METRIC,
	CALLFLOW_WALL,			/* tsc; time that passed, also off the CPU */
	CALLFLOW_CPU,			/* tsc; CPU time, a kernel thread's */
	/* perf event type:config, a kernel thread's, by the counter's instruction */
	CALLFLOW_COUNTER,
	CALLFLOW_ALLOC_BYTES,		/* a kernel thread's; callflow_has_alloc_bytes() gives them */
	CALLFLOW_ALLOC_OBJECTS,		/* callflow_charge_object() gives them */
	CALLFLOW_DISPATCHES,		/* times it got a CPU, a kernel thread's */
	CALLFLOW_THROWN,		/* exits by an exception */
	CALLFLOW_BYTECODES,		/* callflow_charge_event() gives them */
	CALLFLOW_NR_METRICS,
};

struct callflow_metric {
	uint32_t kind;			/* enum callflow_metric_kind */
	uint32_t type;			/* of CALLFLOW_COUNTER: perf_event_attr */
	uint64_t config, config1;
	uint64_t refused;		/* by the process: threads for which it could not be had */
};

/*
 * The contents of a node's base[] with CALLFLOW_TIMED, instead of sums; all in cycles of the time stamp
 * counter. The process writes all of them; the recorder takes CALLFLOW_LONGEST by storing 0 there.
 */
enum callflow_timed {
	CALLFLOW_SINCE,			/* when the open call of this node began; 0: there is none */
	CALLFLOW_LONGEST,		/* how long the longest took that ended since the recorder looked */
	CALLFLOW_LONGEST_SINCE,		/* and when that had begun */
	CALLFLOW_NR_TIMED,
};

/*
 * Calls are always counted. The order of metrics is the recorder's, but CALLFLOW_CPU comes
 * before CALLFLOW_WALL and both before any other.
 */
struct callflow_area {
	/* written by the recorder, before anybody else sees it */
	uint32_t magic, version;
	uint64_t bytes;			/* of the whole area */
	uint32_t flags;			/* enum callflow_flags */
	uint32_t nr_metrics;
	struct callflow_metric metrics[CALLFLOW_MAX_METRICS];
	uint32_t node_bytes;		/* callflow_node_bytes(nr_metrics) */
	uint32_t max_depth;		/* deeper calls are folded */
	uint32_t nr_threads;		/* slots; thread 0 is the first */
	uint32_t nr_functions;		/* slots, a power of two; 0 is not used */
	uint32_t nr_pages;		/* of the pool; page 0 is not used */
	uint32_t nr_reserved;		/* of them: for roots and [pruned] only */
	uint64_t threads_off, functions_off, owners_off, pool_off, rings_off, rules_off;
	uint32_t nr_rings, ring_events;	/* powers of two; 0 rings: no events */
	uint32_t rules_bytes;
	uint32_t reading;		/* changes later: the recorder reads trees, none may be pruned */
	uint64_t tsc_ratio;		/* cycles of the time stamp counter a ns, times 2^32 */
	uint64_t bracket_skip, bracket_times;	/* outermost calls to leave alone first, to trace then */
	uint64_t bracket_closed;	/* changes later: nobody traces yet, or any more */
	uint64_t labels_off, label_texts_off;
	uint32_t nr_labels;		/* slots, a power of two; 0: none are recorded */
	uint32_t label_bytes;		/* room for texts */
	/*
	 * At this interval, in cycles, a thread that enters a new context drops those with no more than this
	 * share, of 2^32, of what their callers consumed; 0: none.
	 */
	uint64_t prune_tsc;
	uint32_t prune_share, pad3;
	/* written by the process */
	uint64_t start_tsc, start_ns;	/* the same moment on CLOCK_MONOTONIC */
	uint32_t pid;			/* as it sees itself */
	uint32_t next_thread;		/* slots given out the first time; may exceed nr_threads */
	uint32_t next_page;		/* pages given out; may exceed nr_pages */
	uint32_t next_reserved;		/* reserved pages given out, from the last page down */
	uint32_t nr_used_functions;
	uint32_t pad2;
	uint64_t lost_threads;		/* times a thread found no slot: as many lived at once */
	uint64_t lost_calls;		/* of such threads, as far as they were not counted later */
	uint64_t slow_threads;		/* kernel threads whose CPU time takes a system call */
	uint64_t lost_functions;	/* calls of functions without a slot */
	uint64_t bracket_methods;	/* with probes */
	uint64_t bracket_calls;		/* outermost ones */
	uint64_t bracket_begun, bracket_ended;	/* of them, those that were to be traced */
	uint64_t bracket_refused;	/* to be traced, but there was no tracer */
	uint64_t next_label_byte;	/* given out; may exceed label_bytes */
	uint64_t merged_threads;	/* that went on with the tree of one that had ended */
};

/* A consumer: bits 30 and 31 are its kind. 0 is none. */
enum callflow_consumer {
	CALLFLOW_METHOD = 0u << 30,	/* number of a Java method, as in JVM_REC_METHOD */
	CALLFLOW_NATIVE = 1u << 30,	/* slot of a function's address */
	/* number of a Java class, as in JVM_REC_LEAF: no call, but objects that were allocated above it */
	CALLFLOW_CLASS = 2u << 30,
	CALLFLOW_MARK = 3u << 30,	/* enum callflow_mark */
	CALLFLOW_KIND = 3u << 30,
};
#define CALLFLOW_VALUE 0x3fffffffu	/* what is not the kind */
/* A slot of functions with this bit, beside a return address, is a call site and not a function. */
#define CALLFLOW_SITE ((uint64_t)1 << 63)
/*
 * The call site (CALLFLOW_SITE) is one in a Java method. Its number is above CALLFLOW_PLACE_BITS, below
 * is the line that it calls from, or CALLFLOW_PLACE_BCI and the bytecode index.
 */
#define CALLFLOW_SITE_JAVA ((uint64_t)1 << 62)
enum { CALLFLOW_PLACE_BITS = 17, CALLFLOW_PLACE_BCI = 1 << 16 };

/*
 * The tier of a method's code when the call began: in these bits of its consumer; no other consumer has
 * them.
 */
enum callflow_tier {
	CALLFLOW_TIER_UNKNOWN,		/* not asked for, or not known */
	CALLFLOW_TIER_INTERPRETED,
	CALLFLOW_TIER_C1,
	CALLFLOW_TIER_C2,
	CALLFLOW_TIER_INLINED,		/* in the compiled code of a caller */
	CALLFLOW_NR_TIERS,
};
enum { CALLFLOW_TIER_SHIFT = 27 };
#define CALLFLOW_TIER (7u << CALLFLOW_TIER_SHIFT)
#define CALLFLOW_NUMBER (CALLFLOW_VALUE & ~CALLFLOW_TIER)	/* a method's number in its consumer */

enum callflow_mark {
	CALLFLOW_THREAD = 1,		/* a thread's root: what it did outside all instrumented code */
	CALLFLOW_PRUNED,		/* calls for which memory or depth did not suffice */
	CALLFLOW_LABEL_UNKNOWN,		/* what a thread did with labels for which there was no room */
};
#define CALLFLOW_CONSUMER_THREAD ((uint32_t)CALLFLOW_MARK | CALLFLOW_THREAD)
#define CALLFLOW_CONSUMER_PRUNED ((uint32_t)CALLFLOW_MARK | CALLFLOW_PRUNED)
#define CALLFLOW_CONSUMER_LABEL_UNKNOWN ((uint32_t)CALLFLOW_MARK | CALLFLOW_LABEL_UNKNOWN)
/* The child of a thread's root for what it did under these labels. The slot of the labels is added. */
#define CALLFLOW_LABEL_FIRST ((uint32_t)CALLFLOW_MARK | 16)

static inline int callflow_is_label(uint32_t consumer)
{
	return consumer >= CALLFLOW_CONSUMER_LABEL_UNKNOWN;
}

struct callflow_label {
	uint64_t hash;			/* 0: the slot is free */
	uint64_t place;			/* of the text: offset << 16 | its length + 1; 0: not there (yet) */
};

/*
 * callflow_node.calls has beside calls how often the node's place was used anew; two bits belong to the
 * process.
 */
#define CALLFLOW_CALLS (((uint64_t)1 << 50) - 1)
#define CALLFLOW_USE ((uint64_t)1 << 50)
#define CALLFLOW_USES ((uint64_t)0xfff << 50)

struct callflow_node {
	uint32_t parent;		/* 0: a root */
	uint32_t child;			/* most recently used child */
	uint32_t sibling;		/* the next in the ring of the parent's children */
	uint32_t consumer;
	uint64_t calls;			/* CALLFLOW_CALLS of it */
	uint64_t base[];		/* nr_metrics: consumed directly here */
};

static inline uint32_t callflow_node_bytes(uint32_t nr_metrics)
{
	return (uint32_t)sizeof(struct callflow_node) + 8 * nr_metrics;
}

/*
 * An open call. Its node is the child that was used last of the node of the call around it. Otherwise
 * (calls in merged contexts) the consumer is stored inverted: such a call takes the slow path out.
 */
struct callflow_open {
	uint32_t node;
	uint32_t consumer;
	uint64_t frame;			/* callflow_frame(), 0 unknown */
};

/* Check whether it is a call of that consumer, of whatever tier. */
static inline int callflow_is_call_of(const struct callflow_open *o, uint32_t consumer)
{
	uint32_t differs = o->consumer ^ consumer;

	return !(differs & ~CALLFLOW_TIER) || !(~differs & ~CALLFLOW_TIER);
}

/*
 * Rings have several producers, each thread always the same ring, and one consumer. A producer takes a
 * place by moving head, when head - tail < ring_events. It publishes the event by storing its first word
 * (release) with the lap of the ring in it: words left from the lap before differ in that.
 */
struct callflow_ring {
	uint64_t head;
	uint64_t pad0[7];
	uint64_t tail;
	uint64_t pad1[7];
	uint64_t stalled;		/* tail + 1 when a thread waited in vain */
};

enum callflow_event_kind {
	CALLFLOW_ENTERED,
	CALLFLOW_LEFT,
	CALLFLOW_LEFT_THROWING,
	CALLFLOW_UNWOUND,		/* consumer: so many frames were closed without being left */
};

struct callflow_event {
	uint64_t what;			/* consumer | kind << 32 | thread slot << 34 | lap << 56 */
	uint64_t tsc;
	uint64_t charged[];		/* nr_metrics: what the thread was charged by then, since its start */
};

enum {
	CALLFLOW_EVENT_KIND = 32, CALLFLOW_EVENT_THREAD = 34, CALLFLOW_EVENT_LAP = 56,
	CALLFLOW_EVENT_THREADS = 1 << 22,
};

static inline uint32_t callflow_event_bytes(uint32_t nr_metrics)
{
	return (uint32_t)sizeof(struct callflow_event) + 8 * nr_metrics;
}

/* The lap of position pos of a ring; never 0, which is what an unused ring holds. */
static inline uint64_t callflow_event_lap(uint64_t pos, uint32_t ring_events)
{
	return 1 + pos / ring_events % 255;
}

static inline uint64_t callflow_ring_bytes(uint32_t ring_events, uint32_t nr_metrics)
{
	uint64_t bytes = CALLFLOW_PAGE + (uint64_t)ring_events * callflow_event_bytes(nr_metrics);

	return (bytes + CALLFLOW_PAGE - 1) & ~(uint64_t)(CALLFLOW_PAGE - 1);
}

enum callflow_thread_state {
	CALLFLOW_FREE,
	CALLFLOW_LIVE,
	CALLFLOW_ENDED,
};

/*
 * A logical thread: a native thread, a Java thread, a virtual thread. Used by the kernel thread
 * it is mounted on alone.
 */
struct callflow_thread {
	/* the process's own; pointers are its addresses */
	/* struct callflow_open *: the innermost open call; stack when there is none */
	uint64_t top;
	uint64_t soft_top;		/* up to which a call takes the short way */
	uint64_t stack;			/* struct callflow_open *, of which [0] is the root */
	uint32_t stack_max;		/* entries of stack */
	uint32_t grab;			/* pages taken last time */
	uint32_t free, free_end;	/* where the next node goes, and the end of that page */
	uint32_t free_pages;		/* whole pages after it */
	uint32_t reserve, reserve_end;	/* as free, in a reserved page */
	uint32_t root, pruned;		/* pruned: the root's */
	uint32_t state;			/* enum callflow_thread_state, stored with release */
	uint32_t ring;			/* index + 1, 0 none */
	uint32_t beyond;		/* calls open above stack_max, when it cannot grow */
	uint64_t last[CALLFLOW_MAX_METRICS];	/* value of each metric when it was charged last */
	/* for everybody */
	uint64_t java_id;		/* Thread.getId(), 0 for none */
	uint64_t start_ns, end_ns;	/* CLOCK_MONOTONIC; end 0 while it lives */
	uint64_t popped;		/* frames closed by the leave of an outer one */
	uint64_t inserted;		/* leaves without enter: put above what was seen */
	uint64_t over_range;		/* a metric stepped back: taken for no consumption */
	uint64_t folded;		/* calls counted in [pruned] for lack of memory or depth */
	uint64_t folded_recursion;	/* calls below max_depth counted in contexts that were there */
	uint64_t thrown;		/* exits by an exception */
	uint64_t missed;		/* calls in a signal handler that interrupted a probe */
	uint64_t mounts;
	/* CPU time by the kernel's own account; 0: not known, or no thread of its own */
	uint64_t kernel_cpu_ns;
	uint64_t lost_events;
	uint32_t tid;			/* of its kernel thread, 0 when it has none of its own */
	uint32_t flags;			/* enum callflow_thread_flags */
	char name[CALLFLOW_NAME];
	struct callflow_open below;	/* the innermost entry's own value, while beyond */
	uint64_t charged[CALLFLOW_MAX_METRICS];	/* with CALLFLOW_EVENTS: all that was ever charged */
	uint64_t wide;			/* struct callflow_wide *: finds the children of nodes with many */
	uint32_t next_ended;		/* the process's own: another one that may be taken, index + 1 */
	uint32_t left_open;		/* calls open at its end */
	uint32_t running_on;		/* the kernel thread whose CPU time it is charged; 0: none now */
	/* node of the innermost call; 0: follow the last used children from root */
	uint32_t innermost;
	/* CPU time of its kernel thread that came before it and is not its own */
	uint64_t cpu_origin_ns;
	/* CPU time of running_on when the process looked, shortly before its end */
	uint64_t seen_cpu_ns;
	uint32_t free_nodes;		/* whose contexts were pruned, linked by child */
	uint32_t own_pages;		/* of the pool */
	uint32_t pruning;		/* its tree is being pruned */
	uint32_t prune_wait;		/* calls until that is tried again */
	uint32_t at;			/* node in which outermost calls are: root, or that of its labels */
	uint32_t pad;
	uint64_t swept_tsc;		/* when contexts with a small share were dropped last; 0: never */
};

enum callflow_thread_flags {
	CALLFLOW_THREAD_JAVA = 1 << 0,
	CALLFLOW_THREAD_VIRTUAL = 1 << 1,
	CALLFLOW_THREAD_EXCLUDED = 1 << 2,	/* by a rule: its calls are not counted */
	CALLFLOW_THREAD_FROM_BIRTH = 1 << 3,	/* CPU time from before its first call is its root's */
	CALLFLOW_THREAD_BRACKET = 1 << 4,	/* its outermost call is being traced */
	CALLFLOW_THREAD_SEVERAL = 1 << 5,	/* several threads, one after the other: no tid, no java_id */
	CALLFLOW_THREAD_SHARED = 1 << 8,	/* begun when room was short: others go on with it first */
	CALLFLOW_THREAD_LATE = 1 << 7,	/* it found no room first: calls were lost that it may still be in */
	/* calls from before may be open: those at the bottom of its stack, with an id as frame */
	CALLFLOW_THREAD_OUTER = 1 << 6,
};

_Static_assert(sizeof(struct callflow_area) <= CALLFLOW_PAGE, "the header is one page");
_Static_assert(sizeof(struct callflow_node) == 24, "node");
_Static_assert(sizeof(struct callflow_thread) == 464, "thread");

#endif
