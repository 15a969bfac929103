// SPDX-License-Identifier: MIT
/*
 * pending.c - open waits (lock.h).
 *
 * A slot is claimed by a compare-and-swap of its id. until_ns is the end of the part of the wait that
 * has been charged to an owner; at first, the wait's beginning. It is stored last, cleared first, and differs
 * from wait to wait: a slot in which it is unchanged still has the same wait.
 *
 * The waiting thread owns the reference to the lock, and deletes it; while blame.c makes its own reference
 * from it, deleting is left to blame.c.
 */
#include "agent/locks/lock.h"
#include "agent/sys.h"
#include "base/mix.h"

enum { NR_SLOTS = 1 << 16, NR_PROBES = 64, GIVEN = 1 };

struct slot {
	uint64_t id;			/* of the waiting thread; 0: free */
	uint64_t until_ns;		/* 0: not begun, or ended */
	jobject lock;			/* deleted by whoever takes it from here */
	uint64_t notified_ns;		/* until_ns of the notified wait; written last */
	uint32_t notifier;
	uint64_t notifier_vthread;
	struct lock_wait w;
};

static struct slot *slots;
static uint64_t open_slots[NR_SLOTS / 64];	/* waits that can have an owner */
static uint64_t wait_slots[NR_SLOTS / 64];	/* waits in Object.wait() */
static uintptr_t held;			/* the reference that blame.c uses; GIVEN: and must delete */

static struct slot *pending_slot_at(uint64_t id, size_t i)
{
	return &slots[(mix64(id) + i) & (NR_SLOTS - 1)];
}

