// SPDX-License-Identifier: MIT
/*
 * lock.c - waits for monitors, and of parked virtual threads, from events of JVMTI (lock.h, sources.h). They
 * have an environment of their own, which asks for nothing unless the source is on.
 *
 * What a thread waits for is found when the wait begins, while nobody waits for the thread; when it ends, the
 * thread has the lock, and every nanosecond counts. In between, the wait is in a table by the thread's id
 * (pending.c), since a virtual thread may continue on another carrier.
 *
 *  - The VM spins before it reports that a thread waits for a monitor: that time is in no event.
 *  - A platform thread that gets a monitor back after Object.wait() has no event; a virtual one has an end
 *    without a beginning (JDK 25), which is dropped.
 *  - A virtual thread that parks unmounts, and has that event; a pinned one parks as platform threads do
 *    (park.c).
 */
#include <jvmti.h>
#include <stdarg.h>

#include "agent/agent.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/vm.h"
#include "agent/leaf.h"
#include "agent/locks/exact.h"
#include "agent/locks/lock.h"
#include "agent/locks/share.h"
#include "agent/ring.h"
#include "agent/sources/mounts.h"
#include "agent/sources/part.h"
#include "agent/sources/sources.h"
#include "base/mix.h"

enum { NR_CLASSES = 16, NR_MONITORS = 1 << 12 };

static jvmtiEnv *ti;			/* kept between sessions */
static bool wanted;
static bool for_another;		/* names were sent to another recorder */
static uint32_t session;		/* 0: off */
static uint32_t nr_sessions;
static uint64_t interval_ns;
static struct mounts mounts;
static jfieldID thread_id, eetop;

bool lock_is_on(uint32_t *which)
{
	*which = load_acquire(&session);
	return *which;
}

/* ---- what a thread waits for ---- */

/*
 * The first classes that threads waited for, as weak references: comparing them is cheaper than asking for
 * names.
 */
static struct known_class {
	jweak class;
	uint32_t leaf;
} classes[NR_CLASSES];
static uint32_t nr_classes;
static struct sys_lock classes_lock;	/* for adding one */

static uint32_t ask_for_name(jclass cls)
{
	uint32_t leaf;
	char *sig;

	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE || !sig)
		return 0;
	leaf = leaf_number(JVM_LEAF_CLASS, sig, str_len(sig));
	(*ti)->Deallocate(ti, (unsigned char *)sig);
	return leaf;
}

static uint32_t leaf_of(JNIEnv *env, jclass cls)
{
	uint32_t nr = load_acquire(&nr_classes), leaf, i;

	for (i = 0; i < nr; i++)
		if ((*env)->IsSameObject(env, cls, classes[i].class))
			return classes[i].leaf;
	leaf = ask_for_name(cls);
	if (nr == NR_CLASSES || !leaf)
		return leaf;
	sys_lock(&classes_lock);
	if (nr_classes == nr && (classes[nr].class = (*env)->NewWeakGlobalRef(env, cls))) {
		classes[nr].leaf = leaf;
		store_release(&nr_classes, nr + 1);
	}
	sys_unlock(&classes_lock);
	return leaf;
}

static void forget_classes(JNIEnv *env)
{
	uint32_t i;

	for (i = 0; i < nr_classes; i++)
		(*env)->DeleteWeakGlobalRef(env, classes[i].class);
	nr_classes = 0;
}

static bool ask(JNIEnv *env, jobject what, struct lock_wait *w)
{
	jclass cls = (*env)->GetObjectClass(env, what);
	jint hash;

	w->leaf = cls ? leaf_of(env, cls) : 0;
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	w->identity = w->leaf && (*ti)->GetObjectHashCode(ti, what, &hash) == JVMTI_ERROR_NONE ? hash : 0;
	return w->leaf;
}

bool lock_describe(JNIEnv *env, jobject what, enum jvm_wait_kind kind, struct lock_wait *w)
{
	*w = (struct lock_wait){ .kind = kind };
	return ask(env, what, w) && lock_is_on(&w->session);
}

