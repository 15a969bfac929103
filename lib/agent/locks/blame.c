// SPDX-License-Identifier: MIT
/*
 * blame.c - charges owners of locks with what others wait for them (lock.h).
 *
 * A thread of ours scans the table of waits at random moments. The owner of a lock that others wait for at
 * that moment is charged with their waiting since the previous scan, or since the wait began. So a context
 * that holds locks is hit in proportion to how long others wait for it. The recorder gets the part of a wait
 * after its last scan with the end of the wait.
 *
 * JVMTI walks the owner's stack: HotSpot stops that thread alone at its next safepoint, or reads the stack
 * while the thread waits. If it has released the lock by then, its stack is not what made others wait, and is
 * not reported.
 *
 * Scans take at most half a percent of the time, since they cost the owners about as much again, or up to a
 * twentieth where the pauses would exceed the longest one: stopping a thread that has no CPU can take long.
 * While nobody waits, the pauses are longer too. Waits shorter than a pause are still hit in proportion to
 * their length.
 */
#include "agent/agent.h"
#include "agent/hotspot/vm.h"
#include "agent/locks/exact.h"
#include "agent/locks/lock.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sources/stack.h"
#include "agent/sys.h"
#include "base/chance.h"

enum {
	MAX_LOCKS = 64, MAX_WAITS = 1024, MAX_FRAMES = STACK_MAX_FRAMES,
	SHARE = 200, MOST_SHARE = 20, LONGEST = 16, IDLE = 16, NR_IDLE = 8,
	MAX_WAIT_MS = 10000, SHORTEST_NS = 1000000,
};

/* A lock that others wait for. */
struct wanted {
	uint32_t kind, leaf, identity;
	struct pending_seen *first;	/* of those that wait for it */
	uintptr_t word;			/* its owner, as the monitor has it, */
	jobject lock;			/* or as the lock itself has it: local references */
	jthread thread;
	struct owner owner;
	enum jvm_blamed what;
	uint64_t ns;
	uint32_t nr_charged;		/* waits counted in ns */
};

static struct {
	jvmtiEnv *ti;
	jvmtiExtensionFunction get_virtual;	/* of a carrier; NULL: not in this VM */
	uint64_t interval_ns;
	uint64_t now_ns;		/* of this scan */
	uint64_t random;
	struct pending_seen waits[MAX_WAITS];
	struct wanted *of[MAX_WAITS];	/* the lock of each wait */
	struct wanted locks[MAX_LOCKS];
	size_t nr_waits, nr_locks;
	jvmtiFrameInfo frames[MAX_FRAMES];
	uint8_t text[JVM_MAX_LINES];
} at;

static uint32_t on, running;

/* ---- who waits for what ---- */

static struct wanted *lock_of(struct pending_seen *p)
{
	struct wanted *x;
	size_t i;

	for (i = 0; i < at.nr_locks; i++) {
		x = &at.locks[i];
		if (x->leaf == p->w.leaf && x->identity == p->w.identity && x->kind == p->w.kind)
			return x;
	}
	if (i == MAX_LOCKS)
		return NULL;
	at.locks[at.nr_locks++] = (struct wanted){
		.kind = p->w.kind, .leaf = p->w.leaf, .identity = p->w.identity, .first = p,
	};
	return &at.locks[i];
}

/*
 * Find the open waits and their locks. Waits beyond MAX_WAITS or MAX_LOCKS keep their time for a later scan.
 * So do waits for locks without an owner at their beginning: a latch never has one.
 */
static void find_waits(void)
{
	uint32_t from = 0;

	at.nr_waits = at.nr_locks = 0;
	while (at.nr_waits < MAX_WAITS && pending_next(&from, &at.waits[at.nr_waits])) {
		struct pending_seen *p = &at.waits[at.nr_waits];

		if (p->since_ns >= at.now_ns || (p->w.kind == JVM_WAIT_LOCK && !p->w.owned))
			continue;
		at.of[at.nr_waits] = lock_of(p);
		at.nr_waits += !!at.of[at.nr_waits];
	}
}

/* ---- owners ---- */

static uintptr_t owner_word(const struct pending_seen *p)
{
	uintptr_t word = 0;

	return p->w.monitor && sys_peek_all(&word, p->w.monitor + vm.o.monitor_owner, 8) ? word : 0;
}

/*
 * The object's address is unknown now; but an owner that does not know of the monitor yet owned it when the
 * wait began, too.
 */
static void find_monitor_owner(struct wanted *x)
{
	x->word = owner_word(x->first);
	if (owners_is_anonymous(x->word))
		x->owner = (struct owner){ x->first->w.owner, x->first->w.owner_vthread };
	else
		x->owner = owners_of_monitor(x->word, 0);
	x->what = !x->first->w.monitor ? JVM_BLAMED_UNKNOWN : !x->word ? JVM_BLAMED_NOBODY :
		  x->owner.tid || x->owner.vthread ? JVM_BLAMED_OWNER : JVM_BLAMED_UNKNOWN;
}

