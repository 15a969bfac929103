/* SPDX-License-Identifier: MIT */
/*
 * callflow.h - exact call trees inside a measured process: each enter and leave steps the tree
 * of its thread and charges what was consumed since the step before to the context that was open.
 *
 * Freestanding: no libc, no allocation but pages from the kernel, no locks, no thread-local
 * storage; whoever embeds it (the JVM agent, libarcprof-hookit.a) keeps the pointer to
 * its struct callflow_kthread where it finds it quickly. The trees lie in memory shared with the
 * recorder (area.h), so nothing is lost when the process is killed.
 *
 * Two kinds of thread. A callflow_kthread is a thread of the kernel: its CPU time, counters and
 * clocks. A callflow_thread is what a tree belongs to. Most of the time they are one to one;
 * a virtual thread is mounted on a carrier's kthread and is charged what that consumes meanwhile.
 *
 * Calls for one kthread come from that thread alone, and not from a signal handler that
 * interrupted one of them (callflow_missed() counts those).
 */
#ifndef CALLFLOW_H
#define CALLFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "callflow/area.h"

/*
 * Private to the process; lies in memory that is zeroed in a forked child, where cur is NULL:
 * enter and leave then do nothing, and used is 0.
 */
struct callflow_kthread {
	uint32_t used;			/* this struct is taken */
	bool throwing;			/* the current leave is one by an exception */
	struct callflow_thread *cur;	/* who is charged; NULL: nobody (excluded, ended, orphaned) */
	const volatile uint32_t *seq;	/* the kernel moves it whenever the thread gets a CPU */
	uint32_t seen;			/* its value when base was read */
	int fd;				/* of the perf event behind it, -1 none */
	uint64_t off_tsc;		/* CPU time = tsc + off_tsc, as long as *seq == seen */
	uint64_t high;			/* highest CPU time reported so far: it never steps back */
	uint64_t cpu_ns;		/* the kernel's CPU time at the last look, */
	uint64_t cpu_tsc;		/* and in cycles */
	uint64_t start_ns;		/* CPU time when it started */
	struct callflow_thread *own;	/* charged when nothing is mounted */
	struct callflow_counter {
		const volatile void *page;	/* perf_event_mmap_page; NULL: refused */
		int fd;
		int pad;
	} counters[CALLFLOW_MAX_METRICS];
	uint64_t dispatches;		/* of *seq, in 64 bits */
	void *user;			/* the embedder's */
	uint64_t thread_pointer;	/* of the thread it stands for; 0: of none any more */
	bool native;			/* the JVM agent's: it is one whether or not Java knows the thread */
	bool no_room;			/* cur is NULL as there was none: calls are lost */
	bool rethrows;			/* the embedder's: its own code is about to throw again */
	uint32_t tid;
};

/*
 * Return whether it stands for the calling thread. One that is kept may have ended, and be another's by now.
 */
static inline bool callflow_is_own(const struct callflow_kthread *k)
{
	return k && k->thread_pointer == (uintptr_t)__builtin_thread_pointer();
}

/*
 * Adopt an area that the recorder made, mapped for reading and writing. Return false if it
 * is invalid, or another one was adopted before. Must be called before any other function, once per process.
 */
bool callflow_attach(void *area, size_t bytes);
/* Return whether the area was adopted by the process that forked this one. */
bool callflow_forked(void);
/*
 * Give back the area and all that was needed for it, so that another one can be adopted. No kthread nor
 * thread from before is valid any more, and no call for one may be under way.
 */
void callflow_release(void);
/* Called in a forked child: forget everything, so that another area can be adopted. */
void callflow_detach(void);
const struct callflow_area *callflow_area(void);

/*
 * Declare what the embedder knows, before the first kthread starts. Without it the metric
 * is refused to every thread.
 *  - CALLFLOW_ALLOC_BYTES: read returns the calling kernel thread's bytes, a number that only
 *    grows; called on each enter and leave;
 *  - CALLFLOW_ALLOC_OBJECTS: every object will be reported by callflow_charge_object();
 *  - CALLFLOW_BYTECODES: methods will report what they execute by callflow_charge_event().
 */
void callflow_has_alloc_bytes(uint64_t (*read)(struct callflow_kthread *k));
void callflow_has_alloc_objects(void);
void callflow_has_bytecodes(void);
/* Return whether the metric of this kind is among those that the area asks for. */
bool callflow_wants_metric(enum callflow_metric_kind kind);
/*
 * Declare that the embedder sees each entry of a method: the exit of one that is not open was reported
 * before, and is counted as a repair but changes nothing. Not for a thread that is CALLFLOW_THREAD_LATE.
 */