/*
 * Cache of monitors. A monitor that is reused has the header of its new object, with another identity hash.
 * seq is odd while the rest changes.
 */
static struct known_monitor {
	uint64_t seq;
	uintptr_t monitor, header;
	uint32_t leaf, identity;
} *monitors;

static struct known_monitor *known_monitor(uintptr_t monitor)
{
	return &monitors[mix64(monitor) >> 52];
}

static bool recall(uintptr_t monitor, uintptr_t header, struct lock_wait *w)
{
	const struct known_monitor *k = known_monitor(monitor);
	uint64_t seq = load_acquire(&k->seq);

	if (seq & 1 || load_relaxed(&k->monitor) != monitor || load_relaxed(&k->header) != header)
		return false;
	w->leaf = load_relaxed(&k->leaf);
	w->identity = load_relaxed(&k->identity);
	fence_acquire();
	return load_relaxed(&k->seq) == seq;
}

static void remember(uintptr_t monitor, uintptr_t header, const struct lock_wait *w)
{
	struct known_monitor *k = known_monitor(monitor);
	uint64_t seq = load_relaxed(&k->seq);

	if (seq & 1 || !__atomic_compare_exchange_n(&k->seq, &seq, seq + 1, false, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	store_relaxed(&k->monitor, monitor);
	store_relaxed(&k->header, header);
	store_relaxed(&k->leaf, w->leaf);
	store_relaxed(&k->identity, w->identity);
	store_release(&k->seq, seq + 2);
}

/*
 * Return a monitor's copy of its object's header, whose two lowest bits are 01, if that has an identity hash;
 * else 0.
 */
static uintptr_t header_with_hash(uintptr_t monitor)
{
	enum { HASH_SHIFT = 8 };
	uintptr_t header;

	if (vm.o.monitor_header < 0)
		return 0;
	header = load_relaxed((uintptr_t *)(monitor + vm.o.monitor_header));
	return (header & 3) == 1 && header >> HASH_SHIFT & 0x7fffffff ? header : 0;
}

/*
 * Describe the monitor of the object, at that address (0: not known); the VM keeps it while the thread waits.
 */
static bool describe_monitor(JNIEnv *env, jobject object, uintptr_t monitor, struct lock_wait *w)
{
	uintptr_t header = monitor ? header_with_hash(monitor) : 0;

	if (header && recall(monitor, header, w))
		return true;
	if (!ask(env, object, w))
		return false;
	header = monitor ? header_with_hash(monitor) : 0;
	if (header)
		remember(monitor, header, w);
	return true;
}

/* ---- reports ---- */

static struct shares shares;

/* Locks of a class whose identity is not known count as one. */
static uint64_t lock_weigh(const struct jvm_wait *r)
{
	uint64_t key = (uint64_t)r->leaf << 36 | (uint64_t)r->kind << 32 | r->identity;

	return share_of(&shares, key, r->ns, interval_ns, r->time_ns);
}

static uint32_t tid_of(uintptr_t thread)
{
	/* thread is the calling thread's: its OSThread exists */
	uintptr_t os = thread && vm.o.thread_osthread >= 0 ? vm_word(thread, vm.o.thread_osthread) : 0;

	return os && vm.o.osthread_tid >= 0 ? (uint32_t)vm_i32(os, vm.o.osthread_tid) : (uint32_t)sys_tid();
}

void lock_tell(const struct lock_wait *w)
{
	struct jvm_wait r = {
		.time_ns = sys_now(), .kind = w->kind, .leaf = w->leaf, .identity = w->identity,
		.owner = w->owner, .owner_vthread = w->owner_vthread, .vthread = w->vthread,
		.blamed_ns = w->blamed_ns, .notifier = w->notifier, .notifier_vthread = w->notifier_vthread,
	};
	struct jvm_ring *ring;
	struct vm_thread t;

	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	r.thread = tid_of(t.thread);
	ring = ring_of(r.thread);
	r.ns = r.time_ns - w->since_ns;
	if (!r.vthread)
		r.vthread = cont_vthread(&t, ring);
	r.weight_ns = lock_weigh(&r);
	if (!send_wait(ring, &r))
		ring_count_lost(ring);
	else if (r.weight_ns)
		sources_sample(JVM_SOURCE_LOCK, r.ns, r.leaf, 0);
}

struct owner lock_self(void)
{
	struct vm_thread t;
	uint32_t tid;

	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	tid = tid_of(t.thread);
	return (struct owner){ .tid = tid, .vthread = cont_vthread(&t, ring_of(tid)) };
}

/* ---- events ---- */

static uint64_t id_of(JNIEnv *env, jthread thread)
{
	return (*env)->GetLongField(env, thread, thread_id);
}

/*
 * Return the id of the calling thread where it can be read without a call; without virtual threads, what
 * serves as one. 0: JDK 21 to 23 have it only in the Thread, which moves.
 */
static uint64_t found_id(const struct vm_thread *t)
{
	if (!t->thread)
		return 0;
	if (vm.o.jthread_owner_id >= 0)
		return vm_word(t->thread, vm.o.jthread_owner_id);
	return mounts.unmount < 0 ? t->thread : cont_java_id(t->thread);
}

/* Return the id of the calling thread, by JNI if need be. */
static uint64_t own_id(JNIEnv *env, const struct vm_thread *t, jthread thread)
{
	bool has_id = t->thread && (vm.o.jthread_owner_id >= 0 || mounts.unmount < 0);

	return has_id ? found_id(t) : thread ? id_of(env, thread) : 0;
}

static void begin_wait(JNIEnv *env, uint64_t id, struct lock_wait *w)
{
	w->since_ns = sys_now();
	if (!pending_begin(env, id, w))
		ring_count_lost(ring_of(sys_tid()));
}

static bool end_wait(JNIEnv *env, uint64_t id, struct lock_wait *w)
{
	return pending_end(env, id, w) && w->session == load_relaxed(&session);
}

void lock_begin(JNIEnv *env, jthread self, struct lock_wait *w)
{
	struct vm_thread t;

	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	begin_wait(env, own_id(env, &t, self), w);
}

bool lock_end(JNIEnv *env, jthread self, struct lock_wait *w)
{
	struct vm_thread t;

	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	return end_wait(env, own_id(env, &t, self), w);
}

uint64_t lock_begin_alone(const struct vm_thread *t, struct lock_wait *w)
{
	uint64_t id = found_id(t);

	begin_wait(NULL, id, w);
	return id;
}

bool lock_end_alone(uint64_t id, struct lock_wait *w)
{
	return end_wait(NULL, id, w);
}

bool lock_waits_already(const struct vm_thread *t)
{
	struct lock_wait w;

	return pending_peek(found_id(t), &w);
}

/* Return the address of an object; a handle is the address of the reference, with flags. */
static uintptr_t oop_of(jobject object)
{
	return *(uintptr_t *)((uintptr_t)object & ~7ul);
}

/*
 * Return the monitor that the header names, if the monitor names the object: a collection may come between
 * the two loads.
 */
static uintptr_t monitor_of(jobject object)
{
	enum { MONITOR = 2 };
	uintptr_t oop = oop_of(object), mark, its;

	if (vm.o.monitor_object < 0 || !sys_peek_all(&mark, oop, 8) || (mark & 3) != MONITOR ||
	    !sys_peek_all(&its, (mark ^ MONITOR) + vm.o.monitor_object, 8) || its != oop)
		return 0;
	return mark ^ MONITOR;
}

/* Return the monitor of the object that a thread is about to wait for; 0: not known. */
static uintptr_t pending_monitor(const struct vm_thread *t, jobject object)
{
	if (!t->thread || vm.o.jthread_pending_monitor < 0 || vm.o.monitor_owner < 0)
		return 0;
	/* JDK 8 sets it after the event */
	return vm.is_8 ? monitor_of(object) : vm_word(t->thread, vm.o.jthread_pending_monitor);
}

static struct owner owner_of(uintptr_t monitor, jobject object)
{
	if (!monitor)
		return (struct owner){ 0 };
	return owners_of_monitor(load_relaxed((uintptr_t *)(monitor + vm.o.monitor_owner)), oop_of(object));
}

static void begin_monitor(JNIEnv *env, jthread thread, jobject object, enum jvm_wait_kind kind)
{
	struct lock_wait w = { .kind = kind };
	struct owner o = { 0 };
	uintptr_t monitor = 0;
	struct vm_thread t;

	if (!sample_begin())
		return;
	if (kind == JVM_WAIT_WAIT)
		exact_wait(env, object);
	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	if (kind == JVM_WAIT_ENTER) {
		monitor = pending_monitor(&t, object);
		o = owner_of(monitor, object);
	}
	if (describe_monitor(env, object, monitor, &w) && lock_is_on(&w.session)) {
		w.owner = o.tid;
		w.owner_vthread = o.vthread;
		w.monitor = monitor;
		lock_begin(env, thread, &w);
	}
	sample_end();
}

static void end_monitor(JNIEnv *env, jthread thread)
{
	struct lock_wait w;

	if (!sample_begin())
		return;
	if (lock_end(env, thread, &w))
		lock_tell(&w);
	sample_end();
}

static void JNICALL on_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	begin_monitor(env, thread, object, JVM_WAIT_ENTER);
}

static void JNICALL on_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	end_monitor(env, thread);
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong timeout)
{
	begin_monitor(env, thread, object, JVM_WAIT_WAIT);
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jboolean late)
{
	end_monitor(env, thread);
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
	struct lock_wait w;
	jthread vthread;
	JNIEnv *env;

	MOUNTS_ARGUMENTS(jvmti, env, vthread);
	if (!sample_begin())
		return;
	if (park_describe(env, vthread, true, &w)) {
		w.vthread = id_of(env, vthread);
		w.since_ns = sys_now();
		if (!pending_begin(env, w.vthread, &w))
			ring_count_lost(ring_of(sys_tid()));
	}
	sample_end();
}

