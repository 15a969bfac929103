// SPDX-License-Identifier: MIT
/*
 * owners.c - finds the thread that owns a monitor (lock.h).
 *
 * The owner field of an ObjectMonitor has the JavaThread or, if the thread took the lock before it became a
 * monitor, an address on the thread's stack. Since JDK 24 it has the thread's id, or 1 until the owner knows
 * of the monitor: then the object is in the list of locks of the owner's JavaThread. JDK 22 and 23 may have
 * that 1, too, but do not say whether the JavaThread with the list carries a virtual thread: the owner is
 * unknown there. What is needed of a thread is stored when it starts, and lists are copied with care, since
 * any thread may end.
 *
 * Entries are written under a lock and read without: the key is stored last and removed first.
 */
#include "agent/hotspot/vm.h"
#include "agent/locks/lock.h"
#include "agent/sys.h"
#include "base/mix.h"

enum {
	NR_ENTRIES = 1 << 15, NR_PROBES = 64, REMOVED = 1, ANONYMOUS = 1, DEFLATER = 2,
	LISTED = 8,			/* HotSpot's LockStack::CAPACITY */
	LIST_BYTES = 128,		/* of such a LockStack, with what precedes it, at most */
	AT_ONCE = SYS_SPANS / 2,	/* lists copied by one call */
	MAX_LISTS = 256,		/* with more threads the owner is unknown */
};

struct entry {
	uintptr_t key;			/* 0: never used; ends a search */
	uintptr_t thread, stack_lo, stack_hi;
	uint64_t id;
	uint32_t tid;
	jweak self;
};

static struct entry *entries;
static uint32_t nr_used;		/* entries that have ever had a key */
static uint32_t used[NR_ENTRIES];	/* their indexes */
static struct sys_lock lock;
static bool has_virtual;		/* the VM has virtual threads, and events of them */
static uint32_t latest;			/* index of the owner found last, which is often the next one */

static bool by_id(void)
{
	return vm.o.jthread_owner_id >= 0;
}

/* Ids are small, and none is REMOVED: the first thread has 1, but never waits for itself. */
static uintptr_t owner_key(uintptr_t thread, uint64_t id)
{
	return by_id() ? id << 4 : thread;
}

static struct entry *entry_at(uintptr_t key, size_t i)
{
	return &entries[(mix64(key) + i) & (NR_ENTRIES - 1)];
}

void owners_tell_virtual(bool yes)
{
	has_virtual = yes;
}

bool owners_init(void)
{
	if (!entries)
		entries = sys_pages(NR_ENTRIES * sizeof(*entries));
	return entries;
}

/*
 * References are deleted without the lock, so that its holders never wait for a GC. No thread is added or
 * removed meanwhile.
 */
void owners_forget(JNIEnv *env)
{
	uint32_t i;

	for (i = 0; env && i < nr_used; i++)
		if (entries[used[i]].self)
			(*env)->DeleteWeakGlobalRef(env, entries[used[i]].self);
	sys_lock(&lock);
	sys_clear_pages(entries, NR_ENTRIES * sizeof(*entries));
	store_relaxed(&nr_used, 0);
	sys_unlock(&lock);
}

static struct entry *find_entry(uintptr_t key)
{
	size_t i;

	for (i = 0; key > REMOVED && i < NR_PROBES; i++) {
		struct entry *e = entry_at(key, i);
		uintptr_t its = load_acquire(&e->key);

		if (its == key)
			return e;
		if (!its)
			break;
	}
	return NULL;
}

/* Return an entry for a key that is not in the table; NULL: too many threads. */
static struct entry *free_entry(uintptr_t key)
{
	size_t i;

	for (i = 0; i < NR_PROBES; i++)
		if (entry_at(key, i)->key <= REMOVED)
			return entry_at(key, i);
	return NULL;
}