/* Return a reference to the object: the field of a platform thread holds it while the thread waits. */
static jobject lock_waited_for(JNIEnv *env, const struct pending_seen *p)
{
	struct owner who = owners_of_waiter(p->id);
	jobject lock = NULL;
	bool is_carrier;
	jthread t;

	if (p->w.lock)
		return pending_lock(env, p);
	t = who.tid ? owners_thread(env, &who, &is_carrier) : NULL;
	if (t) {
		lock = park_blocker(env, t);
		(*env)->DeleteLocalRef(env, t);
	}
	return lock;
}

static void find_lock_owner(JNIEnv *env, struct wanted *x)
{
	x->lock = lock_waited_for(env, x->first);
	if (x->lock)
		x->thread = park_owner(env, x->lock, &x->owner);
	x->what = !x->lock ? JVM_BLAMED_UNKNOWN : x->thread ? JVM_BLAMED_OWNER : JVM_BLAMED_NOBODY;
}

/* Find the owner; return false if the wait that identifies the lock has ended. */
static bool find_owner(JNIEnv *env, struct wanted *x)
{
	if (x->kind == JVM_WAIT_ENTER)
		find_monitor_owner(x);
	else
		find_lock_owner(env, x);
	return pending_holds(x->first);
}

static bool has_it_still(JNIEnv *env, const struct wanted *x)
{
	struct owner o;
	jthread thread;
	bool same;

	if (x->kind == JVM_WAIT_ENTER)
		return owner_word(x->first) == x->word && pending_holds(x->first);
	thread = park_owner(env, x->lock, &o);
	same = thread && (*env)->IsSameObject(env, thread, x->thread);
	if (thread)
		(*env)->DeleteLocalRef(env, thread);
	return same;
}

/* ---- stacks of owners ---- */

static jthread mounted_on(JNIEnv *env, jthread carrier)
{
	jthread t = NULL;

	if (!at.get_virtual || at.get_virtual(at.ti, carrier, &t) != JVMTI_ERROR_NONE)
		return NULL;
	return t;
}

/* Return a local reference; NULL: not known. */
static jthread find_thread(JNIEnv *env, const struct owner *o)
{
	jthread t, carrier;
	bool is_carrier;

	carrier = owners_thread(env, o, &is_carrier);
	if (!carrier || !is_carrier)
		return carrier;
	t = mounted_on(env, carrier);
	(*env)->DeleteLocalRef(env, carrier);
	return t;
}

static void look_at_owner(JNIEnv *env, struct wanted *x, struct jvm_blame *r)
{
	jthread t = x->thread ? (*env)->NewLocalRef(env, x->thread) : find_thread(env, &x->owner);
	jint nr = 0;

	if (!t || (*at.ti)->GetStackTrace(at.ti, t, 0, MAX_FRAMES, at.frames, &nr) != JVMTI_ERROR_NONE)
		r->what = JVM_BLAMED_NO_STACK;
	else if (!has_it_still(env, x))
		r->what = JVM_BLAMED_LATE;
	else
		r->frames_len = stack_put(at.ti, at.frames, nr, at.text, &r->cut);
	r->frames = at.text;
	if (t)
		(*env)->DeleteLocalRef(env, t);
}

static void tell(JNIEnv *env, struct wanted *x)
{
	struct jvm_ring *ring = ring_of(sys_tid());
	struct jvm_blame r = {
		.time_ns = at.now_ns, .ns = x->ns, .waits = x->nr_charged, .leaf = x->leaf,
		.identity = x->identity, .kind = x->kind, .owner = x->owner.tid,
		.owner_vthread = x->owner.vthread, .what = x->what,
	};

	if (x->what == JVM_BLAMED_OWNER)
		look_at_owner(env, x, &r);
	if (!send_blame(ring, &r))
		ring_count_lost(ring);
}

/* ---- waits without an end ---- */

static void tell_open(JNIEnv *env, const struct pending_closed *p, uint64_t now_ns)
{
	struct jvm_ring *ring = ring_of(sys_tid());
	struct owner who = owners_of_waiter(p->id);
	struct jvm_open_wait r = {
		.time_ns = now_ns, .ns = now_ns - p->w.since_ns, .blamed_ns = p->w.blamed_ns,
		.thread = who.tid, .vthread = who.vthread, .kind = p->w.kind, .leaf = p->w.leaf,
		.identity = p->w.identity, .owner = p->w.owner, .owner_vthread = p->w.owner_vthread,
		.frames = at.text,
	};
	jthread t = find_thread(env, &who);
	jint nr = 0;

	if (t && (*at.ti)->GetStackTrace(at.ti, t, 0, MAX_FRAMES, at.frames, &nr) == JVMTI_ERROR_NONE)
		r.frames_len = stack_put(at.ti, at.frames, nr, at.text, &r.cut);
	if (t)
		(*env)->DeleteLocalRef(env, t);
	if (!send_open_wait(ring, &r))
		ring_count_lost(ring);
}

