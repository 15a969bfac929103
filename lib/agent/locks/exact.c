// SPDX-License-Identifier: MIT
/*
 * exact.c - counts acquisitions of locks and how long they are held (exact.h).
 *
 * A lock is named by its identity hash and that of its class; what is known of it lies in a table by both,
 * and is changed by whoever has the lock, at its first moment and at its last: so the lock itself keeps
 * others away, and no counter needs to be atomic. [1] Nobody else has it, so a depth that is not the own
 * thread's is left over from an end that no probe saw; it is dropped.
 *
 * Of an object that is locked, the hash is not at hand before JDK 23: then its address finds the lock, as
 * long as no collector has moved anything since. Only collectors that move in pauses alone are trusted with
 * that, which say that they are at work before they count the pause.
 *
 * wait() gives a monitor back: by then the depth goes to a table by thread, and comes back after it. Where no
 * probe stands behind the wait(), or it ends in an exception, it comes back at the thread's next probe of
 * that lock, and the time between is not counted.
 *
 * What several have for reading counts when it is given back, by a counter that is atomic.
 *
 * Locks of java.util.concurrent tell by AbstractOwnableSynchronizer.setExclusiveOwnerThread(), called by who
 * has just got one, or is about to give it back, and getting it again by setState(). A StampedLock tells by
 * what its state was and has become.
 */
#include "agent/agent.h"
#include "agent/hotspot/vm.h"
#include "agent/leaf.h"
#include "agent/locks/exact.h"
#include "agent/locks/lock.h"
#include "agent/ring.h"
#include "base/mix.h"

enum {
	LOG2_LOCKS = 17, NR_LOCKS = 1 << LOG2_LOCKS, MAX_LOCKS = 1 << 16,
	LOG2_CLASSES = 14, NR_CLASSES = 1 << LOG2_CLASSES, MAX_CLASSES = NR_CLASSES / 2,
	LOG2_PLACES = 14, NR_PLACES = 1 << LOG2_PLACES,
	LOG2_SAVED = 14, NR_SAVED = 1 << LOG2_SAVED,
	NR_TRIES = 64,
	TELL_NS = 1000000000,
};

/* A monitor and a synchronizer may be one object: the second is marked in the hash, which has 31 bits. */
#define SYNC 0x80000000u

struct lock {
	uint64_t key;			/* hash of the class << 32 | its own; 0: free; written last */
	/* while it is held: */
	uint64_t owner;
	uint64_t since;			/* time stamp counter */
	uint32_t depth;
	uint32_t nr_waiting;		/* threads whose depth is in saved[] */
	uint64_t nonrec, held;		/* holds counted; their total length in ticks, once ended */
	struct place {			/* where it was when last locked */
		uintptr_t oop;
		uint64_t gc;		/* number of the collection before, from 1; 0: unknown */
	} at;
	uint64_t rec;
	uint64_t told;			/* sum of all counts at the last report, to see changes */
	/* where CPU time is measured: */
	const JNIEnv *carrier;		/* kernel's thread that locked it; NULL: not measured */
	uint64_t cpu_since;		/* CPU time of that thread by then */
	uint64_t measured, cpu_ns;	/* ended holds with CPU time, and its sum */
	/* calls of notify() and notifyAll(); those of them that woke nobody */
	uint64_t notify, notify_all, idle;
	uint64_t reads;			/* atomic */
} __attribute__((aligned(128)));

struct class {
	uint64_t key;			/* hash << 32 | leaf; 0: free */
	uint32_t mask;			/* bits of the state that are exclusive; 0: it has none */
	bool is_long;
	bool has_readers;		/* of a ReentrantReadWriteLock */
	bool is_stamped;
};

#define NOT_SELECTED 0xffffffffu

struct saved {
	uint64_t thread;		/* 0: free */
	struct lock *lock;
	uint32_t depth;
};

static struct lock *locks;
static struct class *classes;
static struct saved *saved;
static struct lock **by_place;		/* [NR_PLACES]: the latest lock at such an address */
static const uint32_t *gc_count;	/* NULL: addresses are not used */
static const uint8_t *gc_active;
static uint32_t *used, *leaves;		/* of locks: [MAX_LOCKS], used ones in order; [NR_LOCKS] */
static uint32_t nr_used, nr_classes;
static struct sys_lock adding;