jweak owners_add(uintptr_t thread, uint64_t id, uint32_t tid, jweak self)
{
	uintptr_t key = owner_key(thread, id);
	struct entry *e;

	sys_lock(&lock);
	e = key && !find_entry(key) ? free_entry(key) : NULL;
	if (e) {
		if (!e->key) {
			used[nr_used] = e - entries;
			store_release(&nr_used, nr_used + 1);
		}
		e->tid = tid;
		e->id = id;
		e->thread = thread;
		/* the thread runs, or VMInit and ThreadStart would not report it */
		e->stack_hi = vm_word(thread, vm.o.thread_stack_base);
		e->stack_lo = vm.o.thread_stack_size < 0 ? e->stack_hi :
			      e->stack_hi - vm_word(thread, vm.o.thread_stack_size);
		e->self = self;
		self = NULL;
		store_release(&e->key, key);
	}
	sys_unlock(&lock);
	return self;
}

jweak owners_remove(uintptr_t thread, uint64_t id)
{
	struct entry *e;
	jweak self = NULL;

	sys_lock(&lock);
	e = find_entry(owner_key(thread, id));
	if (e) {
		self = e->self;
		e->self = NULL;
		store_release(&e->key, REMOVED);
	}
	sys_unlock(&lock);
	return self;
}

static struct owner owner_on_stack(uintptr_t addr)
{
	uint32_t nr = load_acquire(&nr_used), i;

	for (i = 0; i < nr; i++) {
		const struct entry *e = &entries[used[i]];
		uintptr_t key = load_acquire(&e->key);

		if (key > REMOVED && addr >= e->stack_lo && addr < e->stack_hi)
			return (struct owner){ .tid = e->tid };
	}
	return (struct owner){ 0 };
}

struct owner owners_of_thread(uintptr_t thread, uint64_t id)
{
	const struct entry *e = find_entry(owner_key(thread, id));

	if (e)
		return (struct owner){ .tid = e->tid };
	return (struct owner){ .vthread = thread || !(by_id() || has_virtual) ? 0 : id };
}

struct owner owners_of_id(uint64_t id)
{
	uint32_t nr = load_acquire(&nr_used), i;

	if (by_id())
		return owners_of_thread(0, id);
	for (i = 0; i < nr; i++) {
		const struct entry *e = &entries[used[i]];

		if (load_acquire(&e->key) > REMOVED && e->id == id)
			return (struct owner){ .tid = e->tid };
	}
	return (struct owner){ .vthread = has_virtual ? id : 0 };
}

struct owner owners_of_waiter(uint64_t id)
{
	return by_id() || has_virtual ? owners_of_id(id) : owners_of_thread(id, 0);
}

static size_t list_bytes(void)
{
	return vm.o.lock_stack_base + LISTED * sizeof(uintptr_t);
}

static bool can_list(void)
{
	return vm.o.jthread_lock_stack >= 0 && vm.o.lock_stack_top >= 0 &&
	       vm.o.lock_stack_top < vm.o.lock_stack_base && list_bytes() <= LIST_BYTES;
}

/* Return whether list, a copy of a LockStack, has the object. */
static bool lists(const uint8_t *list, uintptr_t object)
{
	const uint32_t first = vm.o.jthread_lock_stack + vm.o.lock_stack_base;
	uintptr_t its;
	uint32_t top, i;

	memcpy(&top, list + vm.o.lock_stack_top, sizeof(top));
	if (top <= first || top > first + LISTED * sizeof(its))
		return false;
	for (i = 0; i < (top - first) / sizeof(its); i++) {
		memcpy(&its, list + vm.o.lock_stack_base + i * sizeof(its), sizeof(its));
		if (its == object)
			return true;
	}
	return false;
}

/*
 * Return the id of the thread among nr entries that has the object in its list, 0: none. nr is at most
 * AT_ONCE. A carrier's id is that of its virtual thread.
 */
