// SPDX-License-Identifier: MIT
/*
 * virtual.c - what virtual threads do while they are on no carrier (sources.h), by the VM's events of their
 * coming and going. An environment of our own: without this source nothing of it is asked for.
 *
 * Each has a slot, by its id, with since when it is on a carrier or not. When it comes back it is known how
 * long it was away, and whether it is to be reported with a stack: its frames are those with which it left.
 * That is so for certain when it was away for the interval or longer, else with a probability in proportion
 * to its length, and then it stands for an interval of time. That is taken out of what short ones of its
 * kind have added up, so no more is reported than there was, and what is left in the end is little. Where too
 * many would be reported, the interval is longer for a while.
 *
 *  - When it was made ready to go on nobody says: the time in the scheduler's queue is part of the wait.
 *    One that yields was ready all the time.
 *  - Those that are away when the recording ends are looked for in the VM's containers of threads, and walked
 *    there.
 *
 * A slot has 16 bytes: a million virtual threads take 16 MB, and those beyond NR_SLOTS are counted as lost.
 * Pages that no thread needs are never touched.
 */
#include <stdarg.h>

#include "agent/agent.h"
#include "agent/dump/threads.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/facts.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sources/mounts.h"
#include "agent/sources/part.h"
#include "agent/sources/stack.h"
#include "agent/sources/virtual.h"
#include "agent/sys.h"
#include "base/mix.h"

enum {
	NR_SLOTS = 1 << 21, NR_PROBES = 64, NR_SHARDS = 64, STATE_BITS = 3,
	WINDOW_NS = 100000000, STACKS_A_WINDOW = 200, MOST_A_WINDOW = 4 * STACKS_A_WINDOW,
	MOST_LEFT = 4,			/* intervals in a pool */
	FRAMES = 400,			/* of one that comes back: on its carrier's stack */
	NAP_MS = 20, SETTLE_MS = 2, WALK_NS = 1000000000, MAX_WAIT_MS = 10000,
};

struct slot {
	uint64_t id;			/* Thread.threadId(); 0: free */
	uint64_t word;			/* since when, as word_of() has it; 0: nothing is known yet */
};

/* Each is added to by some threads only: those with stacks in the same places. */
static struct shard {
	uint64_t nr, nr_waits, lost;
	uint64_t life_ns;		/* ends less beginnings: right when all have ended */
	uint64_t state_ns[VIRTUAL_NR_STATES];
} __attribute__((aligned(128))) shards[NR_SHARDS];

static jvmtiEnv *ti;			/* kept from session to session */
static struct mounts mounts = { -1, -1 };
static struct slot *slots;
static bool wanted;
static uint32_t on, running;
static bool has_ended;			/* all was reported */
static uint64_t interval_ns, begin_ns;
static uint64_t pools[VIRTUAL_NR_STATES];	/* of short waits that were not reported */
static jfieldID thread_id, thread_name;

/* The values of its state while it leaves its carrier, and after that. */
static struct {
	jfieldID field;			/* NULL: not looked for yet */
	jint parking, timed_parking, yielding;
	jint parked, timed_parked, unparked, yielded, blocked, unblocked, wait, timed_wait;
} states;

/* ---- slots ---- */

static struct slot *virtual_at(uint64_t id, size_t i)
{
	return &slots[(mix64(id) + i) & (NR_SLOTS - 1)];
}

/* Return the thread's slot, or a new one; NULL: there is no room. */
static struct slot *virtual_slot_of(uint64_t id, bool make)
{
	uint64_t none;
	size_t i;

