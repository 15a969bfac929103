// SPDX-License-Identifier: MIT
/*
 * hookit.c - the two functions that gcc and clang call with -finstrument-functions, for programs
 * that run under "arcprof record --callflow".
 *
 * Without a recorder a hook is a load and a branch. With one, each thread gets a tree at its
 * first call. What must hold:
 *  [1] a hook in a signal handler that interrupted another hook of its thread only counts: trees
 *	are stepped by one at a time;
 *  [2] after fork() the child is a process of its own: what it inherits is not touched, and it asks
 *	the recorder for an area when it calls its first function;
 *  [3] in a JVM with the agent the trees are the agent's, and so is the code that steps them.
 */
#define HOOK __attribute__((no_instrument_function))

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "callflow/callflow.h"
#include "callflow/filter.h"
#include "hookit/link.h"

enum state {
	UNKNOWN,		/* the environment was not looked at yet */
	OFF,
	ON,
	PLAIN,			/* ON, with trees of its own, without rules of functions or call sites */
};

struct hook_thread {
	struct callflow_kthread *k;	/* NULL: none yet */
	volatile int busy;		/* [1] */
	uint64_t stack_lo, stack_bytes;	/* the thread's own stack; frames elsewhere are not compared */
};

static __thread struct hook_thread self __attribute__((tls_model("initial-exec")));
static volatile int state;
static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hook_area area;
static bool sites;	/* are contexts; not in trees that are the agent's */

/*
 * Exported also for libraries without hooks of their own; but one that is loaded later uses its own, not
 * those of the C library, which do nothing.
 */
#define EXPORT __attribute__((visibility("protected")))

void __cyg_profile_func_enter(void *fn, void *site) HOOK EXPORT;
void __cyg_profile_func_exit(void *fn, void *site) HOOK EXPORT;

static void end_thread(void *p)
{
	struct hook_thread *h = &self;

	h->busy = 1;
	if (callflow_is_own(h->k))
		(area.host ? area.host->end : callflow_kthread_end)(h->k);
	h->k = NULL;
	h->busy = 0;
}

static int connect_now(void)
{
	int on;

	pthread_mutex_lock(&lock);
	if (state == UNKNOWN) {
		on = hook_link(&area) && (area.host || callflow_attach(area.mem, area.bytes));
		if (on)
			pthread_key_create(&key, end_thread);
		sites = on && !area.host && callflow_area()->flags & CALLFLOW_SITES;
		store_release(&state, !on ? OFF : area.host || area.verdicts || sites ? ON : PLAIN);
	}
	pthread_mutex_unlock(&lock);
	return state >= ON;
}

static void find_stack(struct hook_thread *h)
{
	pthread_attr_t a;
	void *lo;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &a))
		return;
	if (!pthread_attr_getstack(&a, &lo, &size)) {
		h->stack_lo = (uintptr_t)lo;
		h->stack_bytes = size;
	}
	pthread_attr_destroy(&a);
}

static struct callflow_kthread *new_kthread(void)
{
	struct callflow_thread *t = NULL;
	struct callflow_kthread *k;
	char name[16] = "";
	size_t len = 0;
	bool wanted;

	prctl(PR_GET_NAME, name);
	while (len < sizeof(name) && name[len])
		len++;
	wanted = callflow_wants_thread(callflow_rules(), name, len);
	if (wanted)
		t = callflow_thread_new(syscall(SYS_gettid), 0, CALLFLOW_THREAD_FROM_BIRTH);
	if (t)
		callflow_thread_name(t, name, len);
	k = callflow_kthread_start(t, NULL);
	if (k)
		k->no_room = wanted && !t;
	return k;
}

static void start_thread(struct hook_thread *h)
{
	find_stack(h);
	h->k = area.host ? area.host->kthread() : new_kthread();
	pthread_setspecific(key, h);
}

/* [2] */
static void after_fork(struct hook_thread *h)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = fresh;
	callflow_detach();
	hook_unlink(&area);
	pthread_key_delete(key);
	h->k = NULL;
	state = UNKNOWN;
}

/* Prepare for a thread's first call; return false if there is nothing to measure. */
static __attribute__((noinline)) int hookit_begin(struct hook_thread *h)
{
	h->busy = 1;
	if (area.host ? area.host->forked() : callflow_forked())
		after_fork(h);
	if (state >= ON || (state == UNKNOWN && connect_now())) {
		if (!callflow_is_own(h->k))
			start_thread(h);
	}
	h->busy = 0;
	return h->k != NULL;
}

