// SPDX-License-Identifier: MIT
/*
 * probe.c - the native methods that instrumented code calls, and the table that finds their thread (flow.h).
 *
 * The table maps a JNIEnv to a callflow_kthread: a JNIEnv is part of a JavaThread and so stands for one
 * kernel thread, also while virtual threads run on it, and a probe gets it for free. Native code has no
 * JNIEnv, so there is a second entry by the thread pointer of the C library. The table uses open addressing,
 * is written under a lock and read without: [1] a value is stored before its key, and only its own thread
 * removes a key; [2] a used slot becomes empty only if the next one is: searches stay whole.
 *
 * When callflow ends, the table is emptied: probes then find nothing and start nothing. A thread that was in
 * a probe by then does not wait inside it, but may have lost its CPU there; so the kernel is asked whether
 * each thread has waited since, or run long enough to have left it (probe_wait_quiet()).
 */
#include "agent/calls/flow.h"
#include "agent/sys.h"
#include "base/mix.h"
#include "callflow/filter.h"

enum { LOG2_SLOTS = 16, NR_SLOTS = 1 << LOG2_SLOTS, NR_PROBES = 128, REMOVED = 1 };

struct slot {
	uintptr_t env;			/* 0: never used, ends a search */
	struct callflow_kthread *k;
};

static struct slot slots[NR_SLOTS];	/* in .bss: a page appears when a thread needs it */
static struct sys_lock lock;
/* stands for threads that got no slot; charges no context */
static struct callflow_kthread nobody = { .fd = -1, .no_room = true };

static inline size_t hash(uintptr_t env)
{
	return mix64(env) >> (64 - LOG2_SLOTS);
}

static inline struct slot *slot_no(size_t i)
{
	return &slots[i & (NR_SLOTS - 1)];
}

static bool off;
static bool attached;			/* threads ran before callflow did */
static uint32_t nr_inside;		/* between probe_begin() and probe_end() */

bool probe_begin(void)
{
	__atomic_fetch_add(&nr_inside, 1, __ATOMIC_SEQ_CST);
	if (!load_seq_cst(&off))
		return true;
	probe_end();
	return false;
}

void probe_end(void)
{
	__atomic_fetch_sub(&nr_inside, 1, __ATOMIC_SEQ_CST);
}

static struct callflow_kthread *insert(uintptr_t env, struct callflow_kthread *k)
{
	size_t h = hash(env), i;
	struct slot *s;

	sys_lock(&lock);
	for (i = 0; i < NR_PROBES && (s = slot_no(h + i))->env > REMOVED; i++)
		;
	if (i < NR_PROBES) {
		s->k = k;
		store_release(&s->env, env);
	}
	sys_unlock(&lock);
	return i < NR_PROBES ? k : NULL;
}

static struct callflow_kthread *take_out(uintptr_t env)
{
	struct callflow_kthread *k = NULL;
	size_t h = hash(env), i;

	sys_lock(&lock);
	for (i = 0; i < NR_PROBES && slot_no(h + i)->env; i++)
		if (slot_no(h + i)->env == env) {
			k = slot_no(h + i)->k;
			store_release(&slot_no(h + i)->env, slot_no(h + i + 1)->env ? REMOVED : 0);
			break;
		}
	sys_unlock(&lock);
	return k;
}

static struct callflow_kthread *find_kthread(uintptr_t env)
{
	size_t h = hash(env), i;

	for (i = 0; i < NR_PROBES; i++) {
		const struct slot *s = slot_no(h + i);
		uintptr_t key = load_acquire(&s->env);

		if (key == env)
			return s->k;
		if (!key)
			break;
	}
	return NULL;
}

/*
 * Return whether the kernel thread was in the table before: a native thread attaches again and again, and the
 * first thread returns to end the VM. What it consumed up to now does not belong to the new entry.
 */
static bool seen_before(uint32_t tid)
{
	static uint64_t seen[(1 << 22) / 64];	/* as many ids as the kernel has */
	uint64_t bit = 1ull << tid % 64;

	return tid / 64 >= ARRAY_SIZE(seen) ||
		__atomic_fetch_or(&seen[tid / 64], bit, __ATOMIC_RELAXED) & bit;
}

static uint32_t birth_flags(uint32_t tid, bool born)
{
	return seen_before(tid) || (attached && !born) ? 0 : CALLFLOW_THREAD_FROM_BIRTH;
}

static inline uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

static struct callflow_kthread *start(JNIEnv *env, bool born)
{
	struct callflow_kthread *k = find_kthread(thread_pointer());
	uint32_t tid = sys_tid();
	bool no_room;