/* End the wait of a virtual thread; one that began for a monitor, or in Object.wait(), ends as such. */
static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
	struct lock_wait w;
	jthread vthread;
	JNIEnv *env;
	uint64_t id;

	MOUNTS_ARGUMENTS(jvmti, env, vthread);
	if (!sample_begin())
		return;
	id = id_of(env, vthread);
	if (pending_peek(id, &w) && w.kind != JVM_WAIT_ENTER && w.kind != JVM_WAIT_WAIT &&
	    pending_end(env, id, &w) && w.session == load_relaxed(&session))
		lock_tell(&w);
	sample_end();
}

static void drop(JNIEnv *env, jweak ref)
{
	if (ref)
		(*env)->DeleteWeakGlobalRef(env, ref);
}

static void note_thread(JNIEnv *env, jthread thread, uint32_t tid)
{
	uintptr_t t = (*env)->GetLongField(env, thread, eetop);

	if (t && !tid)
		tid = vm_thread_tid(t);
	if (t && tid)
		drop(env, owners_add(t, id_of(env, thread), tid, (*env)->NewWeakGlobalRef(env, thread)));
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	note_thread(env, thread, sys_tid());
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	uintptr_t t = (*env)->GetLongField(env, thread, eetop);

	drop(env, owners_remove(t, id_of(env, thread)));
}