static uint32_t on;
static bool wanted;
static jvmtiEnv *ti;
static uintptr_t env_offset;		/* of the JNIEnv in a JavaThread; 0: not known */
static bool with_cpu;			/* CPU time is measured */
/* AbstractQueuedSynchronizer and AbstractQueuedLongSynchronizer */
static jclass sync_class, long_class;
static jfieldID state_field, long_field;
static jclass stamped_class;		/* NULL: there is none */
static jfieldID stamped_field;
static uint64_t start_tsc, start_ns;
static uint64_t overhead, cpu_overhead;	/* ticks and CPU time of each hold that are the probes' own */
static uint64_t told_ns;
static bool told_full;

/* ---- threads and classes ---- */

static inline uint64_t self(JNIEnv *env)
{
	/* since JDK 24 monitors move with a virtual thread to other carriers */
	return vm.o.jthread_owner_id < 0 ? (uintptr_t)env :
	       vm_word((uintptr_t)env - env_offset, vm.o.jthread_owner_id);
}

static inline size_t hash(uint64_t key, int bits)
{
	return mix64(key) >> (64 - bits);
}

static bool matches(const char *pattern, size_t pattern_len, const char *s, size_t len)
{
	size_t p = 0, i = 0, star = SIZE_MAX, from = 0;

	while (i < len) {
		char c = s[i] == '/' ? '.' : s[i];

		if (p < pattern_len && pattern[p] == '*') {
			star = p++;
			from = i;
		} else if (p < pattern_len && (pattern[p] == c || pattern[p] == '?')) {
			p++, i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}

/*
 * Return whether the class or one that it is nested in matches: the lock of a ReentrantLock is a
 * ReentrantLock$NonfairSync.
 */
static bool matches_outer(const char *pattern, size_t pattern_len, const char *s, size_t len)
{
	size_t i;

	for (i = 1; i < len; i++)
		if (s[i] == '$' && matches(pattern, pattern_len, s, i))
			return true;
	return matches(pattern, pattern_len, s, len);
}

static char filter[JVM_LOCK_FILTER];

/* Return whether the filter selects the class; sig is as in Ljava/lang/Object; or [I. */
static bool is_selected(const char *sig)
{
	size_t len = str_len(sig), i = 0, end;

	if (sig[0] == 'L')
		sig++, len -= 2;
	while (filter[i]) {
		for (end = i; filter[end] && filter[end] != ','; end++)
			;
		if (matches_outer(filter + i, end - i, sig, len))
			return true;
		i = end + (filter[end] == ',');
	}
	return false;
}

static bool begins(const char *s, const char *with)
{
	while (*with && *s == *with)
		s++, with++;
	return !*with;
}

static void describe_state(JNIEnv *env, jobject o, const char *sig, struct class *c)
{
	bool both = begins(sig, "Ljava/util/concurrent/locks/ReentrantReadWriteLock$");

	c->has_readers = both;
	c->is_stamped = stamped_class && (*env)->IsInstanceOf(env, o, stamped_class);
	/* the upper half counts readers */
	c->is_long = (*env)->IsInstanceOf(env, o, long_class);
	if (c->is_long)
		c->mask = 0xffffffff;
	else if ((*env)->IsInstanceOf(env, o, sync_class))
		c->mask = both ? 0xffff : 0xffffffff;
}

static const struct class *add_class(JNIEnv *env, jobject o, uint32_t class_hash)
{
	struct class *c = NULL, new = { 0 };
	uint32_t leaf = NOT_SELECTED;
	jclass cls = (*env)->GetObjectClass(env, o);
	char *sig = NULL;
	size_t i;

	if (cls && (*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE && sig &&
	    is_selected(sig)) {
		leaf = leaf_number(JVM_LEAF_CLASS, sig, str_len(sig));
		describe_state(env, o, sig, &new);
	}
	(*ti)->Deallocate(ti, (void *)sig);
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	if (!leaf)
		return NULL;
	sys_lock(&adding);
	for (i = 0; i < NR_TRIES && nr_classes < MAX_CLASSES; i++) {
		c = &classes[(hash(class_hash, LOG2_CLASSES) + i) & (NR_CLASSES - 1)];
		if (c->key >> 32 == class_hash)
			break;
		if (!c->key) {
			c->mask = new.mask;
			c->is_long = new.is_long;
			c->has_readers = new.has_readers;
			c->is_stamped = new.is_stamped;
			store_release(&c->key, (uint64_t)class_hash << 32 | leaf);
			nr_classes++;
			break;
		}
		c = NULL;
	}
	sys_unlock(&adding);
	return c;
}

static inline const struct class *class_of(JNIEnv *env, jobject o, uint32_t class_hash)
{
	size_t h = hash(class_hash, LOG2_CLASSES), i;
	const struct class *c;

	for (i = 0; i < NR_TRIES; i++) {
		uint64_t key;

		c = &classes[(h + i) & (NR_CLASSES - 1)];
		key = load_acquire(&c->key);
		if (likely(key >> 32 == class_hash))
			return c;
		if (!key)
			break;
	}
	/* the session may be ending: nothing is reported then */
	if (!sample_begin())
		return NULL;
	c = add_class(env, o, class_hash);
	sample_end();
	return c;
}

/* Return the object's class if a probe is to count it, else NULL. */
static inline const struct class *selected(JNIEnv *env, jobject o, uint32_t class_hash)
{
	const struct class *c = likely(load_relaxed(&on)) ? class_of(env, o, class_hash) : NULL;

	return c && (uint32_t)c->key != NOT_SELECTED ? c : NULL;
}

static void say(const char *why)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = JVM_SOURCE_LOCK, .why = why, .why_len = str_len(why),
	});
}