	if (k) {
		flow_adopt_thread(env, k->own);
		callflow_kthread_set_user(k, (void *)flow_java_thread(env));
	} else {
		k = callflow_kthread_start(flow_new_thread(env, NULL, tid, birth_flags(tid, born), &no_room),
					   (void *)flow_java_thread(env));
		if (k) {
			k->no_room = no_room;
			insert(thread_pointer(), k);
		} else {
			k = &nobody;
		}
	}
	/* without a slot it is not counted, and tried again at its next call */
	return insert((uintptr_t)env, k) ? k : NULL;
}

struct callflow_kthread *probe_kthread(JNIEnv *env, bool born)
{
	struct callflow_kthread *k = find_kthread((uintptr_t)env);

	return k ? k : start(env, born);
}

__attribute__((noinline, cold)) struct callflow_kthread *probe_own_kthread(JNIEnv *env)
{
	struct callflow_kthread *k = find_kthread((uintptr_t)env);

	if (k || !probe_begin())
		return k;
	k = start(env, false);
	probe_end();
	return k;
}

struct callflow_kthread *probe_known_kthread(JNIEnv *env)
{
	return find_kthread((uintptr_t)env);
}

void probe_thread_end(JNIEnv *env)
{
	struct callflow_kthread *k = take_out((uintptr_t)env);

	if (!k || k == &nobody)
		return;
	if (k->native) {	/* it goes on without Java */
		callflow_kthread_set_user(k, NULL);
		return;
	}
	take_out(thread_pointer());
	callflow_kthread_end(k);
}

static inline struct callflow_kthread *this_kthread(JNIEnv *env)
{
	const struct slot *s = slot_no(hash((uintptr_t)env));

	/* the key is this thread's own: no other thread removes it */
	if (likely(load_relaxed(&s->env) == (uintptr_t)env))
		return s->k;
	return probe_own_kthread(env);
}

void JNICALL probe_enter(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_enter(k, CALLFLOW_METHOD | (uint32_t)method);
}

void JNICALL probe_exit(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_leave(k, CALLFLOW_METHOD | (uint32_t)method);
}

void JNICALL probe_thrown(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (unlikely(!k))
		return;
	callflow_thrown(k, CALLFLOW_METHOD | (uint32_t)method);
	k->rethrows = true;
}

bool probe_rethrew(JNIEnv *env)
{
	struct callflow_kthread *k;
	bool again;

	if (!probe_begin())
		return false;
	k = probe_known_kthread(env);
	again = k && k != &nobody && k->rethrows;
	if (again)
		k->rethrows = false;
	probe_end();
	return again;
}

void JNICALL probe_count(JNIEnv *env, jclass cls, jint nr)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_charge_event(k, CALLFLOW_BYTECODES, nr);
}

/* --- with CALLFLOW_TIMED: for a few methods, each call is timed and may be reported --- */

void JNICALL timed_enter(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_enter_timed(k, CALLFLOW_METHOD | (uint32_t)method);
}

void JNICALL timed_exit(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_leave_timed(k, CALLFLOW_METHOD | (uint32_t)method);
}

void JNICALL timed_thrown(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (unlikely(!k))
		return;
	callflow_thrown_timed(k, CALLFLOW_METHOD | (uint32_t)method);
	k->rethrows = true;
}

/* --- with CALLFLOW_TIERS: the context depends on how the code of the method runs --- */

void JNICALL tier_enter(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_enter(k, CALLFLOW_METHOD | tier_of(__builtin_frame_address(0)) | (uint32_t)method);
}

void JNICALL tier_exit(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_leave(k, callflow_as_entered(k, CALLFLOW_METHOD | (uint32_t)method));
}

void JNICALL tier_thrown(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (unlikely(!k))
		return;
	callflow_thrown(k, callflow_as_entered(k, CALLFLOW_METHOD | (uint32_t)method));
	k->rethrows = true;
}

/* --- with CALLFLOW_SITES: callers pass the place of the call --- */

static bool has_tiers(void)
{
	return callflow_area()->flags & CALLFLOW_TIERS;
}

void JNICALL site_enter(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);
	uint32_t tier;

	if (unlikely(!k))
		return;
	tier = has_tiers() ? tier_of(__builtin_frame_address(0)) : 0;
	callflow_enter_at(k, CALLFLOW_METHOD | tier | (uint32_t)method);
}

static uint32_t as_entered(const struct callflow_kthread *k, jint method)
{
	uint32_t consumer = CALLFLOW_METHOD | (uint32_t)method;

	return has_tiers() ? callflow_as_entered(k, consumer) : consumer;
}

void JNICALL site_exit(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_leave_at(k, as_entered(k, method));
}