/* Return whether the rules want the function counted. The first call of each asks the recorder. */
static __attribute__((noinline)) int hookit_is_wanted(uint32_t consumer, void *fn)
{
	unsigned char *v = &area.verdicts[consumer & CALLFLOW_VALUE];

	if ((consumer & CALLFLOW_KIND) != CALLFLOW_NATIVE)
		return 1;
	if (load_relaxed(v) == HOOK_UNKNOWN) {
		pthread_mutex_lock(&lock);
		if (*v == HOOK_UNKNOWN)
			store_relaxed(v, hook_ask(&area, (uintptr_t)fn));
		pthread_mutex_unlock(&lock);
	}
	return *v == HOOK_INCLUDED;
}

static inline uint64_t hookit_frame_of(const struct hook_thread *h, uint64_t sp, void *site)
{
	return sp - h->stack_lo < h->stack_bytes ? callflow_frame(sp, (uintptr_t)site) : 0;
}

static inline uint32_t hookit_consumer_of(void *fn)
{
	return area.host ? area.host->function((uintptr_t)fn) : callflow_function((uintptr_t)fn);
}

static inline void step(const struct hook_thread *h, bool enters, uint32_t consumer, void *site,
			uint64_t frame)
{
	if (sites)
		(enters ? callflow_enter_from : callflow_leave_from)(h->k, (uintptr_t)site, consumer, frame);
	else if (area.host)
		(enters ? area.host->enter : area.host->leave)(h->k, consumer, frame);
	else
		(enters ? callflow_enter_frame : callflow_leave_frame)(h->k, consumer, frame);
}

/*
 * Step in other cases. With enters: the first call of a thread, or one that interrupted a hook. In a JVM, or
 * with rules: all.
 */
static inline void step_otherwise(bool enters, void *fn, void *site, uint64_t sp)
{
	struct hook_thread *h = &self;
	uint32_t consumer;

	if (h->busy) {
		if (enters && h->k)
			callflow_missed(h->k);
		return;
	}
	if (!callflow_is_own(h->k) && !(enters && hookit_begin(h)))
		return;
	h->busy = 1;
	consumer = hookit_consumer_of(fn);
	if (!area.verdicts || hookit_is_wanted(consumer, fn))
		step(h, enters, consumer, site, hookit_frame_of(h, sp, site));
	h->busy = 0;
}

static __attribute__((noinline)) void enter_otherwise(void *fn, void *site, uint64_t sp)
{
	step_otherwise(true, fn, site, sp);
}

static __attribute__((noinline)) void leave_otherwise(void *fn, void *site, uint64_t sp)
{
	step_otherwise(false, fn, site, sp);
}

static inline int is_usual(const struct hook_thread *h, int now)
{
	return __builtin_expect(now == PLAIN && !h->busy && callflow_is_own(h->k), 1);
}

/* inlined into both hooks: frame addresses are theirs */
static inline __attribute__((always_inline)) void hook(bool enters, void *fn, void *site)
{
	struct hook_thread *h = &self;
	int now = state;
	uint64_t sp;

	if (__builtin_expect(now == OFF, 0))
		return;
	sp = (uintptr_t)__builtin_frame_address(0);
	if (!is_usual(h, now)) {
		(enters ? enter_otherwise : leave_otherwise)(fn, site, sp);
		return;
	}
	h->busy = 1;
	(enters ? callflow_enter_function : callflow_leave_function)(h->k, (uintptr_t)fn,
								     hookit_frame_of(h, sp, site));
	h->busy = 0;
}

void __cyg_profile_func_enter(void *fn, void *site)
{
	hook(true, fn, site);
}

void __cyg_profile_func_exit(void *fn, void *site)
{
	hook(false, fn, site);
}

/*
 * Set labels of the calling thread. For the library that labels threads (lib/api/label.c), which finds this
 * function if a program has both.
 */
void arcprof_hookit_label(const char *text, size_t len) HOOK EXPORT;

void arcprof_hookit_label(const char *text, size_t len)
{
	struct hook_thread *h = &self;

	if (state == OFF || h->busy || (!callflow_is_own(h->k) && !hookit_begin(h)))
		return;
	h->busy = 1;
	(area.host ? area.host->label : callflow_label)(h->k, text, len);
	h->busy = 0;
}

/* Run last: note what the main thread consumed since its last call. */
static __attribute__((destructor(101))) void note_end(void)
{
	struct hook_thread *h = &self;

	h->busy = 1;
	if (callflow_is_own(h->k))
		(area.host ? area.host->note : callflow_kthread_note)(h->k);
	if (!area.host)
		callflow_look();
	h->busy = 0;
}
