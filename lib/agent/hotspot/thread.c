// SPDX-License-Identifier: MIT
/*
 * thread.c - which JavaThread a kernel thread is, in a signal handler (vm.h).
 *
 * HotSpot's own variable for it is thread-local, and a handler must not touch those: the C
 * library allocates them on first use, with malloc. So the agent keeps a table from thread
 * pointers, which cost one instruction to read, to JavaThreads. It is written by thread
 * events, under a lock, and read without one: a key is stored last and removed first. A second one
 * has the same threads by their kernel ids, for a thread of ours that looks at others.
 *
 * The first thread runs Java long before there are events, but it generates stubs before:
 * then its JavaThread is looked for where the C library keeps libjvm's variables (dtv).
 *
 * A thread that was on its way out when the table was made, past its last event, stays in it, and
 * another may come to its stack and so to its thread pointer. So what the table says of a thread
 * counts if HotSpot's variable says the same, which is read in the dtv where it was found once:
 * whoever is in the table has, or had, that variable, so that nothing is allocated.
 */
#include "agent/cpu.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"

enum { NR_SLOTS = 1 << 15, NR_PROBES = 64, REMOVED = 1, NR_MODULES = 128, TLS_BYTES = 512 };

struct slot {
	uintptr_t key;		/* 0: never used, ends a search */
	uintptr_t thread;
};

struct table {
	struct slot *slots;
};

static struct table by_tp, by_tid;	/* a thread pointer as it is, tid_key() */
static struct {
	uint32_t word;			/* of the dtv, whose block the variable is in; 0: not found yet */
	uint32_t offset;		/* there */
	int dtv;			/* where the dtv is, from the thread pointer */
} own_variable;
static uintptr_t own_part;		/* how far a pthread_t is before its thread pointer */
static struct sys_lock lock;
/*
 * Running threads are being looked up: one that ends meanwhile leaves its key with no
 * thread, so that who looked it up a moment before does not put it back.
 */
static bool looking_up;

/* Neither 0 nor REMOVED, and spread as thread pointers are. */
static uintptr_t tid_key(int tid)
{
	return (uintptr_t)(uint32_t)tid << 6 | 2;
}

static size_t vmthread_hash(uintptr_t key)
{
	return mix64(key);
}

static uintptr_t vmthread_find(const struct table *t, uintptr_t wanted)
{
	size_t h = vmthread_hash(wanted), i;

	for (i = 0; t->slots && i < NR_PROBES; i++) {
		const struct slot *s = &t->slots[(h + i) & (NR_SLOTS - 1)];
		uintptr_t key = load_acquire(&s->key);

		if (key == wanted)
			return load_relaxed(&s->thread);
		if (!key)
			break;
	}
	return 0;
}

static void insert_locked(struct table *t, uintptr_t key, uintptr_t thread, bool replace)
{
	struct slot *s, *spare = NULL;
	size_t h = vmthread_hash(key), i;

	for (i = 0; i < NR_PROBES; i++) {
		s = &t->slots[(h + i) & (NR_SLOTS - 1)];
		if (s->key == key) {
			spare = replace ? s : NULL;
			break;
		}
		if (!spare && s->key <= REMOVED)
			spare = s;
		if (!s->key)
			break;
	}
	if (spare) {
		store_relaxed(&spare->thread, thread);
		store_release(&spare->key, key);
	}
}

static void vmthread_insert(uintptr_t tp, int tid, uintptr_t thread, bool replace)
{
	sys_lock(&lock);
	insert_locked(&by_tp, tp, thread, replace);
	insert_locked(&by_tid, tid_key(tid), thread, replace);
	sys_unlock(&lock);
}

static void remove_locked(struct table *t, uintptr_t key)
{
	size_t h = vmthread_hash(key), i;

	for (i = 0; i < NR_PROBES; i++) {
		struct slot *s = &t->slots[(h + i) & (NR_SLOTS - 1)];
		const struct slot *next = &t->slots[(h + i + 1) & (NR_SLOTS - 1)];

		if (s->key == key)
			store_release(&s->key, next->key ? REMOVED : 0);
		if (s->key == key || !s->key)
			break;
	}
}

static void remove_from(struct table *t, uintptr_t key)
{
	if (looking_up)
		insert_locked(t, key, 0, true);
	else
		remove_locked(t, key);
}