static void say_full(void)
{
	if (told_full || !sample_begin())
		return;
	told_full = true;
	say("acquisitions of locks beyond the first 65536 are not counted");
	sample_end();
}

static struct lock *add_lock(uint64_t key, uint32_t leaf)
{
	struct lock *l = NULL;
	bool full;
	size_t i;

	sys_lock(&adding);
	full = nr_used == MAX_LOCKS;
	for (i = 0; i < NR_TRIES && !full; i++) {
		l = &locks[(hash(key, LOG2_LOCKS) + i) & (NR_LOCKS - 1)];
		if (l->key == key)
			break;
		if (!l->key) {
			leaves[l - locks] = leaf;
			store_release(&l->key, key);
			used[nr_used] = l - locks;
			store_release(&nr_used, nr_used + 1);
			break;
		}
		l = NULL;
	}
	sys_unlock(&adding);
	if (!l)
		say_full();
	return l;
}

static inline struct lock *known_lock(uint64_t key)
{
	size_t h = hash(key, LOG2_LOCKS), i;

	for (i = 0; i < NR_TRIES; i++) {
		struct lock *l = &locks[(h + i) & (NR_LOCKS - 1)];
		uint64_t k = load_acquire(&l->key);

		if (likely(k == key))
			return l;
		if (!k)
			break;
	}
	return NULL;
}

static inline uint64_t lock_key(uint32_t object_hash, uint32_t class_hash)
{
	return (uint64_t)class_hash << 32 | object_hash;
}

/* Return the lock of an object of a selected class; NULL: the table is full. */
static inline struct lock *lock_of(const struct class *c, uint32_t object_hash, uint32_t class_hash)
{
	uint64_t key = lock_key(object_hash, class_hash);
	struct lock *l = known_lock(key);

	return likely(l) ? l : add_lock(key, (uint32_t)c->key);
}

/* ---- by address ---- */

/*
 * Return where an object is. The calling thread is in native code, so collections may run: the address is
 * right if none is active before and after, and their number is the same.
 */
static inline struct place place_of(jobject o)
{
	struct place p = { .gc = 0 };
	uint32_t count;

	if (unlikely(!gc_count))
		return p;
	count = load_acquire(gc_count);
	/* a handle is the address of the reference, with flags */
	p.oop = load_acquire((const uintptr_t *)((uintptr_t)o & ~7ul));
	if (likely(!load_acquire(gc_active) && load_acquire(gc_count) == count))
		p.gc = (uint64_t)count + 1;
	return p;
}

