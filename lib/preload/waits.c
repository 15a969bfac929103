// SPDX-License-Identifier: MIT
/*
 * waits.c - interposes the functions by which threads wait for each other, and reports each wait
 * (jvm/memory.h): only in the file for "-e lock". A lock that is free is taken by the function that tries to,
 * and nothing more is done; only a thread that finds it taken looks at the clock, before and after. A thread
 * that releases a lock that others wait for reports that, with its stack: they wait because of what it did.
 *
 * What libjvm does with condition variables is left out: it is how Java threads wait for anything at all,
 * which the agent tells.
 *
 * Nothing here takes a lock or allocates.
 */
#include <errno.h>

#include "agent/elf.h"
#include "agent/locks/share.h"
#include "agent/sys.h"
#include "preload/cpu.h"
#include "preload/objects.h"
#include "preload/preload.h"
#include "preload/sampler.h"
#include "preload/waiting.h"

__attribute__((weak)) extern const char *gnu_get_libc_version(void);

enum what {
	MUTEX_TRYLOCK, MUTEX_LOCK, MUTEX_TIMEDLOCK, MUTEX_CLOCKLOCK, TRYRDLOCK, RDLOCK, TRYWRLOCK, WRLOCK,
	COND_WAIT, COND_TIMEDWAIT, COND_CLOCKWAIT, MUTEX_UNLOCK, RWLOCK_UNLOCK, NR
};

static const char *const names[NR] = {
	"pthread_mutex_trylock", "pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
	"pthread_rwlock_tryrdlock", "pthread_rwlock_rdlock", "pthread_rwlock_trywrlock",
	"pthread_rwlock_wrlock", "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
	"pthread_mutex_unlock", "pthread_rwlock_unlock",
};
static void *real[NR];
static uintptr_t vm_lo, vm_hi;		/* libjvm's code */

static void *waits_find(enum what w)
{
	objects_find_next(real, names, NR);
	return real[w];
}

#define REAL(w, type) ((type)(likely(real[w]) ? real[w] : waits_find(w)))

typedef int lock_fn(void *);
typedef int timedlock_fn(void *, const void *);
typedef int clocklock_fn(void *, int, const void *);
typedef int wait_fn(void *, void *);
typedef int timedwait_fn(void *, void *, const void *);
typedef int clockwait_fn(void *, void *, int, const void *);

/* ---- reports ---- */

static struct shares of_waiters, of_owners;

static void send(const struct memory_regs *r, const struct memory_wait *w)
{
	__typeof__(sampler_state->hook.wait) agent = load_acquire(&sampler_state->hook.wait);

	if (!agent || !agent(r, w))
		sampler_send_wait(r, w);
}

/* Must not be inlined: the frames of this library end here, for the recorder to drop them. */
__attribute__((noinline)) static void tell(const void *lock, const struct waiting *began, struct waiting *at)
{
	uint64_t now = sys_now();
	struct memory_wait w = {
		.addr = (uintptr_t)lock, .ns = now - began->began_ns, .owner = began->owner,
		.kind = began->kind,
	};
	struct memory_regs r;

	if (!waiting_end(at, lock, &w.blamed_ns) || !sampler_is_on())
		return;
	w.weight_ns = share_of(&of_waiters, w.addr, w.ns, sampler_wishes.wait_ns, now);
	CPU_REGS(&r);
	send(&r, &w);
}

/* Report that others wait for the lock that this thread is about to release. */
__attribute__((noinline)) static void give_back(const void *lock, enum jvm_wait_kind kind)
{
	uint64_t now = sys_now();
	struct memory_wait w = { .addr = (uintptr_t)lock, .kind = kind };
	struct memory_regs r;

	w.ns = waiting_take(lock, now, &w.given_back);
	if (!w.ns || !sampler_is_on())
		return;
	w.weight_ns = share_of(&of_owners, w.addr, w.ns, sampler_wishes.wait_ns, now);
	if (!w.weight_ns)
		return;
	CPU_REGS(&r);
	send(&r, &w);
}

/* The value of call, which waits. */
#define WAITED(lock_, kind_, owner_, call) \
	({ \
		struct waiting w_ = { .began_ns = sys_now(), .owner = (owner_), .kind = (kind_) }; \
		struct waiting *at_; \
		int r_; \
\
		CPU_REGS(&w_.regs); \
		at_ = waiting_begin(lock_, &w_); \
		r_ = (call); \
		tell(lock_, &w_, at_); \
		r_; \
	})

/* ---- who has it: glibc keeps the thread's number in the lock ---- */

static uint32_t word_of(const void *lock, size_t at)
{
	return gnu_get_libc_version ? load_relaxed((const uint32_t *)((const char *)lock + at)) : 0;
}

static uint32_t owner_of_mutex(const void *m)
{
	return word_of(m, 8);		/* __owner */
}

static uint32_t writer_of(const void *l)
{
	return word_of(l, 24);		/* __cur_writer */
}

/* ---- mutexes ---- */