static void remove(uintptr_t tp, int tid)
{
	sys_lock(&lock);
	remove_from(&by_tp, tp);
	remove_from(&by_tid, tid_key(tid));
	sys_unlock(&lock);
}

static inline uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/* Return whether v is an object of libjvm's whose OSThread has our tid and whose stack we are on. */
static bool is_me(uintptr_t v)
{
	uintptr_t vtable, base;

	if ((v & 7) || v < 4096 || !sys_peek_all(&vtable, v, 8) || vtable - vm.libjvm >= 256ul << 20)
		return false;
	if (!sys_peek_all(&base, v + vm.o.thread_stack_base, 8) || base - (uintptr_t)&base >= 1ul << 30)
		return false;
	return vm_thread_tid(v) == sys_tid();
}

/* The vector of thread-local blocks has one or two words per module; libjvm's block is one of them. */
static uintptr_t find_in_dtv(int at)
{
	uintptr_t dtv, block, v;
	int i, k;

	if (!sys_peek_all(&dtv, thread_pointer() + at, 8))
		return 0;
	for (i = 1; i < NR_MODULES; i++) {
		if (!sys_peek_all(&block, dtv + i * 8ul, 8))
			return 0;
		if ((block & 7) || block < 4096)
			continue;
		for (k = 0; k < TLS_BYTES && sys_peek_all(&v, block + k, 8); k += 8)
			if (is_me(v)) {
				/* JDK 8 has no such variable: this was there by chance */
				if (vm.is_8)
					return v;
				store_relaxed(&own_variable.offset, k);
				store_relaxed(&own_variable.dtv, at);
				store_release(&own_variable.word, i);
				return v;
			}
	}
	return 0;
}

static uintptr_t find_own_thread(void)
{
	static const int at[] = CPU_DTV;
	uintptr_t thread = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at) && !thread; i++)
		thread = find_in_dtv(at[i]);
	return thread;
}

/* Return whether the calling thread's own variable says that it is this thread of the table. */
static bool vmthread_is_own(uintptr_t thread)
{
	uint32_t word = load_acquire(&own_variable.word);
	const uintptr_t *dtv = *(uintptr_t **)(thread_pointer() + load_relaxed(&own_variable.dtv));
	uintptr_t block = word ? dtv[word] : 0;

	/* all ones: not allocated */
	return !word ||
	       (block && !(block & 7) && vm_word(block, load_relaxed(&own_variable.offset)) == thread);
}

bool vm_init_threads(void)
{
	by_tp.slots = sys_pages(NR_SLOTS * sizeof(*by_tp.slots));
	by_tid.slots = sys_pages(NR_SLOTS * sizeof(*by_tid.slots));
	return by_tp.slots && by_tid.slots;
}

void vm_begin_threads(void)
{
	sys_lock(&lock);
	sys_clear_pages(by_tp.slots, NR_SLOTS * sizeof(*by_tp.slots));
	sys_clear_pages(by_tid.slots, NR_SLOTS * sizeof(*by_tid.slots));
	looking_up = true;
	sys_unlock(&lock);
}

void vm_end_threads(void)
{
	sys_lock(&lock);
	looking_up = false;
	sys_unlock(&lock);
}

void vm_find_first_thread(void)
{
	static int tries = 8;
	uintptr_t me;

	if (!by_tid.slots || tries <= 0 || vm.o.thread_osthread < 0 || vm.o.osthread_tid < 0)
		return;
	tries--;
	me = find_own_thread();
	if (me) {
		vmthread_insert(thread_pointer(), sys_tid(), me, true);
		tries = 0;
	}
}

static uintptr_t pthread_of(uintptr_t thread)
{
	uintptr_t osthread, p;

	if (vm.o.thread_osthread < 0 || vm.o.osthread_pthread < 0 ||
	    !sys_peek_all(&osthread, thread + vm.o.thread_osthread, 8) || !osthread ||
	    !sys_peek_all(&p, osthread + vm.o.osthread_pthread, 8))
		return 0;
	return p;
}

/*
 * A pthread_t is the thread pointer on x86-64; elsewhere it is a structure that ends there, or near: this
 * thread learns the length for all of them.
 */
void vm_learn_this_thread(uintptr_t thread)
{
	enum { MAX_PART = 1 << 16 };
	uintptr_t p = pthread_of(thread), tp = thread_pointer();

	if (p && p <= tp && tp - p < MAX_PART)
		store_relaxed(&own_part, tp - p);
}