static inline struct lock **slot_of(uintptr_t oop)
{
	return &by_place[hash(oop, LOG2_PLACES)];
}

static inline struct lock *lock_at(const struct place *p)
{
	struct lock *l = p->gc ? load_acquire(slot_of(p->oop)) : NULL;

	return l && load_relaxed(&l->at.oop) == p->oop && load_relaxed(&l->at.gc) == p->gc ? l : NULL;
}

/* Set where the lock is; only its owner may. */
static inline void put_at(struct lock *l, const struct place *p)
{
	if (l->at.oop == p->oop && l->at.gc == p->gc && load_relaxed(slot_of(p->oop)) == l)
		return;
	store_relaxed(&l->at.gc, 0);
	store_release(&l->at.oop, p->oop);
	store_release(&l->at.gc, p->gc);
	store_release(slot_of(p->oop), l);
}

static __attribute__((noinline, cold)) uint32_t ask_hash(jobject o)
{
	jint h;

	return (*ti)->GetObjectHashCode(ti, o, &h) == JVMTI_ERROR_NONE ? h : 0;
}

/* ---- CPU time ---- */

/* Return whether a virtual thread runs: when it unmounts, its carrier's clock counts others. */
static bool is_virtual(const JNIEnv *env)
{
	return vm.o.jthread_cont_entry >= 0 &&
	       vm_word((uintptr_t)env - env_offset, vm.o.jthread_cont_entry);
}

static __attribute__((noinline, cold)) void begin_cpu(const JNIEnv *env, struct lock *l)
{
	l->carrier = is_virtual(env) ? NULL : env;
	if (l->carrier)
		l->cpu_since = sys_own_cpu();
}

static __attribute__((noinline, cold)) void end_cpu(const JNIEnv *env, struct lock *l)
{
	uint64_t now = l->carrier == env ? sys_own_cpu() : 0;

	if (!now)
		return;
	store_relaxed(&l->cpu_ns, l->cpu_ns + now - l->cpu_since);
	store_relaxed(&l->measured, l->measured + 1);
}

/* ---- monitors ---- */

static inline void begin_hold(const JNIEnv *env, struct lock *l, uint64_t me, uint32_t depth)
{
	l->owner = me;
	l->depth = depth;
	store_relaxed(&l->nonrec, l->nonrec + 1);
	if (unlikely(with_cpu))
		begin_cpu(env, l);
	l->since = cpu_tsc();
}

static inline void end_hold(const JNIEnv *env, struct lock *l, uint64_t now)
{
	l->depth = 0;
	if (now > l->since)
		store_relaxed(&l->held, l->held + now - l->since);
	if (unlikely(with_cpu))
		end_cpu(env, l);
}

/* Continue the hold of l, or of whatever lock this thread waited for, after its wait(). */
static __attribute__((noinline, cold)) bool resume(const JNIEnv *env, struct lock *l, uint64_t me)
{
	size_t h = hash(me, LOG2_SAVED), i;

	for (i = 0; i < NR_TRIES; i++) {
		struct saved *s = &saved[(h + i) & (NR_SAVED - 1)];

		if (load_relaxed(&s->thread) != me)
			continue;
		if (l && s->lock != l)
			return false;
		l = s->lock;
		l->nr_waiting--;
		begin_hold(env, l, me, s->depth);
		store_release(&s->thread, 0);
		return true;
	}
	return false;
}

static inline bool has_it(const JNIEnv *env, struct lock *l, uint64_t me)
{
	if (l->depth && l->owner == me)
		return true;
	return unlikely(l->nr_waiting) && resume(env, l, me);
}

/* Handle an entry; object_hash 0: not known. */
static void JNICALL on_enter(JNIEnv *env, jclass cls, jobject o, jint object_hash, jint class_hash)
{
	const struct class *c;
	struct place place;
	struct lock *l;
	uint64_t me;

	c = selected(env, o, class_hash);
	if (!c)
		return;
	place = place_of(o);
	l = object_hash ? NULL : lock_at(&place);
	if (!l)
		l = lock_of(c, object_hash ? (uint32_t)object_hash : ask_hash(o), class_hash);
	if (!l)
		return;
	if (place.gc)
		put_at(l, &place);
	me = self(env);
	if (has_it(env, l, me)) {
		l->depth++;
		store_relaxed(&l->rec, l->rec + 1);
	} else {
		begin_hold(env, l, me, 1);
	}
}