	for (i = 0; i < NR_PROBES; i++)
		if (load_relaxed(&virtual_at(id, i)->id) == id)
			return virtual_at(id, i);
	for (i = 0; make && i < NR_PROBES; i++) {
		none = 0;
		if (!load_relaxed(&virtual_at(id, i)->id) &&
		    __atomic_compare_exchange_n(&virtual_at(id, i)->id, &none, id, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return virtual_at(id, i);
	}
	return NULL;
}

static struct shard *shard(void)
{
	return &shards[(uintptr_t)__builtin_frame_address(0) >> 20 & (NR_SHARDS - 1)];
}

static void virtual_add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static uint64_t word_of(uint64_t now, enum virtual_state s)
{
	return now << STATE_BITS | s;
}

static enum virtual_state state_in(uint64_t word)
{
	return word & ((1 << STATE_BITS) - 1);
}

static uint64_t virtual_since(uint64_t word, uint64_t now)
{
	uint64_t from = word >> STATE_BITS;

	return now > from ? now - from : 0;
}

/* Set its state; return the state before, or 0 if that is unknown. */
static uint64_t virtual_change(uint64_t id, uint64_t now, enum virtual_state s)
{
	struct slot *p = virtual_slot_of(id, true);
	uint64_t was;

	if (!p) {
		virtual_add(&shard()->lost, 1);
		return 0;
	}
	was = __atomic_exchange_n(&p->word, word_of(now, s), __ATOMIC_ACQ_REL);
	if (!was) {
		virtual_add(&shard()->nr, 1);
		virtual_add(&shard()->life_ns, -now);
	}
	return was;
}

/* ---- which waits get a stack ---- */

/* Return the interval in use, longer than asked for after a window with too many samples. */
static uint64_t adapt(uint64_t now, uint64_t *nr)
{
	static uint64_t window, in_use;
	uint64_t of = now / WINDOW_NS, was = load_relaxed(&window), wants, ns;

	ns = load_relaxed(&in_use);
	ns = ns < interval_ns ? interval_ns : ns;
	if (was == of ||
	    !__atomic_compare_exchange_n(&window, &was, of, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return ns;
	wants = __atomic_exchange_n(nr, 0, __ATOMIC_RELAXED);
	if (wants > STACKS_A_WINDOW)
		ns = ns / STACKS_A_WINDOW * wants;
	else if (wants < STACKS_A_WINDOW / 2)
		ns /= 2;
	ns = ns < interval_ns ? interval_ns : ns;
	store_relaxed(&in_use, ns);
	return ns;
}

/* Return whether a wait gets a stack; *interval: the one in use. */
static bool wants_stack(uint64_t ns, uint64_t now, uint64_t *interval)
{
	static uint64_t nr, turn;

	*interval = adapt(now, &nr);
	if (ns < *interval &&
	    mix64(__atomic_fetch_add(&turn, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED) ^ now) % *interval >= ns)
		return false;
	return __atomic_fetch_add(&nr, 1, __ATOMIC_RELAXED) < MOST_A_WINDOW;
}

/* Take an interval from the pool, or what is left; where much is left, a bit more. */
static uint64_t virtual_take(uint64_t *pool, uint64_t interval)
{
	uint64_t was = load_relaxed(pool), ns;

	do {
		ns = was < interval ? was : interval;
		if (was > MOST_LEFT * interval)
			ns += (was - MOST_LEFT * interval) / MOST_LEFT;
	} while (!__atomic_compare_exchange_n(pool, &was, was - ns, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return ns;
}

static void tell_name(JNIEnv *env, jthread thread, uint64_t id, struct jvm_ring *ring)
{
	jstring name;

	if (!thread_name || cont_is_named(id))
		return;
	name = (*env)->GetObjectField(env, thread, thread_name);
	cont_tell_name(env, id, name, ring);
	(*env)->DeleteLocalRef(env, name);
}

/* Send a wait with its stack; r lacks only its frames and reason. */
static bool send_stack(JNIEnv *env, jthread thread, enum virtual_state s, struct jvm_virtual_wait *r,
		       const jvmtiFrameInfo *frames, jint nr)
{
	struct virtual_reason why = virtual_reason(ti, env, thread, s, frames, nr);
	struct jvm_ring *ring = ring_of(sys_tid());
	uint8_t text[JVM_MAX_LINES];

	tell_name(env, thread, r->vthread, ring);
	r->reason = why.reason;
	r->leaf = why.leaf;
	r->ready = s == VIRTUAL_YIELDED;
	r->frames = text;
	r->frames_len = stack_put(ti, frames, nr, text, &r->cut);
	if (send_virtual_wait(ring, r))
		return true;
	ring_count_lost(ring);
	return false;
}

/* Report that the calling thread was unmounted. */
static void virtual_tell(JNIEnv *env, jthread thread, enum virtual_state s, struct jvm_virtual_wait *r)
{
	jvmtiFrameInfo frames[FRAMES];
	uint64_t interval;
	bool wants = wants_stack(r->ns, r->time_ns, &interval);
	jint nr = 0;

	r->weight_ns = r->ns;
	if (!wants || r->ns < interval)
		virtual_add(&pools[s], r->ns);
	if (!wants)
		return;
	if (r->ns < interval)
		r->weight_ns = virtual_take(&pools[s], interval);
	(*ti)->GetStackTrace(ti, NULL, 0, FRAMES, frames, &nr);
	if (!send_stack(env, thread, s, r, frames, nr))
		virtual_add(&pools[s], r->weight_ns);
}

/* ---- events ---- */

static const char vthread_class[] = "java/lang/VirtualThread";

static jint virtual_constant(JNIEnv *env, jclass cls, const char *name)
{
	jfieldID f = (*env)->GetStaticFieldID(env, cls, name, "I");

	if (!threads_threw(env) && f)
		return (*env)->GetStaticIntField(env, cls, f);
	return -1;
}

/* Get a constant that every JDK with virtual threads has. */
static jint needed(JNIEnv *env, jclass cls, const char *name)
{
	jint value = virtual_constant(env, cls, name);

	if (value < 0)
		facts_tell(NULL, FACTS_VIRTUAL_STATES, vthread_class, name);
	return value;
}

/* Use a thread's class, so that we do not initialise it: that starts threads. */
static void find_states(JNIEnv *env, jthread thread)
{
	jclass cls = (*env)->GetObjectClass(env, thread);
	jfieldID f = (*env)->GetFieldID(env, cls, "state", "I");

	if (!threads_threw(env) && f) {
		states.parking = needed(env, cls, "PARKING");
		states.timed_parking = virtual_constant(env, cls, "TIMED_PARKING");
		states.yielding = needed(env, cls, "YIELDING");
		states.parked = needed(env, cls, "PARKED");
		states.timed_parked = virtual_constant(env, cls, "TIMED_PARKED");
		states.unparked = virtual_constant(env, cls, "UNPARKED");
		states.yielded = virtual_constant(env, cls, "YIELDED");
		states.blocked = virtual_constant(env, cls, "BLOCKED");
		states.unblocked = virtual_constant(env, cls, "UNBLOCKED");
		states.wait = virtual_constant(env, cls, "WAIT");
		states.timed_wait = virtual_constant(env, cls, "TIMED_WAIT");
		store_release(&states.field, f);
	} else {
		facts_tell(NULL, FACTS_VIRTUAL_STATES, vthread_class, "state");
	}
	(*env)->DeleteLocalRef(env, cls);
}

/*
 * Return the state of a virtual thread; -1: not known. Threads that look up the field at once find the same.
 */
static jint state_field(JNIEnv *env, jthread thread)
{
	if (!load_acquire(&states.field))
		find_states(env, thread);
	return states.field ? (*env)->GetIntField(env, thread, states.field) : -1;
}

/*
 * Return the state of a thread that leaves its carrier: a wait for a monitor does not change its own
 * class's state.
 */
static enum virtual_state leaves(JNIEnv *env, jthread thread)
{
	jint s = state_field(env, thread);

	return s < 0 || s == states.parking ? VIRTUAL_PARKED : s == states.timed_parking ? VIRTUAL_TIMED :
	       s == states.yielding ? VIRTUAL_YIELDED : VIRTUAL_BLOCKED;
}

/* Return the state of a thread that has left it; VIRTUAL_MOUNTED: it has not, or that is unknown. */
static enum virtual_state is_away(JNIEnv *env, jthread thread)
{
	jint s = state_field(env, thread);

	return s < 0 ? VIRTUAL_MOUNTED :
	       s == states.parked || s == states.unparked ? VIRTUAL_PARKED :
	       s == states.timed_parked ? VIRTUAL_TIMED : s == states.yielded ? VIRTUAL_YIELDED :
	       s == states.blocked || s == states.unblocked || s == states.wait || s == states.timed_wait ?
	       VIRTUAL_BLOCKED : VIRTUAL_MOUNTED;
}

static bool begin_event(void)
{
	if (!load_seq_cst(&on))
		return false;
	return sample_begin();
}

static void JNICALL virtual_on_mount(jvmtiEnv *jvmti, ...)
{
	struct jvm_virtual_wait r = { .time_ns = 0 };
	enum virtual_state s;
	jthread thread;
	uint64_t was;
	JNIEnv *env;

	MOUNTS_ARGUMENTS(jvmti, env, thread);
	if (!begin_event())
		return;
	r.time_ns = sys_now();
	r.vthread = (*env)->GetLongField(env, thread, thread_id);
	was = virtual_change(r.vthread, r.time_ns, VIRTUAL_MOUNTED);
	if (was) {
		s = state_in(was);
		r.ns = virtual_since(was, r.time_ns);
		virtual_add(&shard()->state_ns[s], r.ns);
		if (s != VIRTUAL_MOUNTED) {
			virtual_add(&shard()->nr_waits, 1);
			virtual_tell(env, thread, s, &r);
		}
	}
	sample_end();
}

static void JNICALL virtual_on_unmount(jvmtiEnv *jvmti, ...)
{
	uint64_t now, was;
	jthread thread;
	JNIEnv *env;

	MOUNTS_ARGUMENTS(jvmti, env, thread);
	if (!begin_event())
		return;
	now = sys_now();
	was = virtual_change((*env)->GetLongField(env, thread, thread_id), now, leaves(env, thread));
	/* what was thought to be away when the recording began was not */
	if (was)
		virtual_add(&shard()->state_ns[VIRTUAL_MOUNTED], virtual_since(was, now));
	sample_end();
}

/* Follows the last unmount. */
static void JNICALL virtual_on_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct slot *p;
	uint64_t was;

	if (!begin_event())
		return;
	p = virtual_slot_of((*env)->GetLongField(env, thread, thread_id), false);
	was = p ? __atomic_exchange_n(&p->word, 0, __ATOMIC_ACQ_REL) : 0;
	if (was && state_in(was) == VIRTUAL_MOUNTED) {
		virtual_add(&shard()->state_ns[VIRTUAL_MOUNTED], virtual_since(was, sys_now()));
		was = word_of(sys_now(), VIRTUAL_MOUNTED);
	}
	if (was)
		virtual_add(&shard()->life_ns, was >> STATE_BITS);
	if (p)
		store_release(&p->id, 0);
	sample_end();
}

/* ---- those that are away when it begins, and when it ends ---- */

static void list_threads(JNIEnv *env, void (*each)(JNIEnv *env, jthread t, uint64_t id, void *ctx), void *ctx)
{
	struct threads_list list = { 0 };
	struct threads_class c;
	size_t i, first;

	/* calls of Java code are counted there */
	if (ring_ctl()->flags & JVM_CALLFLOW || (*env)->PushLocalFrame(env, THREADS_REFS))
		return;
	if (threads_class_find(&c, ti, env) && threads_list_virtual(&c, &list) && list.nr) {
		first = mix64(sys_now()) % list.nr;
		for (i = 0; i < list.nr; i++) {
			size_t k = (first + i) % list.nr;

			each(env, list.threads[k], list.ids[k], ctx);
		}
	}
	threads_list_release(&c, &list);
	(*env)->PopLocalFrame(env, NULL);
	threads_threw(env);
}

/* Enter a thread that was not reported yet. */
static void found(JNIEnv *env, jthread t, uint64_t id, void *ctx)
{
	enum virtual_state s = is_away(env, t);
	struct slot *p = s == VIRTUAL_MOUNTED ? NULL : virtual_slot_of(id, true);
	uint64_t none = 0;

	if (p && __atomic_compare_exchange_n(&p->word, &none, word_of(begin_ns, s), false, __ATOMIC_ACQ_REL,
					     __ATOMIC_RELAXED)) {
		virtual_add(&shard()->nr, 1);
		virtual_add(&shard()->life_ns, -begin_ns);
	}
}

struct ending {
	uint64_t now_ns;
	uint64_t until_ns;		/* no stack is taken; 0: none was yet */
	jvmtiFrameInfo frames[STACK_MAX_FRAMES];
};

/*
 * Report a thread that is still unmounted, unless only for a short time: it may run again by now and then has
 * no stack.
 */
static void tell_open(JNIEnv *env, jthread t, uint64_t id, void *ctx)
{
	struct ending *x = ctx;
	struct slot *p = virtual_slot_of(id, false);
	uint64_t was = p ? load_acquire(&p->word) : 0, ns = virtual_since(was, x->now_ns);
	struct jvm_virtual_wait r = { .time_ns = x->now_ns, .vthread = id, .ns = ns, .weight_ns = ns };
	jint nr = 0;

	if (!x->until_ns)
		x->until_ns = sys_now() + WALK_NS;
	if (!was || state_in(was) == VIRTUAL_MOUNTED || ns < interval_ns || sys_now() > x->until_ns)
		return;
	if ((*ti)->GetStackTrace(ti, t, 0, STACK_MAX_FRAMES, x->frames, &nr) != JVMTI_ERROR_NONE ||
	    is_away(env, t) == VIRTUAL_MOUNTED)
		return;
	send_stack(env, t, state_in(was), &r, x->frames, nr);
}

static void close_slots(uint64_t now)
{
	size_t i;

	for (i = 0; i < NR_SLOTS; i++) {
		uint64_t was = load_relaxed(&slots[i].id) ?
			__atomic_exchange_n(&slots[i].word, 0, __ATOMIC_ACQ_REL) : 0;

		if (!was)
			continue;
		virtual_add(&shards[0].state_ns[state_in(was)], virtual_since(was, now));
		virtual_add(&shards[0].life_ns, now > was >> STATE_BITS ? now : was >> STATE_BITS);
	}
}

static void send_totals(uint64_t now)
{
	struct jvm_virtual_total r = { .time_ns = now };
	size_t i;

	for (i = 0; i < NR_SHARDS; i++) {
		const struct shard *s = &shards[i];

		r.nr_threads += s->nr;
		r.nr_waits += s->nr_waits;
		r.nr_lost += s->lost;
		r.life_ns += s->life_ns;
		r.mounted_ns += s->state_ns[VIRTUAL_MOUNTED];
		r.runnable_ns += s->state_ns[VIRTUAL_YIELDED];
		r.blocked_ns += s->state_ns[VIRTUAL_PARKED] + s->state_ns[VIRTUAL_TIMED] +
				s->state_ns[VIRTUAL_BLOCKED];
	}
	send_virtual_total(NULL, &r);
}

/* Stop counting; within sample_begin(). */
static void end_at(JNIEnv *env, uint64_t now)
{
	static struct ending x;		/* there is one end a session */

	store_seq_cst(&on, 0);
	sys_sleep_ms(SETTLE_MS);	/* for events that have begun */
	if (has_ended)
		return;
	has_ended = true;
	now = now && now < sys_now() ? now : sys_now();
	x.now_ns = now;
	x.until_ns = 0;
	list_threads(env, tell_open, &x);
	close_slots(now);
	send_totals(now);
}

/* Report what is still unmounted at the end; within running. */
static void look_until_over(JNIEnv *env)
{
	struct jvm_ctl *ctl = ring_ctl();
	uint64_t end_ns = 0;

	store_relaxed(&ctl->tells_virtual, 1);
	if (sample_begin()) {
		list_threads(env, found, NULL);
		sample_end();
	}
	while (load_seq_cst(&on) && !log_closed() && !ring_vm_ends() && !end_ns) {
		ring_nap(NAP_MS * 1000000);
		end_ns = load_acquire(&ctl->end_ns);
		if (!end_ns || !sample_begin())
			continue;
		end_at(env, end_ns);
		sample_end();
		store_release(&ctl->virtual_ended_ns, end_ns);
	}
}

static void JNICALL virtual_watch(jvmtiEnv *jvmti, JNIEnv *env, void *arg)
{
	/*
	 * first this, then looked whether it is on: as in wall.c. By the time that a new thread gets to run
	 * the session may be over, and what the recorder shared gone.
	 */
	if (__atomic_exchange_n(&running, 1, __ATOMIC_SEQ_CST))
		return;
	if (load_seq_cst(&on))
		look_until_over(env);
	store_seq_cst(&running, 0);
}

/* ---- on and off ---- */

static void virtual_on_live(JNIEnv *env)
{
	jclass cls = (*env)->FindClass(env, "java/lang/Thread");

	thread_id = cls ? (*env)->GetFieldID(env, cls, "tid", "J") : NULL;
	thread_name = thread_id ? (*env)->GetFieldID(env, cls, "name", "Ljava/lang/String;") : NULL;
	threads_threw(env);
	(*env)->DeleteLocalRef(env, cls);
	if (!thread_id)
		return;
	begin_ns = sys_now();
	store_seq_cst(&on, 1);
	if (!mounts_enable(ti, &mounts, virtual_on_mount, virtual_on_unmount))
		return;
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)VIRTUAL_THREAD_END, NULL);
	ownthread_run(env, virtual_watch);
}

static void JNICALL virtual_on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	virtual_on_live(env);
}

static bool virtual_ask_vm(bool live)
{
	const jvmtiEventCallbacks *callbacks;
	void *cb[NR_JVMTI_EVENTS];
	jvmtiCapabilities want;

	memset(&want, 0, sizeof(want));
	memset(cb, 0, sizeof(cb));
	cb[JVMTI_EVENT_VM_INIT - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)virtual_on_init;
	cb[VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)virtual_on_end;
	callbacks = (const jvmtiEventCallbacks *)cb;
	return mounts_find(ti, &want, &mounts) && (*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE &&
	       (*ti)->SetEventCallbacks(ti, callbacks, sizeof(cb)) == JVMTI_ERROR_NONE &&
	       (live || (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) ==
			JVMTI_ERROR_NONE);
}

static bool virtual_turn_on(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	if (!ti && (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	wanted = virtual_ask_vm(env);
	if (!wanted)
		return false;
	if (!slots)
		slots = sys_pages(NR_SLOTS * sizeof(*slots));
	else
		sys_clear_pages(slots, NR_SLOTS * sizeof(*slots));
	if (!slots)
		return wanted = false;
	memset(shards, 0, sizeof(shards));
	memset(pools, 0, sizeof(pools));
	interval_ns = interval ? interval : 1;
	has_ended = false;
	return true;
}

static const char *virtual_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return virtual_turn_on(jvm, env,
			       interval) ? NULL : "this JVM has no virtual threads: JDK 21 and later have";
}

/* Begin counting time with the recorder. */
static void go(JNIEnv *env)
{
	if (wanted)
		virtual_on_live(env);
}

static bool virtual_turn_off(JNIEnv *env)
{
	jvmtiCapabilities have;
	int ms;

	if (!wanted)
		return true;
	wanted = false;
	store_seq_cst(&on, 0);
	for (ms = 0; ms < MAX_WAIT_MS && load_seq_cst(&running); ms++)
		sys_sleep_ms(1);
	mounts_disable(ti, &mounts);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, (jvmtiEvent)VIRTUAL_THREAD_END, NULL);
	if ((*ti)->GetCapabilities(ti, &have) == JVMTI_ERROR_NONE)
		(*ti)->RelinquishCapabilities(ti, &have);
	return true;
}

/* Waits end with the VM. */
static void virtual_vm_ends(JNIEnv *env)
{
	if (!begin_event())
		return;
	store_relaxed(&ring_ctl()->tells_virtual, 0);
	end_at(env, 0);
	sample_end();
}

const struct part virtual_part = {
	.source = JVM_SOURCE_VIRTUAL, .on = virtual_begin, .go = go, .death = virtual_vm_ends,
	.off = virtual_turn_off,
};