void JNICALL site_thrown(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);

	if (unlikely(!k))
		return;
	callflow_thrown_at(k, as_entered(k, method));
	k->rethrows = true;
}

void JNICALL site_line(JNIEnv *env, jclass cls, jint line)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_at(k, (uint16_t)line);
}

void JNICALL site_bci(JNIEnv *env, jclass cls, jint bci)
{
	struct callflow_kthread *k = this_kthread(env);

	if (likely(k))
		callflow_at(k, CALLFLOW_PLACE_BCI | (uint16_t)bci);
}

/* --- exceptions --- */

/*
 * Close the inner calls after an exception was caught in a method whose callees have all ended. They were
 * left where no handler could see it: a constructor before its super() returned, or a probe at the end of the
 * stack.
 */
static __attribute__((noinline, cold)) void close_inner(struct callflow_kthread *k, uint32_t consumer)
{
	const struct callflow_thread *t = k->cur;
	const struct callflow_open *stack = (void *)(uintptr_t)t->stack, *o = (void *)(uintptr_t)t->top;

	while (o > stack && !callflow_is_call_of(o, consumer))
		o--;
	if (o > stack)
		callflow_unwind(k, o - stack);
}

void JNICALL probe_caught(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = this_kthread(env);
	const struct callflow_thread *t = k ? k->cur : NULL;
	uint32_t consumer = CALLFLOW_METHOD | (uint32_t)method;

	if (t && !t->beyond && !callflow_is_call_of((const void *)(uintptr_t)t->top, consumer))
		close_inner(k, consumer);
}

/* --- native code --- */

static struct callflow_kthread *native_start(void)
{
	uint32_t tid = sys_tid(), flags = birth_flags(tid, false);
	struct callflow_thread *own = NULL;
	struct callflow_kthread *k;
	char name[16] = "";
	bool wanted;
	size_t len;

	sys(__NR_prctl, 15 /* PR_GET_NAME */, name);
	name[sizeof(name) - 1] = '\0';
	len = str_len(name);
	wanted = callflow_wants_thread(callflow_rules(), name, len);
	if (wanted)
		own = callflow_thread_new(tid, 0, flags);
	if (own)
		callflow_thread_name(own, name, len);
	k = callflow_kthread_start(own, NULL);
	if (!k)
		return NULL;
	k->native = true;
	k->no_room = wanted && !own;
	if (insert(thread_pointer(), k))
		return k;
	callflow_kthread_end(k);
	return NULL;
}

static struct callflow_kthread *native_kthread(void)
{
	struct callflow_kthread *k = find_kthread(thread_pointer());

	/* hooks know only the session of the recorder that started the JVM */
	if (k || attached || !probe_begin())
		return k;
	k = native_start();
	probe_end();
	return k;
}

/* End a native thread's tree. A thread that Java knows ends with Java's event. */
static void native_end(struct callflow_kthread *k)
{
	if (!k->native)
		return;
	k->native = false;
	if (k->user)
		return;
	take_out(thread_pointer());
	callflow_kthread_end(k);
}

const struct callflow_host native_host = {
	.version = CALLFLOW_VERSION, .bytes = sizeof(struct callflow_host), .area = callflow_area,
	.forked = callflow_forked, .kthread = native_kthread, .end = native_end,
	.note = callflow_kthread_note,
	.function = callflow_function, .enter = callflow_enter_frame, .leave = callflow_leave_frame,
	.label = callflow_label,
};

/* --- beginning and end --- */

void probe_on(bool into_running)
{
	attached = into_running;
	store_seq_cst(&off, false);
}

static void empty_table(void)
{
	size_t i;

	sys_lock(&lock);
	for (i = 0; i < NR_SLOTS; i++)
		if (slots[i].env) {
			if (slots[i].k)
				slots[i].k->thread_pointer = 0;		/* native code keeps it */
			slots[i].k = NULL;
			store_release(&slots[i].env, 0);
		}
	sys_unlock(&lock);
}

void probe_off(void)
{
	store_seq_cst(&off, true);
	empty_table();
}

bool probe_wait_quiet(void)
{
	enum { MAX_WAIT_MS = 10000 };
	int ms;

	for (ms = 0; load_seq_cst(&nr_inside); ms++) {
		if (ms == MAX_WAIT_MS)
			return false;
		sys_sleep_ms(1);
	}
	empty_table();		/* what who was inside has put there */
	/* with every event traced, a step waits up to half a second for the recorder to read */
	if (callflow_area()->flags & CALLFLOW_EVENTS)
		sys_sleep_ms(1000);
	return quiesce_wait(MAX_WAIT_MS);
}