/* Return the lock if the calling thread owns it; NULL also if it was entered before there were probes. */
static inline struct lock *held_lock(JNIEnv *env, jobject o, jint object_hash, jint class_hash)
{
	uint64_t me = self(env);
	struct lock *l = NULL;
	struct place place;

	if (!object_hash) {
		place = place_of(o);
		l = lock_at(&place);
	}
	if (!l || !l->depth || l->owner != me)
		l = known_lock(lock_key(object_hash ? (uint32_t)object_hash : ask_hash(o), class_hash));
	return l && has_it(env, l, me) ? l : NULL;
}

static void JNICALL on_exit(JNIEnv *env, jclass cls, jobject o, jint object_hash, jint class_hash)
{
	uint64_t now = cpu_tsc();
	struct lock *l = selected(env, o, class_hash) ? held_lock(env, o, object_hash, class_hash) : NULL;

	if (l && !--l->depth)
		end_hold(env, l, now);
}

static uint32_t notify_waiters(const struct class *c, const struct lock *l, bool all)
{
	struct owner me;
	uint32_t nr;

	if (!l->nr_waiting || !sample_begin())
		return 0;
	me = lock_self();
	nr = pending_notify((uint32_t)c->key, (uint32_t)l->key, all, &me);
	sample_end();
	return nr;
}

static void JNICALL on_notify(JNIEnv *env, jclass cls, jobject o, jint object_hash, jint class_hash, jint all)
{
	const struct class *c = selected(env, o, class_hash);
	struct lock *l = c ? held_lock(env, o, object_hash, class_hash) : NULL;
	uint64_t *calls;
	uint32_t nr;

	if (!l)
		return;
	calls = all ? &l->notify_all : &l->notify;
	store_relaxed(calls, *calls + 1);
	nr = notify_waiters(c, l, all);
	if (!nr)
		store_relaxed(&l->idle, l->idle + 1);
	notify_called((uint32_t)c->key, nr);
}