/* ---- on and off ---- */

static const jvmtiEvent events[] = {
	JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
	JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED,
	JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
};

static void find_threads(JNIEnv *env)
{
	jthread *threads;
	jint nr, i;

	if ((*ti)->GetAllThreads(ti, &nr, &threads) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr; i++) {
		note_thread(env, threads[i], 0);
		(*env)->DeleteLocalRef(env, threads[i]);
	}
	(*ti)->Deallocate(ti, (void *)threads);
}

static bool lock_find_fields(JNIEnv *env)
{
	jclass cls = (*env)->FindClass(env, "java/lang/Thread");

	thread_id = cls ? (*env)->GetFieldID(env, cls, "tid", "J") : NULL;
	eetop = thread_id ? (*env)->GetFieldID(env, cls, "eetop", "J") : NULL;
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	return eetop;
}

static void refuse_lock(const char *why)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = JVM_SOURCE_LOCK, .why = why, .why_len = str_len(why),
	});
}

static void count_exactly(JNIEnv *env)
{
	JavaVM *jvm;

	if ((*env)->GetJavaVM(env, &jvm) || !exact_on(jvm, env))
		refuse_lock("acquisitions are not counted: this JVM does not let its classes be changed, or is not known well enough");
}

static void on_live(JNIEnv *env)
{
	size_t i;

	if (for_another)
		forget_classes(env);
	for_another = false;
	if (!lock_find_fields(env)) {
		refuse_lock("this JVM's threads lack the fields that say who they are");
		return;
	}
	if (!park_on(env))
		refuse_lock("parked platform threads: Unsafe.park() of this JVM is not where it is looked for");
	if (!classwait_on())
		refuse_lock("waits for the initialisation of classes: this JVM is not known well enough");
	for (i = 0; i < ARRAY_SIZE(events); i++)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
	mounts_enable(ti, &mounts, on_mount, on_unmount);
	find_threads(env);
	store_release(&session, ++nr_sessions);
	count_exactly(env);
	blame_on(ti, env, interval_ns);
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	on_live(env);
}