/* Return the result of trylock, or EBUSY without that function. */
static int try_mutex(void *m)
{
	lock_fn *f = REAL(MUTEX_TRYLOCK, lock_fn *);

	return likely(f) ? f(m) : EBUSY;
}

PRELOAD_EXPORT int pthread_mutex_lock(void *m)
{
	lock_fn *f = REAL(MUTEX_LOCK, lock_fn *);
	int r = try_mutex(m);

	if (likely(r != EBUSY) || !f)
		return r;
	if (!real[MUTEX_TRYLOCK])	/* an old C library without its library of threads */
		return f(m);
	return WAITED(m, JVM_WAIT_MUTEX, owner_of_mutex(m), f(m));
}

PRELOAD_EXPORT int pthread_mutex_timedlock(void *m, const void *until)
{
	timedlock_fn *f = REAL(MUTEX_TIMEDLOCK, timedlock_fn *);
	int r = try_mutex(m);

	if (r != EBUSY || !f)
		return r;
	return WAITED(m, JVM_WAIT_MUTEX, owner_of_mutex(m), f(m, until));
}

PRELOAD_EXPORT int pthread_mutex_clocklock(void *m, int clock, const void *until)
{
	clocklock_fn *f = REAL(MUTEX_CLOCKLOCK, clocklock_fn *);
	int r = try_mutex(m);

	if (r != EBUSY || !f)
		return r;
	return WAITED(m, JVM_WAIT_MUTEX, owner_of_mutex(m), f(m, clock, until));
}

/* Leave a mutex; a recursive one keeps its owner until it has been unlocked as often as it was locked. */
static void leave_mutex(const void *m)
{
	if (waiting_for(m) && word_of(m, 4) <= 1)	/* __count */
		give_back(m, JVM_WAIT_MUTEX);
}

PRELOAD_EXPORT int pthread_mutex_unlock(void *m)
{
	lock_fn *f = REAL(MUTEX_UNLOCK, lock_fn *);

	leave_mutex(m);
	return likely(f) ? f(m) : 0;
}

/* ---- reader-writer locks ---- */

static int lock_rwlock(enum what how, void *l)
{
	lock_fn *try = REAL(how - 1, lock_fn *), *f = REAL(how, lock_fn *);
	int r = try ? try(l) : EBUSY;

	if (likely(r != EBUSY) || !f)
		return r;
	return WAITED(l, JVM_WAIT_RWLOCK, writer_of(l), f(l));
}

PRELOAD_EXPORT int pthread_rwlock_rdlock(void *l)
{
	return lock_rwlock(RDLOCK, l);
}

PRELOAD_EXPORT int pthread_rwlock_wrlock(void *l)
{
	return lock_rwlock(WRLOCK, l);
}

PRELOAD_EXPORT int pthread_rwlock_unlock(void *l)
{
	lock_fn *f = REAL(RWLOCK_UNLOCK, lock_fn *);

	if (waiting_for(l))
		give_back(l, JVM_WAIT_RWLOCK);
	return likely(f) ? f(l) : 0;
}

/* ---- condition variables: who waits for one gives its mutex back ---- */

static bool is_of_vm(const void *caller)
{
	return (uintptr_t)caller - load_relaxed(&vm_lo) < load_relaxed(&vm_hi) - load_relaxed(&vm_lo);
}

PRELOAD_EXPORT int pthread_cond_wait(void *c, void *m)
{
	wait_fn *f = REAL(COND_WAIT, wait_fn *);

	leave_mutex(m);
	if (is_of_vm(__builtin_return_address(0)))
		return f(c, m);
	return WAITED(c, JVM_WAIT_CONDITION, 0, f(c, m));
}

PRELOAD_EXPORT int pthread_cond_timedwait(void *c, void *m, const void *until)
{
	timedwait_fn *f = REAL(COND_TIMEDWAIT, timedwait_fn *);

	leave_mutex(m);
	if (is_of_vm(__builtin_return_address(0)))
		return f(c, m, until);
	return WAITED(c, JVM_WAIT_CONDITION, 0, f(c, m, until));
}

PRELOAD_EXPORT int pthread_cond_clockwait(void *c, void *m, int clock, const void *until)
{
	clockwait_fn *f = REAL(COND_CLOCKWAIT, clockwait_fn *);

	if (!f)
		return ENOSYS;
	leave_mutex(m);
	if (is_of_vm(__builtin_return_address(0)))
		return f(c, m, clock, until);
	return WAITED(c, JVM_WAIT_CONDITION, 0, f(c, m, clock, until));
}

/* ---- when libraries are loaded ---- */

void waits_leave_out(uintptr_t base)
{
	uintptr_t lo, hi;

	if (!elf_text(base, &lo, &hi))
		return;
	store_relaxed(&vm_lo, lo);
	store_relaxed(&vm_hi, hi);
}

void preload_begin_waits(const char *option)
{
	waits_find(MUTEX_LOCK);
	sampler_begin(option);
}