void blame_end(JNIEnv *env, uint64_t now_ns)
{
	struct pending_closed p;
	uint32_t from = 0, session;

	while (pending_close(&from, now_ns, &p))
		if (lock_is_on(&session) && p.w.session == session)
			tell_open(env, &p, now_ns);
}

/* Report open waits when the recorder is about to end. */
static void end_if_asked(JNIEnv *env)
{
	struct jvm_ctl *ctl = ring_ctl();
	uint64_t end_ns = load_acquire(&ctl->end_ns);

	if (!end_ns || end_ns == load_relaxed(&ctl->ended_ns))
		return;
	exact_tell(true);
	blame_end(env, end_ns < at.now_ns ? end_ns : at.now_ns);
	store_release(&ctl->ended_ns, end_ns);
}

/* ---- scans ---- */

static void release(JNIEnv *env, struct wanted *x)
{
	if (x->thread)
		(*env)->DeleteLocalRef(env, x->thread);
	if (x->lock)
		(*env)->DeleteLocalRef(env, x->lock);
}

/* Charge all owners before walking their stacks, so that the time for walking does not decide who is hit. */
static void scan_waits(JNIEnv *env)
{
	size_t i;

	find_waits();
	for (i = 0; i < at.nr_locks; i++)
		if (!find_owner(env, &at.locks[i]))
			at.locks[i].what = JVM_NR_BLAMED;
	for (i = 0; i < at.nr_waits; i++) {
		struct wanted *x = at.of[i];
		uint64_t since = at.waits[i].since_ns;

		if (x->what < JVM_NR_BLAMED && pending_charge(&at.waits[i], at.now_ns)) {
			x->ns += at.now_ns - since;
			x->nr_charged++;
		}
	}
	for (i = 0; i < at.nr_locks; i++) {
		if (at.locks[i].ns)
			tell(env, &at.locks[i]);
		release(env, &at.locks[i]);
	}
}

static uint64_t cpu_time(void)
{
	enum { THREAD_CPUTIME = 3 };
	struct {
		int64_t s, ns;
	} t = { 0, 0 };

	sys(__NR_clock_gettime, THREAD_CPUTIME, &t);
	return t.s * 1000000000ull + t.ns;
}

/* Return a pause of half to one and a half times the mean, so that no program is in step with the scans. */
static uint64_t pause_ns(uint64_t spent_ns, uint32_t nr_idle)
{
	uint64_t mean = nr_idle < NR_IDLE ? at.interval_ns : at.interval_ns * IDLE, ns;
	uint64_t least = spent_ns * SHARE;

	if (least > at.interval_ns * LONGEST)
		least = at.interval_ns * LONGEST;
	if (least < spent_ns * MOST_SHARE)
		least = spent_ns * MOST_SHARE;
	ns = chance_around(&at.random, mean);
	return ns < least ? least : ns;
}

static void JNICALL watch(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	uint64_t spent_ns = 0, start_ns;
	uint32_t nr_idle = 0;

	/* set running before checking on, as in wall.c */
	if (__atomic_exchange_n(&running, 1, __ATOMIC_SEQ_CST))
		return;
	while (load_seq_cst(&on) && !log_closed()) {
		ring_nap(pause_ns(spent_ns, nr_idle));
		if (!load_seq_cst(&on) || !sample_begin())
			break;
		start_ns = cpu_time();
		at.now_ns = sys_now();
		store_relaxed(&ring_ctl()->tells_open, 1);
		scan_waits(env);
		exact_tell(false);
		end_if_asked(env);
		nr_idle = at.nr_waits ? 0 : nr_idle + 1;
		spent_ns = cpu_time() - start_ns;
		sample_end();
	}
	store_seq_cst(&running, 0);
}

static void find_extension(void)
{
	jvmtiExtensionFunctionInfo *f;
	jint i, nr;

	if ((*at.ti)->GetExtensionFunctions(at.ti, &nr, &f) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr; i++)
		if (str_eq(f[i].id, "com.sun.hotspot.functions.GetVirtualThread"))
			at.get_virtual = f[i].func;
}

void blame_on(jvmtiEnv *ti, JNIEnv *env, uint64_t interval_ns)
{
	if (!at.ti) {
		at.ti = ti;
		find_extension();
	}
	at.interval_ns = interval_ns < SHORTEST_NS ? SHORTEST_NS : interval_ns;
	at.random = sys_now() | 1;
	store_seq_cst(&on, 1);
	ownthread_run(env, watch);
}

void blame_off(void)
{
	int ms;

	store_seq_cst(&on, 0);
	for (ms = 0; ms < MAX_WAIT_MS && load_seq_cst(&running); ms++)
		sys_sleep_ms(1);
}