static bool ask_vm(bool live)
{
	jvmtiCapabilities want;
	jvmtiEventCallbacks cb;

	memset(&want, 0, sizeof(want));
	memset(&cb, 0, sizeof(cb));
	want.can_generate_monitor_events = 1;
	mounts_find(ti, &want, &mounts);
	cb.VMInit = on_init;
	cb.MonitorContendedEnter = on_enter;
	cb.MonitorContendedEntered = on_entered;
	cb.MonitorWait = on_wait;
	cb.MonitorWaited = on_waited;
	cb.ThreadStart = on_thread_start;
	cb.ThreadEnd = on_thread_end;
	return (*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE &&
	       (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) == JVMTI_ERROR_NONE &&
	       (live || (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) ==
			JVMTI_ERROR_NONE);
}

static bool turn_on(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	if (!monitors)
		monitors = sys_pages(NR_MONITORS * sizeof(*monitors));
	if (!pending_init(env) || !monitors || !owners_init() ||
	    (!ti && (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK))
		return false;
	sys_clear_pages(monitors, NR_MONITORS * sizeof(*monitors));
	owners_forget(env);
	interval_ns = interval;
	wanted = ask_vm(env);
	owners_tell_virtual(mounts.unmount >= 0);
	if (wanted)
		memory_waits_on();
	if (wanted && env)
		on_live(env);
	return wanted;
}

static const char *lock_on(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return turn_on(jvm, env, interval) ? NULL : "this JVM does not report waits for monitors";
}

/* Note that names found from now on are for another recorder. */
static void forget(void)
{
	for_another = true;
}

/* Events may still arrive in threads that wait. They find no session, but the environment still exists. */
static bool turn_off(JNIEnv *env)
{
	jvmtiCapabilities have;
	size_t i;

	if (!wanted)
		return true;
	wanted = false;
	memory_waits_off();
	classwait_off();
	blame_off();
	if (env)
		exact_off(env);
	store_seq_cst(&session, 0);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, events[i], NULL);
	mounts_disable(ti, &mounts);
	if ((*ti)->GetCapabilities(ti, &have) == JVMTI_ERROR_NONE)
		(*ti)->RelinquishCapabilities(ti, &have);
	if (env)
		park_off(env);
	return true;
}

/* Report open waits when the VM ends. */
static void vm_ends(JNIEnv *env)
{
	uint32_t which;

	if (!lock_is_on(&which))
		return;
	blame_off();
	if (!sample_begin())
		return;
	store_relaxed(&ring_ctl()->tells_open, 0);
	exact_tell(true);
	blame_end(env, sys_now());
	sample_end();
}

const struct part lock_part = {
	.source = JVM_SOURCE_LOCK, .forget = forget, .on = lock_on, .death = vm_ends, .off = turn_off,
};
