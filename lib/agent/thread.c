// SPDX-License-Identifier: MIT
/*
 * thread.c - which JavaThread a kernel thread is, in a signal handler (vm.h).
 *
 * HotSpot's own variable for it is thread-local, and a handler must not touch those: the C
 * library allocates them on first use, with malloc. So the agent keeps a table from thread
 * pointers, which cost one instruction to read, to JavaThreads. It is written by thread
 * events, under a lock, and read without one: a key is stored last and removed first.
 *
 * The first thread runs Java long before there are events, but it generates stubs before:
 * then its JavaThread is looked for where the C library keeps libjvm's variables (dtv).
 */
#include "agent/vm.h"

enum { NR_SLOTS = 1 << 15, NR_PROBES = 64, REMOVED = 1, NR_MODULES = 128, TLS_BYTES = 512 };

struct slot {
	uintptr_t tp;		/* 0: never used, ends a search */
	uintptr_t thread;
};

static struct slot *slots;
static struct sys_lock lock;
/*
 * Threads that run already are being looked up: one that ends meanwhile leaves its key with no
 * thread, so that who looked it up a moment before does not put it back.
 */
static bool looking_up;

static size_t hash(uintptr_t tp)
{
	return (tp >> 6) * 0x9e3779b97f4a7c15ull >> 40;
}

static uintptr_t find(uintptr_t tp)
{
	size_t h = hash(tp), i;

	for (i = 0; slots && i < NR_PROBES; i++) {
		const struct slot *s = &slots[(h + i) & (NR_SLOTS - 1)];
		uintptr_t key = load_acquire(&s->tp);

		if (key == tp)
			return load_relaxed(&s->thread);
		if (!key)
			break;
	}
	return 0;
}

static void insert_locked(uintptr_t tp, uintptr_t thread, bool replace)
{
	struct slot *s, *spare = NULL;
	size_t h = hash(tp), i;

	for (i = 0; i < NR_PROBES; i++) {
		s = &slots[(h + i) & (NR_SLOTS - 1)];
		if (s->tp == tp) {
			spare = replace ? s : NULL;
			break;
		}
		if (!spare && s->tp <= REMOVED)
			spare = s;
		if (!s->tp)
			break;
	}
	if (spare) {
		store_relaxed(&spare->thread, thread);
		store_release(&spare->tp, tp);
	}
}

static void insert(uintptr_t tp, uintptr_t thread, bool replace)
{
	sys_lock(&lock);
	insert_locked(tp, thread, replace);
	sys_unlock(&lock);
}

static void remove_locked(uintptr_t tp)
{
	size_t h = hash(tp), i;

	for (i = 0; i < NR_PROBES; i++) {
		struct slot *s = &slots[(h + i) & (NR_SLOTS - 1)];
		const struct slot *next = &slots[(h + i + 1) & (NR_SLOTS - 1)];

		if (s->tp == tp)
			store_release(&s->tp, next->tp ? REMOVED : 0);
		if (s->tp == tp || !s->tp)
			break;
	}
}

static void remove(uintptr_t tp)
{
	sys_lock(&lock);
	if (looking_up)
		insert_locked(tp, 0, true);
	else
		remove_locked(tp);
	sys_unlock(&lock);
}

static inline uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/* An object of libjvm's whose OSThread has our tid and whose stack we are on. */
static bool is_me(uintptr_t v)
{
	uintptr_t vtable, base;

	if ((v & 7) || v < 4096 || !sys_peek_all(&vtable, v, 8) || vtable - vm.libjvm >= 256ul << 20)
		return false;
	if (!sys_peek_all(&base, v + vm.o.thread_stack_base, 8) || base - (uintptr_t)&base >= 1ul << 30)
		return false;
	return vm_thread_tid(v) == sys_tid();
}

/*
 * Both glibc and musl have the vector of thread-local blocks at thread pointer + 8, one or
 * two words a module; libjvm's block is one of them.
 */
static uintptr_t find_own_thread(void)
{
	uintptr_t dtv, block, v;
	int i, k;

	if (!sys_peek_all(&dtv, thread_pointer() + 8, 8))
		return 0;
	for (i = 1; i < NR_MODULES; i++) {
		if (!sys_peek_all(&block, dtv + i * 8ul, 8))
			return 0;
		if ((block & 7) || block < 4096)
			continue;
		for (k = 0; k < TLS_BYTES && sys_peek_all(&v, block + k, 8); k += 8)
			if (is_me(v))
				return v;
	}
	return 0;
}

bool vm_init_threads(void)
{
	slots = sys_pages(NR_SLOTS * sizeof(*slots));
	return slots;
}

void vm_begin_threads(void)
{
	sys_lock(&lock);
	sys_clear_pages(slots, NR_SLOTS * sizeof(*slots));
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

	if (!slots || tries <= 0 || vm.o.thread_osthread < 0 || vm.o.osthread_tid < 0)
		return;
	tries--;
	me = find_own_thread();
	if (me) {
		insert(thread_pointer(), me, true);
		tries = 0;
	}
}

void vm_add_this_thread(uintptr_t thread)
{
	if (slots)
		insert(thread_pointer(), thread, true);
}

void vm_remove_this_thread(void)
{
	if (slots)
		remove(thread_pointer());
}

/* pthread_t is the thread pointer in both C libraries. */
void vm_add_thread(uintptr_t thread)
{
	uintptr_t osthread, tp;

	if (slots && vm.o.thread_osthread >= 0 && vm.o.osthread_pthread >= 0 &&
	    sys_peek_all(&osthread, thread + vm.o.thread_osthread, 8) && osthread &&
	    sys_peek_all(&tp, osthread + vm.o.osthread_pthread, 8) && tp > REMOVED)
		insert(tp, thread, false);
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

/*
 * A C library puts its own thread structure at the end of the stack it allocates, so the
 * thread pointer bounds the stack of threads that are not Java's (not the first thread's,
 * whose structure is elsewhere: there the end stays unknown).
 */
void vm_current_thread(struct vm_thread *t, uintptr_t sp)
{
	uintptr_t tp = thread_pointer();

	t->thread = find(tp);
	/* it has not ended, or it would not be in the table: its JavaThread is there */
	t->stack_base = t->thread ? vm_word(t->thread, vm.o.thread_stack_base) : 0;
	if (t->stack_base <= sp)
		t->stack_base = tp > sp && tp - sp < (1ul << 30) ? tp & ~7ul : 0;
}