static bool claim(struct slot *p, uint64_t id)
{
	uint64_t none = 0;

	return __atomic_compare_exchange_n(&p->id, &none, id, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static jobject take_lock(struct slot *p)
{
	return load_relaxed(&p->lock) ? __atomic_exchange_n(&p->lock, NULL, __ATOMIC_SEQ_CST) : NULL;
}

bool pending_init(JNIEnv *env)
{
	size_t i;

	if (!slots) {
		slots = sys_pages(NR_SLOTS * sizeof(*slots));
		return slots;
	}
	for (i = 0; env && i < NR_SLOTS; i++) {
		jobject lock = take_lock(&slots[i]);

		if (lock)
			(*env)->DeleteGlobalRef(env, lock);
	}
	sys_clear_pages(slots, NR_SLOTS * sizeof(*slots));
	memset(open_slots, 0, sizeof(open_slots));
	memset(wait_slots, 0, sizeof(wait_slots));
	return true;
}

/* Set the bit of a wait that can have an owner, or be notified. */
static void set_open(const struct slot *p, bool open)
{
	bool can_own = p->w.kind == JVM_WAIT_ENTER || p->w.kind == JVM_WAIT_LOCK;
	uint64_t *list = can_own ? open_slots : wait_slots;
	size_t i = p - slots;
	uint64_t bit = 1ull << i % 64;

	if (!can_own && p->w.kind != JVM_WAIT_WAIT)
		return;
	if (open)
		__atomic_fetch_or(&list[i / 64], bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&list[i / 64], ~bit, __ATOMIC_RELAXED);
}

/* Return the slot of that id; only the thread itself uses it. */
static struct slot *find_slot(uint64_t id)
{
	size_t i;

	for (i = 0; id && i < NR_PROBES; i++)
		if (load_relaxed(&pending_slot_at(id, i)->id) == id)
			return pending_slot_at(id, i);
	return NULL;
}

static struct slot *find_free(uint64_t id)
{
	size_t i;

	for (i = 0; id && i < NR_PROBES; i++) {
		struct slot *p = pending_slot_at(id, i);

		if (!load_relaxed(&p->id) && claim(p, id))
			return p;
	}
	return NULL;
}

/* Delete the reference, or leave that to the thread that uses it now. */
static void give_back(JNIEnv *env, jobject lock)
{
	uintptr_t its = (uintptr_t)lock;

	if (lock && !__atomic_compare_exchange_n(&held, &its, GIVEN, false, __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST))
		(*env)->DeleteGlobalRef(env, lock);
}

static uint64_t stop(JNIEnv *env, struct slot *p)
{
	uint64_t until = __atomic_exchange_n(&p->until_ns, 0, __ATOMIC_SEQ_CST);

	set_open(p, false);
	give_back(env, take_lock(p));
	return until;
}

bool pending_begin(JNIEnv *env, uint64_t id, const struct lock_wait *w)
{
	struct slot *p = find_slot(id);

	if (p)			/* of a wait that never ended */
		stop(env, p);
	else
		p = find_free(id);
	if (!p) {
		if (w->lock)
			(*env)->DeleteGlobalRef(env, w->lock);
		return false;
	}
	p->w = *w;
	store_relaxed(&p->lock, w->lock);
	__atomic_store_n(&p->until_ns, w->since_ns, __ATOMIC_RELEASE);
	set_open(p, true);
	return true;
}

bool pending_end(JNIEnv *env, uint64_t id, struct lock_wait *w)
{
	struct slot *p = find_slot(id);
	uint64_t until;

	if (!p)
		return false;
	until = stop(env, p);
	*w = p->w;
	w->lock = NULL;
	w->blamed_ns = until - w->since_ns;
	if (until && load_acquire(&p->notified_ns) == until) {
		w->notifier = load_relaxed(&p->notifier);
		w->notifier_vthread = load_relaxed(&p->notifier_vthread);
	}
	store_release(&p->id, 0);
	return until;
}

static void notify(struct slot *p, uint64_t since_ns, const struct owner *by)
{
	store_relaxed(&p->notifier, by->tid);
	store_relaxed(&p->notifier_vthread, by->vthread);
	store_release(&p->notified_ns, since_ns);
}

/* Return when the wait in p began, if it is to be notified by this call and was not yet; else 0. */
static uint64_t waits_for(const struct slot *p, uint32_t leaf, uint32_t identity)
{
	uint64_t since_ns = load_acquire(&p->until_ns);

	return load_relaxed(&p->w.leaf) == leaf && load_relaxed(&p->w.identity) == identity &&
	       load_relaxed(&p->notified_ns) != since_ns ? since_ns : 0;
}

uint32_t pending_notify(uint32_t leaf, uint32_t identity, bool all, const struct owner *by)
{
	uint64_t first_ns = 0, since_ns, rest;
	struct slot *p, *first = NULL;
	uint32_t nr = 0;
	size_t i;

	for (i = 0; i < NR_SLOTS / 64; i++)
		for (rest = load_relaxed(&wait_slots[i]); rest; rest &= rest - 1) {
			p = &slots[64 * i + __builtin_ctzll(rest)];
			since_ns = waits_for(p, leaf, identity);
			if (since_ns && all) {
				notify(p, since_ns, by);
				nr++;
			} else if (since_ns && (!first || since_ns < first_ns)) {
				first = p;
				first_ns = since_ns;
			}
		}
	if (!first)
		return nr;
	notify(first, first_ns, by);
	return 1;
}

bool pending_peek(uint64_t id, struct lock_wait *w)
{
	const struct slot *p = find_slot(id);

	if (p)
		*w = p->w;
	return p;
}

/* ---- for the scanning thread ---- */

static bool see(uint32_t i, struct pending_seen *p)
{
	const struct slot *s = &slots[i];

	p->slot = i;
	p->since_ns = load_acquire(&s->until_ns);
	if (!p->since_ns)
		return false;
	memcpy(&p->w, &s->w, sizeof(p->w));
	p->id = load_relaxed(&s->id);
	p->w.lock = load_relaxed(&s->lock);
	return pending_holds(p);
}

bool pending_next(uint32_t *from, struct pending_seen *p)
{
	uint32_t i = *from;

	while (i < NR_SLOTS) {
		uint64_t rest = load_relaxed(&open_slots[i / 64]) >> i % 64;

		if (!rest) {
			i = (i | 63) + 1;
			continue;
		}
		i += __builtin_ctzll(rest);
		*from = i + 1;
		if (see(i++, p))
			return true;
	}
	*from = NR_SLOTS;
	return false;
}

bool pending_holds(const struct pending_seen *p)
{
	fence_acquire();
	return load_relaxed(&slots[p->slot].until_ns) == p->since_ns;
}

bool pending_charge(struct pending_seen *p, uint64_t now_ns)
{
	uint64_t was = p->since_ns;

	if (!__atomic_compare_exchange_n(&slots[p->slot].until_ns, &was, now_ns, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	p->since_ns = now_ns;
	return true;
}

jobject pending_lock(JNIEnv *env, const struct pending_seen *p)
{
	jobject lock = NULL;

	if (!p->w.lock)
		return NULL;
	/* set held before checking the wait; pending_end() does it in the other order */
	store_seq_cst(&held, (uintptr_t)p->w.lock);
	if (load_seq_cst(&slots[p->slot].until_ns) == p->since_ns)
		lock = (*env)->NewLocalRef(env, p->w.lock);
	if (__atomic_exchange_n(&held, 0, __ATOMIC_SEQ_CST) == GIVEN)
		(*env)->DeleteGlobalRef(env, p->w.lock);
	return lock;
}

static bool close_slot(struct slot *s, uint64_t now_ns, struct pending_closed *p)
{
	uint64_t until = load_acquire(&s->until_ns);

	if (!until)
		return false;
	memcpy(&p->w, &s->w, sizeof(p->w));
	p->id = load_relaxed(&s->id);
	p->w.blamed_ns = until - p->w.since_ns;
	p->w.lock = NULL;
	return p->w.since_ns < now_ns &&
	       __atomic_compare_exchange_n(&s->until_ns, &until, 0, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

bool pending_close(uint32_t *from, uint64_t now_ns, struct pending_closed *p)
{
	while (*from < NR_SLOTS)
		if (close_slot(&slots[(*from)++], now_ns, p))
			return true;
	return false;
}