static uint64_t owner_among(const uint32_t *places, uint32_t nr, uintptr_t object)
{
	uint8_t copies[AT_ONCE * (LIST_BYTES + sizeof(uint64_t))], *copy;
	const size_t size = list_bytes() + sizeof(uint64_t);
	struct sys_span from[2 * AT_ONCE] = { { 0, 0 } }, *span;
	uint32_t whose[AT_ONCE], nr_listed = 0, nr_read, i;
	uint64_t id;

	for (i = 0; i < nr; i++) {
		const struct entry *e = &entries[places[i]];

		if (load_acquire(&e->key) <= REMOVED)
			continue;
		whose[nr_listed] = places[i];
		span = &from[2 * nr_listed++];
		span[0] = (struct sys_span){ e->thread + vm.o.jthread_lock_stack, list_bytes() };
		span[1] = (struct sys_span){ e->thread + vm.o.jthread_owner_id, sizeof(id) };
	}
	/* a list that cannot be read is of a thread that has ended */
	for (i = 0; i < nr_listed; i++) {
		nr_read = sys_peek_spans(copies, &from[2 * i], 2 * (nr_listed - i)) / size;
		for (copy = copies; nr_read--; i++, copy += size)
			if (lists(copy, object)) {
				store_relaxed(&latest, whose[i]);
				memcpy(&id, copy + list_bytes(), sizeof(id));
				return id;
			}
	}
	return 0;
}

static struct owner owner_by_list(uintptr_t object)
{
	const uint32_t nr = load_acquire(&nr_used), first = load_relaxed(&latest);
	uint64_t id;
	uint32_t i;

	if (!can_list() || nr > MAX_LISTS)
		return (struct owner){ 0 };
	id = owner_among(&first, 1, object);
	for (i = 0; i < nr && !id; i += AT_ONCE)
		id = owner_among(used + i, nr - i < AT_ONCE ? nr - i : AT_ONCE, object);
	return id ? owners_of_thread(0, id) : (struct owner){ 0 };
}

bool owners_is_anonymous(uintptr_t word)
{
	return by_id() && word == ANONYMOUS;
}

struct owner owners_of_monitor(uintptr_t word, uintptr_t object)
{
	struct owner o = { 0 };

	if (owners_is_anonymous(word))
		return owner_by_list(object);
	if (!word || (by_id() && word == DEFLATER))
		return o;
	if (by_id())
		return owners_of_thread(0, word);
	o = owners_of_thread(word, 0);
	return o.tid ? o : owner_on_stack(word);
}

/* Return the entry of the carrier of a virtual thread; NULL: it is not mounted. */
static const struct entry *carrier_of(uint64_t vthread)
{
	uint32_t nr = load_acquire(&nr_used), i;
	uint64_t id;

	for (i = 0; by_id() && nr <= MAX_LISTS && i < nr; i++) {
		const struct entry *e = &entries[used[i]];

		if (load_acquire(&e->key) > REMOVED &&
		    sys_peek_all(&id, e->thread + vm.o.jthread_owner_id, 8) && id == vthread)
			return e;
	}
	return NULL;
}

static const struct entry *entry_of_tid(uint32_t tid)
{
	uint32_t nr = load_acquire(&nr_used), i;

	for (i = 0; i < nr; i++)
		if (entries[used[i]].tid == tid && load_acquire(&entries[used[i]].key) > REMOVED)
			return &entries[used[i]];
	return NULL;
}

/*
 * The lock keeps the reference alive. Threads that wait for the lock are in native code, so no GC waits for
 * them.
 */
jthread owners_thread(JNIEnv *env, const struct owner *o, bool *carrier)
{
	const struct entry *e;
	jthread t = NULL;

	*carrier = !o->tid;
	sys_lock(&lock);
	e = o->tid ? entry_of_tid(o->tid) : carrier_of(o->vthread);
	if (e && e->self)
		t = (*env)->NewLocalRef(env, e->self);
	sys_unlock(&lock);
	return t;
}