void callflow_sees_entries(void);

/*
 * Return a new logical thread; NULL: no room (counted). The name may come later. When slots or memory run
 * short, it goes on with the tree of one of its kind that has ended: that is then CALLFLOW_THREAD_SEVERAL.
 * Those that began before that keep their trees, and names, as long as there is any room.
 */
struct callflow_thread *callflow_thread_new(uint32_t tid, uint64_t java_id, uint32_t flags);
void callflow_thread_name(struct callflow_thread *t, const char *name, size_t len);
/* End a thread, which must not be mounted. Its tree stays. */
void callflow_thread_end(struct callflow_thread *t);

/*
 * Frames that were on the stack before anything was counted, and whose ends are not reported: the
 * embedder sees the thread's stack. It is asked for them at a thread's first call, and then at each
 * call that such a frame makes whether the frame is still there.
 */
struct callflow_outer {
	uint64_t id : 48, place : 16;	/* the embedder's; id is not 0 */
};
struct callflow_outside {
	/*
	 * callflow_put_outer() for each, outermost first; false: not now, ask again. That it takes
	 * time is the embedder's to charge, with callflow_charge_now(), before the call that
	 * begins.
	 */
	bool (*find)(struct callflow_thread *t);
	bool (*is_there)(struct callflow_outer o);
};
void callflow_has_outside(const struct callflow_outside *o);
/* Does nothing without callflow_has_outside(). Call it before the thread's first call. */
void callflow_look_outside(struct callflow_thread *t);
void callflow_put_outer(struct callflow_thread *t, uint32_t consumer, struct callflow_outer o);

/*
 * Register the calling kernel thread, with own (may be NULL) as what is charged when nothing is mounted.
 * user is kept for the embedder. NULL: no memory.
 */
struct callflow_kthread *callflow_kthread_start(struct callflow_thread *own, void *user);
/* Set another user, from which metrics are read from now on; what was consumed until then is charged. */
void callflow_kthread_set_user(struct callflow_kthread *k, void *user);
/* Charges what is left to be charged, ends own, and gives back what the kernel holds for it. */
void callflow_kthread_end(struct callflow_kthread *k);
/* Charges what is left to be charged, and notes the kernel's account: the process may end now. */
void callflow_kthread_note(struct callflow_kthread *k);
/*
 * Note what each thread has consumed, because the process will end soon: the recorder can then charge
 * open calls when there is nothing left to ask. May be called from any thread.
 */
void callflow_look(void);

/*
 * Mount a virtual thread on this kernel thread, or unmount it: what was consumed so far is
 * charged to the one that was mounted. Mounting over another one unmounts that first.
 */
void callflow_mount(struct callflow_kthread *k, struct callflow_thread *t);
/* Mount a virtual thread that found no room: until it leaves, its calls are lost, and counted as lost. */
void callflow_mount_lost(struct callflow_kthread *k);
void callflow_unmount(struct callflow_kthread *k);

/* Count a call, its normal end, and its end by an exception; leave also closes what is open inside. */
void callflow_enter(struct callflow_kthread *k, uint32_t consumer);
void callflow_leave(struct callflow_kthread *k, uint32_t consumer);
void callflow_thrown(struct callflow_kthread *k, uint32_t consumer);
/* Count the normal end of a call that the caller knows to be the innermost open one. */
void callflow_leave_top(struct callflow_kthread *k);

/*
 * The same with CALLFLOW_TIMED: each call is timed, too. Not those below the depth at which contexts are
 * merged, nor those that were open before.
 */
void callflow_enter_timed(struct callflow_kthread *k, uint32_t consumer);
void callflow_leave_timed(struct callflow_kthread *k, uint32_t consumer);
void callflow_thrown_timed(struct callflow_kthread *k, uint32_t consumer);

enum { CALLFLOW_SITE_BITS = 21 };

/*
 * Names the frame of a native function: its stack pointer, a multiple of 16, and where it
 * returns to. A function that the compiler put inside another has that one's frame.
 */
static inline uint64_t callflow_frame(uint64_t sp, uint64_t site)
{
	return sp >> 4 << CALLFLOW_SITE_BITS | (site & ((1u << CALLFLOW_SITE_BITS) - 1));
}