void vm_add_this_thread(uintptr_t thread)
{
	static int tries = 8;

	if (!by_tid.slots)
		return;
	vm_learn_this_thread(thread);
	vmthread_insert(thread_pointer(), sys_tid(), thread, true);
	if (!load_relaxed(&own_variable.word) && add_relaxed(&tries, -1) > 0)
		find_own_thread();
}

void vm_remove_this_thread(void)
{
	if (by_tid.slots)
		remove(thread_pointer(), sys_tid());
}

void vm_add_thread(uintptr_t thread)
{
	uintptr_t p;
	int tid;

	if (by_tid.slots && (p = pthread_of(thread)) > REMOVED && (tid = vm_thread_tid(thread)))
		vmthread_insert(p + load_relaxed(&own_part), tid, thread, false);
}

uintptr_t vm_thread_of(int tid)
{
	return vmthread_find(&by_tid, tid_key(tid));
}

int vm_thread_tid(uintptr_t thread)
{
	uintptr_t osthread;
	int tid;

	if (vm.o.thread_osthread < 0 || vm.o.osthread_tid < 0 ||
	    !sys_peek_all(&osthread, thread + vm.o.thread_osthread, 8) || !osthread ||
	    !sys_peek_all(&tid, osthread + vm.o.osthread_tid, 4))
		return 0;
	return tid;
}

/* A thread that ends takes itself off the table, and waits for the lock meanwhile. */
void vm_each_thread(void (*fn)(uintptr_t thread, int tid))
{
	size_t i;

	for (i = 0; by_tid.slots && i < NR_SLOTS; i++) {
		const struct slot *s = &by_tid.slots[i];
		int tid;

		if (load_relaxed(&s->key) <= REMOVED)
			continue;
		sys_lock(&lock);
		tid = s->key > REMOVED && s->thread ? vm_thread_tid(s->thread) : 0;
		if (tid && tid_key(tid) == s->key)
			fn(s->thread, tid);
		sys_unlock(&lock);
	}
}

bool vm_counts_allocated(void)
{
	return vm.o.thread_tlab >= 0 && vm.o.thread_allocated >= 0 && vm.o.tlab_start >= 0 &&
	       vm.o.tlab_top >= 0;
}

/*
 * The VM's count, and what of the thread's current buffer is used. The thread or a pause of the collector may
 * retire the buffer at any time: then the count has changed, and all is read again.
 *
 * Source: share/runtime/thread.inline.hpp, Thread::cooked_allocated_bytes().
 */
bool vm_allocated(uintptr_t thread, uint64_t *bytes)
{
	enum { MOST_TRIES = 100 };
	uintptr_t tlab = thread + vm.o.thread_tlab, start, top;
	uint64_t count, before;
	int tries;

	if (!vm_counts_allocated() || !sys_peek_all(&count, thread + vm.o.thread_allocated, 8))
		return false;
	for (tries = 0; tries < MOST_TRIES; tries++) {
		before = count;
		if (!sys_peek_all(&start, tlab + vm.o.tlab_start, 8) ||
		    !sys_peek_all(&top, tlab + vm.o.tlab_top, 8) ||
		    !sys_peek_all(&count, thread + vm.o.thread_allocated, 8))
			return false;
		if (count == before)
			break;
	}
	*bytes = count + (top > start ? top - start : 0);
	return true;
}

/*
 * A C library puts its own thread structure at the end of the stack it allocates, so the thread pointer
 * bounds the stack of threads that are not Java's. The first thread's structure is elsewhere: there the
 * end stays unknown.
 */
void vm_current_thread(struct vm_thread *t, uintptr_t sp)
{
	uintptr_t tp = thread_pointer();

	t->thread = vmthread_find(&by_tp, tp);
	if (t->thread && !vmthread_is_own(t->thread))
		t->thread = 0;
	t->fields = t->thread;
	t->blocked = NULL;
	/* it runs: its JavaThread is there */
	t->stack_base = t->thread ? vm_word(t->thread, vm.o.thread_stack_base) : 0;
	if (t->stack_base <= sp)
		t->stack_base = tp > sp && tp - sp < (1ul << 30) ? tp & ~7ul : 0;
}
