// SPDX-License-Identifier: MIT
/*
 * classwait.c - waits for another thread to initialise a class (lock.h). JVMTI has no event for them. HotSpot
 * waits in InstanceKlass::initialize_impl(): on JDK 17 for a monitor that belongs to the class, later for a
 * lock of its own. Both end in pthread_cond_wait(), which libjvm calls through its global offset table; the
 * slot leads here while the source is on.
 *
 * Threads that park, or are known to wait for something else, pass through. The stacks of others, from here
 * to their last Java frame, are searched for a class that another thread is initialising; HotSpot keeps that
 * thread in the class.
 */
#include "agent/agent.h"
#include "agent/elf.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/reason.h"
#include "agent/hotspot/vm.h"
#include "agent/leaf.h"
#include "agent/locks/lock.h"
#include "agent/ring.h"

typedef int wait_fn(void *cond, void *mutex);

enum { MAX_BYTES = 16 << 10, PIECE = 128 };

static wait_fn *libc_wait;		/* the C library's, not an interposed one */
static bool is_replaced;

/* ---- the class ---- */

/* Return the thread of what is assumed to be a JavaThread; if it carries a virtual thread, that one. */
static struct owner owner_of(uintptr_t thread)
{
	struct owner o;
	uint64_t id;

	if (vm.o.jthread_owner_id < 0) {
		o = owners_of_thread(thread, 0);
		id = o.tid ? cont_java_id(thread) : 0;	/* 0 also without virtual threads */
		return id ? owners_of_waiter(id) : o;
	}
	return sys_peek_all(&id, thread + vm.o.jthread_owner_id, 8) ? owners_of_thread(0, id) :
								     (struct owner){ 0 };
}

/* Return whether p is a class that another thread is initialising, and set *o to that thread. */
static bool is_initialised(uintptr_t p, uintptr_t self, struct owner *o)
{
	uintptr_t base = vm.klass_base ? *vm.klass_base : 0, thread;
	uint8_t state;

	if (p & 7 || p < 1 << 16 || p - base >= 1ull << 35 ||
	    !sys_peek_all(&state, p + vm.o.ik_init_state, 1) || state != vm.being_initialized ||
	    !sys_peek_all(&thread, p + vm.o.ik_init_thread, 8) || !thread || thread == self)
		return false;
	*o = owner_of(thread);
	return o->tid || o->vthread;
}

/* Search the stack for the class that t waits for; 0: it waits for something else. */
static uintptr_t find_awaited_class(const struct vm_thread *t, struct owner *o)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	uintptr_t end = vm_word(t->thread, vm.o.jthread_anchor + vm.o.anchor_sp), last = 0, words[PIECE];
	size_t i, nr;

	if (end <= sp || (t->stack_base && end > t->stack_base))
		return 0;
	if (end > sp + MAX_BYTES)
		end = sp + MAX_BYTES;
	/* the anchor may be stale, and far away */
	for (; sp < end; sp += nr * 8) {
		nr = sys_peek(words, sp, end - sp < sizeof(words) ? end - sp : sizeof(words)) / 8;
		if (!nr)
			return 0;
		for (i = 0; i < nr; i++) {
			if (words[i] != last && is_initialised(words[i], t->thread, o))
				return words[i];
			last = words[i];
		}
	}
	return 0;
}

/* ---- the wait ---- */

/*
 * Return whether t parks: the condition belongs to its Parker, inside the JavaThread. Parked threads without
 * a blocker have no entry in the table, but for what they wait is unknown.
 */
static bool parks(const struct vm_thread *t, const void *cond)
{
	return (uintptr_t)cond - t->thread < (uintptr_t)vm.size.jthread;
}

/* Begin a wait if the thread waits for a class. Returns its id, or 0. */
static __attribute__((noinline)) uint64_t waits_for_class(const void *cond)
{
	char text[JVM_MAX_STRING + 2];
	struct lock_wait w = { .kind = JVM_WAIT_CLASS };
	struct vm_thread t;
	uintptr_t klass = 0;
	struct owner o;
	uint64_t id = 0;
	size_t len;

	if (!sample_begin())
		return 0;
	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	if (lock_is_on(&w.session) && t.thread && !parks(&t, cond) && !lock_waits_already(&t))
		klass = find_awaited_class(&t, &o);
	len = klass ? reason_signature(klass, text) : 0;
	w.leaf = len ? leaf_number(JVM_LEAF_CLASS, text, len) : 0;
	if (w.leaf) {
		w.owner = o.tid;
		w.owner_vthread = o.vthread;
		id = lock_begin_alone(&t, &w);
	}
	sample_end();
	return id;
}

static __attribute__((noinline)) int wait_for_class(void *cond, void *mutex, uint64_t id)
{
	int r = libc_wait(cond, mutex);
	bool on = sample_begin();
	struct lock_wait w;

	if (lock_end_alone(id, &w) && on)
		lock_tell(&w);
	if (on)
		sample_end();
	return r;
}

static wait_fn on_wait;
static struct elf_hook hook = { .ours = (void *)on_wait };

/* Other waits end in a jump, so that code that checks its caller finds libjvm. */
static int on_wait(void *cond, void *mutex)
{
	uint64_t id = waits_for_class(cond);

	return id ? wait_for_class(cond, mutex, id) : ((wait_fn *)hook.was)(cond, mutex);
}

/* ---- on and off ---- */

static wait_fn *find_libc_wait(void)
{
	static const char *const names[] = { "libpthread.so.0", "libc.so.6" };
	uintptr_t base;
	void *p = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && !p; i++) {
		base = elf_base_named(names[i]);
		p = base ? elf_symbol(base, "pthread_cond_wait") : NULL;
	}
	return p;
}

bool classwait_on(void)
{
	if (is_replaced)
		return true;
	if (!libc_wait)
		libc_wait = find_libc_wait();
	if (!libc_wait || !vm.being_initialized || vm.o.ik_init_state < 0 || vm.o.ik_init_thread < 0 ||
	    vm.o.jthread_anchor < 0 || vm.o.anchor_sp < 0)
		return false;
	is_replaced = elf_hook(vm.libjvm, "pthread_cond_wait", &hook);
	return is_replaced;
}

/* Threads that wait at this moment return through this code. */
void classwait_off(void)
{
	if (is_replaced)
		elf_unhook(&hook);
	is_replaced = false;
}