/*
 * Do the same for native code, where longjmp() leaves frames without notice. frame is 0 when it is not
 * on the thread's own stack. The stack grows down: open calls that lie lower are gone, and
 * those at the same place that return elsewhere.
 */
void callflow_enter_frame(struct callflow_kthread *k, uint32_t consumer, uint64_t frame);
void callflow_leave_frame(struct callflow_kthread *k, uint32_t consumer, uint64_t frame);
/*
 * Do the same for a call that returns to the address site: the place it was made from is a context around
 * it. Not where frame is 0, nor for what is in the frame of an open call.
 */
void callflow_enter_from(struct callflow_kthread *k, uint64_t site, uint32_t consumer, uint64_t frame);
void callflow_leave_from(struct callflow_kthread *k, uint64_t site, uint32_t consumer, uint64_t frame);
/*
 * Do the same in Java, where the caller reports the place: the innermost open call, of a method, calls from
 * there until it reports another. Place: a line, or CALLFLOW_PLACE_BCI and a bytecode index; 0: not known.
 */
void callflow_at(struct callflow_kthread *k, uint32_t place);
void callflow_enter_at(struct callflow_kthread *k, uint32_t consumer);
void callflow_leave_at(struct callflow_kthread *k, uint32_t consumer);
void callflow_thrown_at(struct callflow_kthread *k, uint32_t consumer);
/* Do the same for the function at that address. */
void callflow_enter_function(struct callflow_kthread *k, uint64_t addr, uint64_t frame);
void callflow_leave_function(struct callflow_kthread *k, uint64_t addr, uint64_t frame);

/*
 * Set the labels ("key=value,..."; len 0: none) for which the charged thread works from now on: what it
 * consumes goes to contexts of their own, and so do calls that begin. Calls that are open stay open: each is
 * counted where it began, and its time where it passed. The time it takes is proportional to the open calls.
 * Does nothing without callflow_area.nr_labels.
 */
void callflow_label(struct callflow_kthread *k, const char *text, size_t len);

/* Charges what was consumed since the last step to the open context, as a step does. */
void callflow_charge_now(struct callflow_kthread *k);

/*
 * Return the number of open calls of the charged thread; callflow_unwind() closes calls, innermost first,
 * until depth are open.
 */
static inline uint64_t callflow_depth(const struct callflow_kthread *k)
{
	const struct callflow_thread *t = k->cur;

	return t ? (t->top - t->stack) / sizeof(struct callflow_open) + t->beyond : 0;
}
void callflow_unwind(struct callflow_kthread *k, uint64_t depth);

/*
 * Return the consumer under which the innermost open call of that method was entered, with the tier of
 * that time; without such a call, the given consumer.
 */
static inline uint32_t callflow_as_entered(const struct callflow_kthread *k, uint32_t consumer)
{
	const struct callflow_thread *t = k->cur;
	const struct callflow_open *stack, *o;

	if (!t || t->beyond)
		return consumer;
	stack = (const void *)(uintptr_t)t->stack;
	for (o = (const void *)(uintptr_t)t->top; o > stack && !callflow_is_call_of(o, consumer); o--)
		;
	if (o == stack)
		return consumer;
	return (o->consumer & CALLFLOW_KIND) == CALLFLOW_METHOD ? o->consumer : ~o->consumer;
}

/*
 * Return whether the outermost call that begins is to be traced (CALLFLOW_BRACKETS). If so, its
 * end must be reported, or that it could not be traced; the latter return true after the last one.
 */
bool callflow_bracket_due(void);
bool callflow_bracket_over(bool traced);
void callflow_bracket_methods(uint32_t nr);	/* that many more have probes */

/*
 * Charge an object that the calling thread has allocated, whose bytes CALLFLOW_ALLOC_BYTES includes, to
 * the class below the open context. Class: its number; if that is 0 (not known), or there is no room for
 * another context, the open context is charged, as always.
 */
void callflow_charge_object(struct callflow_kthread *k, uint32_t class_number, uint64_t bytes);

/* Adds to a metric of the open context, one that only events move. */
void callflow_charge_event(struct callflow_kthread *k, enum callflow_metric_kind kind, uint64_t amount);

static inline void callflow_missed(struct callflow_kthread *k)
{
	if (k->cur)
		k->cur->missed++;
}

/* Return the consumer of a native function. */
uint32_t callflow_function(uint64_t addr);

#endif