void exact_wait(JNIEnv *env, jobject object)
{
	jclass cls = load_relaxed(&on) ? (*env)->GetObjectClass(env, object) : NULL;
	uint64_t now = cpu_tsc(), me = self(env), none = 0;
	struct lock *l = NULL;
	jint object_hash, class_hash;
	size_t i;

	if (cls && (*ti)->GetObjectHashCode(ti, object, &object_hash) == JVMTI_ERROR_NONE &&
	    (*ti)->GetObjectHashCode(ti, cls, &class_hash) == JVMTI_ERROR_NONE)
		l = known_lock(lock_key(object_hash, class_hash));
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	if (!l || !has_it(env, l, me))
		return;
	for (i = 0; i < NR_TRIES; i++) {
		struct saved *s = &saved[(hash(me, LOG2_SAVED) + i) & (NR_SAVED - 1)];

		if (load_relaxed(&s->thread) == me ||
		    __atomic_compare_exchange_n(&s->thread, &none, me, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			s->lock = l;
			s->depth = l->depth;
			l->nr_waiting++;
			break;
		}
		none = 0;
	}
	end_hold(env, l, now);
}

static void JNICALL on_waited(JNIEnv *env, jclass cls)
{
	if (load_relaxed(&on))
		resume(env, NULL, self(env));
}

/* ---- locks of java.util.concurrent ---- */

static uint32_t depth_of(JNIEnv *env, jobject sync, const struct class *c)
{
	uint32_t n = 0;

	if (c && c->mask)
		n = c->mask & (uint32_t)(c->is_long ? (*env)->GetLongField(env, sync, long_field) :
						      (*env)->GetIntField(env, sync, state_field));
	return n ? n : 1;
}

static void JNICALL on_owns(JNIEnv *env, jclass cls, jobject sync, jint object_hash, jint class_hash,
			    jthread thread)
{
	uint64_t now = cpu_tsc();
	const struct class *c;
	struct lock *l;

	c = selected(env, sync, class_hash);
	l = c ? lock_of(c, object_hash | SYNC, class_hash) : NULL;
	if (!l)
		return;
	if (!thread) {
		if (l->depth)
			end_hold(env, l, now);
		return;
	}
	begin_hold(env, l, 0, depth_of(env, sync, c));
}

/* Count a reader that releases the lock. Returns false if the lock has no readers. */
static bool counts_reader(JNIEnv *env, jobject sync, uint32_t object_hash, uint32_t class_hash)
{
	const struct class *c = selected(env, sync, class_hash);
	struct lock *l = c && c->has_readers ? lock_of(c, object_hash | SYNC, class_hash) : NULL;

	if (l)
		__atomic_fetch_add(&l->reads, 1, __ATOMIC_RELAXED);
	return l;
}

/* A StampedLock's state has this bit while it is held for writing; the bits below count readers. */
enum { STAMP_WRITER = 1 << 7 };

/*
 * Count a change of the state of a StampedLock. With more than 126 readers the state does not count the
 * others, and neither do we.
 */
static void JNICALL on_stamped(JNIEnv *env, jclass cls, jobject sync, jint object_hash, jint class_hash,
			       jint change)
{
	const struct class *c = selected(env, sync, class_hash);
	struct lock *l = c && c->is_stamped ? lock_of(c, object_hash | SYNC, class_hash) : NULL;

	if (!l)
		return;
	if (change == -1 || change == STAMP_WRITER - 1)
		__atomic_fetch_add(&l->reads, 1, __ATOMIC_RELAXED);
	if (change == STAMP_WRITER || change == STAMP_WRITER - 1)
		begin_hold(env, l, 0, 1);
}

/*
 * Return whether a lock for writing is turned into one for reading, which succeeds if the stamp is the state.
 */
static bool is_downgrade(JNIEnv *env, jobject sync, const struct class *c, jint stamp)
{
	return c && c->is_stamped && stamp & STAMP_WRITER &&
	       (jint)(*env)->GetLongField(env, sync, stamped_field) == stamp;
}

/*
 * Handle a change of state. n: the state; from tryReleaseShared() -1, which cannot be the state of a
 * ReentrantReadWriteLock; or, of a StampedLock, the stamp passed to tryConvertToReadLock().
 */
static void JNICALL on_state(JNIEnv *env, jclass cls, jobject sync, jint object_hash, jint class_hash, jint n)
{
	const struct class *c;
	struct lock *l;
	uint32_t depth;

	if (n == -1 && counts_reader(env, sync, object_hash, class_hash))
		return;
	if (!load_relaxed(&on) || !(l = known_lock(lock_key(object_hash | SYNC, class_hash))) || !l->depth)
		return;
	c = class_of(env, sync, class_hash);
	if (is_downgrade(env, sync, c, n))
		end_hold(env, l, cpu_tsc());
	depth = c ? (uint32_t)n & c->mask : 0;
	if (depth > l->depth)
		store_relaxed(&l->rec, l->rec + depth - l->depth);
	if (depth)
		l->depth = depth;
}

/* ---- reports ---- */

static uint64_t ns_of(uint64_t ticks, uint64_t now_ns)
{
	uint64_t all = cpu_tsc() - start_tsc, ns = now_ns - start_ns;

	return all ? (uint64_t)((double)ticks * (double)ns / (double)all) : 0;
}

static void tell(uint32_t at, uint64_t now_ns)
{
	struct lock *l = &locks[at];
	uint64_t nonrec = load_relaxed(&l->nonrec), rec = load_relaxed(&l->rec);
	uint64_t held = load_relaxed(&l->held), own = nonrec * overhead;
	uint64_t measured = load_relaxed(&l->measured), cpu_ns = load_relaxed(&l->cpu_ns);
	uint64_t notify = load_relaxed(&l->notify), notify_all = load_relaxed(&l->notify_all);
	uint64_t reads = load_relaxed(&l->reads), cpu_own = measured * cpu_overhead;
	uint64_t sum = nonrec + rec + held + notify + notify_all + reads;

	if (!leaves[at] || sum == l->told)
		return;
	l->told = sum;
	send_lock_use(NULL, &(struct jvm_lock_use){
		.time_ns = now_ns, .since_ns = start_ns, .leaf = leaves[at],
		.identity = (uint32_t)l->key & ~SYNC,
		.kind = (uint32_t)l->key & SYNC ? JVM_WAIT_LOCK : JVM_WAIT_ENTER,
		.nonrec = nonrec, .rec = rec, .held_ns = ns_of(held > own ? held - own : 0, now_ns),
		.notify = notify, .notify_all = notify_all, .idle = load_relaxed(&l->idle),
		.reads = reads,
		.measured = measured, .cpu_ns = cpu_ns > cpu_own ? cpu_ns - cpu_own : 0,
	});
}

void exact_tell(bool now)
{
	uint64_t now_ns = sys_now();
	uint32_t i, nr = load_acquire(&nr_used);

	if (!wanted || (!now && now_ns - told_ns < TELL_NS))
		return;
	told_ns = now_ns;
	for (i = 0; i < nr; i++)
		tell(used[i], now_ns);
}

/* ---- on and off ---- */

static jclass exact_find_class(JNIEnv *env, const char *name, const char *type, jfieldID *state)
{
	jclass cls = (*env)->FindClass(env, name);

	*state = cls ? (*env)->GetFieldID(env, cls, "state", type) : NULL;
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	return *state ? (*env)->NewGlobalRef(env, cls) : NULL;
}

static bool exact_find_fields(JNIEnv *env)
{
	jclass thread = (*env)->FindClass(env, "java/lang/Thread");
	jfieldID eetop = thread ? (*env)->GetFieldID(env, thread, "eetop", "J") : NULL;
	uintptr_t java_thread;
	jthread self = NULL;

	if (!sync_class)
		sync_class = exact_find_class(env, "java/util/concurrent/locks/AbstractQueuedSynchronizer", "I",
					      &state_field);
	if (!long_class)
		long_class = exact_find_class(env, "java/util/concurrent/locks/AbstractQueuedLongSynchronizer", "J",
					      &long_field);
	if (!stamped_class)
		stamped_class = exact_find_class(env, "java/util/concurrent/locks/StampedLock", "J",
						 &stamped_field);
	if (!eetop || (*ti)->GetCurrentThread(ti, &self) != JVMTI_ERROR_NONE || !self)
		return false;
	java_thread = (*env)->GetLongField(env, self, eetop);
	if (java_thread && (uintptr_t)env - java_thread < (size_t)vm.size.jthread)
		env_offset = (uintptr_t)env - java_thread;
	return sync_class && long_class && (vm.o.jthread_owner_id < 0 || env_offset);
}

static bool get_memory(void)
{
	if (!locks) {
		locks = sys_pages(NR_LOCKS * sizeof(*locks));
		leaves = sys_pages(NR_LOCKS * sizeof(*leaves));
		used = sys_pages(MAX_LOCKS * sizeof(*used));
		classes = sys_pages(NR_CLASSES * sizeof(*classes));
		saved = sys_pages(NR_SAVED * sizeof(*saved));
		by_place = sys_pages(NR_PLACES * sizeof(*by_place));
	}
	if (!locks || !leaves || !used || !classes || !saved || !by_place)
		return false;
	/* left from another recorder or filter; no probe is active */
	sys_clear_pages(locks, NR_LOCKS * sizeof(*locks));
	sys_clear_pages(leaves, NR_LOCKS * sizeof(*leaves));
	sys_clear_pages(classes, NR_CLASSES * sizeof(*classes));
	sys_clear_pages(saved, NR_SAVED * sizeof(*saved));
	sys_clear_pages(by_place, NR_PLACES * sizeof(*by_place));
	nr_used = nr_classes = 0;
	overhead = cpu_overhead = 0;
	told_full = false;
	return true;
}

/*
 * Measure how long a lock seems to be held that is released at once: the least of several rounds, in the last
 * of which the loop is compiled, as code is where it matters. The lock is the helper itself, of class Class.
 */
static void calibrate_hold(JNIEnv *env, jclass helper)
{
	enum { ROUNDS = 40, TIMES = 1000 };
	jmethodID m = (*env)->GetStaticMethodID(env, helper, "calibrate", "(Ljava/lang/Object;I)V");
	jclass cls = (*env)->GetObjectClass(env, helper);
	jint object_hash, class_hash;
	struct class *c;
	struct lock *l;
	uint64_t held, cpu_ns;
	int i;

	if (!m || !cls || (*ti)->GetObjectHashCode(ti, helper, &object_hash) != JVMTI_ERROR_NONE ||
	    (*ti)->GetObjectHashCode(ti, cls, &class_hash) != JVMTI_ERROR_NONE)
		return;
	/* added under a name that is not reported, and removed afterwards */
	c = &classes[hash((uint32_t)class_hash, LOG2_CLASSES)];
	*c = (struct class){ .key = (uint64_t)(uint32_t)class_hash << 32 | 1 };
	l = add_lock(lock_key(object_hash, class_hash), 0);
	store_release(&on, 1);
	for (i = 0; i < ROUNDS; i++) {
		held = l->held;
		cpu_ns = l->cpu_ns;
		(*env)->CallStaticVoidMethod(env, helper, m, helper, TIMES);
		held = (l->held - held) / TIMES;
		cpu_ns = (l->cpu_ns - cpu_ns) / TIMES;
		if (!overhead || held < overhead)
			overhead = held;
		if (!cpu_overhead || cpu_ns < cpu_overhead)
			cpu_overhead = cpu_ns;
	}
	store_release(&on, 0);
	c->key = 0;
}

/* Trust collectors that move objects in pauses only; others move them while threads run, or are not known. */
static void find_collector(void)
{
	static const char *const in_pauses[] = { "UseSerialGC", "UseParallelGC", "UseG1GC" };
	bool yes = false;
	size_t i;

	gc_count = NULL;
	if (exact_has_hash_in_lock())
		return;
	for (i = 0; i < ARRAY_SIZE(in_pauses) && !yes; i++)
		vm_flag(in_pauses[i], &yes);
	if (!yes || !vm.heap || !*vm.heap || vm.o.gc_count < 0 || vm.o.gc_active < 0)
		return;
	gc_active = (const uint8_t *)(*vm.heap + vm.o.gc_active);
	gc_count = (const uint32_t *)(*vm.heap + vm.o.gc_count);
}

/* Return whether virtual threads can be recognized, or there are none. */
static bool knows_virtual(void)
{
	enum { FIRST_WITH_VIRTUAL = 19 };

	return (vm.major && *vm.major < FIRST_WITH_VIRTUAL) ||
	       (vm.o.jthread_cont_entry >= 0 && env_offset);
}

bool exact_on(JavaVM *jvm, JNIEnv *env)
{
	static const struct exact_natives natives = {
		(void *)on_enter, (void *)on_exit, (void *)on_waited, (void *)on_owns, (void *)on_state,
		(void *)on_notify, (void *)on_stamped,
	};
	jclass helper;

	memcpy(filter, ring_ctl()->lock_filter, sizeof(filter));
	filter[sizeof(filter) - 1] = '\0';
	if (!filter[0])
		return true;
	if ((!ti && (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK) ||
	    !exact_find_fields(env) || !get_memory())
		return false;
	helper = exact_helper(env, &natives);
	if (!helper)
		return false;
	find_collector();
	with_cpu = ring_ctl()->lock_cpu && knows_virtual();
	if (ring_ctl()->lock_cpu && !with_cpu)
		say("CPU time while locks are held: this JVM does not say which threads are virtual");
	calibrate_hold(env, helper);
	start_tsc = cpu_tsc();
	start_ns = told_ns = sys_now();
	store_release(&on, 1);
	wanted = exact_classes_on(jvm, env);
	if (!wanted)
		store_release(&on, 0);
	return wanted;
}

void exact_off(JNIEnv *env)
{
	if (!wanted)
		return;
	if (sample_begin()) {
		exact_tell(true);
		sample_end();
	}
	wanted = false;
	store_seq_cst(&on, 0);
	exact_classes_off(env);
}
