// SPDX-License-Identifier: MIT
/*
 * flow.c - exact callflow's JVMTI environment: capabilities, the VM's life, threads (flow.h).
 *
 * Everything starts at VMInit: before it, classes cannot be defined and the VM's own start-up
 * would be measured. A thread's call tree begins at its first call of an instrumented method
 * or at its ThreadStart event, whatever comes first.
 */
#include "agent/calls/flow.h"
#include "agent/calls/numbers.h"
#include "agent/hotspot/vm.h"
#include "agent/jvmti11.h"
#include "agent/sources/mounts.h"
#include "agent/sys.h"
#include "callflow/filter.h"

static jvmtiEnv *ti;

/* --- threads --- */

static jfieldID eetop, tid_field;	/* Thread.eetop: its JavaThread; Thread.tid: its id */
static uintptr_t env_offset;		/* of the JNIEnv in a JavaThread */

uintptr_t flow_java_thread(JNIEnv *env)
{
	return env_offset ? (uintptr_t)env - env_offset : 0;
}

static void flow_find_fields(JNIEnv *env, jthread thread)
{
	jclass cls = (*env)->FindClass(env, "java/lang/Thread");
	uintptr_t java_thread = 0;

	if (cls)
		eetop = (*env)->GetFieldID(env, cls, "eetop", "J");
	if (eetop)
		tid_field = (*env)->GetFieldID(env, cls, "tid", "J");
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (eetop)
		java_thread = (*env)->GetLongField(env, thread, eetop);
	if (java_thread && (uintptr_t)env - java_thread < (size_t)vm.size.jthread)
		env_offset = (uintptr_t)env - java_thread;
}

static void release_info(jvmtiEnv *jvmti, JNIEnv *env, jvmtiThreadInfo *info)
{
	if (info->name)
		(*jvmti)->Deallocate(jvmti, (void *)info->name);
	if (info->thread_group)
		(*env)->DeleteLocalRef(env, info->thread_group);
	if (info->context_class_loader)
		(*env)->DeleteLocalRef(env, info->context_class_loader);
}

struct callflow_thread *flow_new_thread(JNIEnv *env, jthread thread, uint32_t tid, uint32_t flags,
					bool *no_room)
{
	jvmtiThreadInfo info = { 0 };
	struct callflow_thread *t = NULL;
	jthread self = NULL;
	uint64_t id = 0;
	size_t len;

	if (!thread && (*ti)->GetCurrentThread(ti, &self) == JVMTI_ERROR_NONE)
		thread = self;
	if (thread && tid_field)
		id = (*env)->GetLongField(env, thread, tid_field);
	if (!thread || (*ti)->GetThreadInfo(ti, thread, &info) != JVMTI_ERROR_NONE)
		info.name = NULL;
	len = info.name ? str_len(info.name) : 0;
	*no_room = !info.name || callflow_wants_thread(callflow_rules(), info.name, len);
	if (*no_room)
		t = callflow_thread_new(tid, id, flags | CALLFLOW_THREAD_JAVA);
	*no_room &= !t;
	if (t && info.name)
		callflow_thread_name(t, info.name, len);
	if (t)
		callflow_look_outside(t);
	release_info(ti, env, &info);
	if (self)
		(*env)->DeleteLocalRef(env, self);
	return t;
}

void flow_adopt_thread(JNIEnv *env, struct callflow_thread *t)
{
	jvmtiThreadInfo info = { 0 };
	jthread self = NULL;

	if (!t || (*ti)->GetCurrentThread(ti, &self) != JVMTI_ERROR_NONE || !self)
		return;
	t->flags |= CALLFLOW_THREAD_JAVA;
	if (tid_field)
		t->java_id = (*env)->GetLongField(env, self, tid_field);
	if ((*ti)->GetThreadInfo(ti, self, &info) == JVMTI_ERROR_NONE && info.name)
		callflow_thread_name(t, info.name, str_len(info.name));
	release_info(ti, env, &info);
	(*env)->DeleteLocalRef(env, self);
}

static void name_again(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct callflow_thread *t)
{
	jvmtiThreadInfo info = { 0 };

	if (t && (*jvmti)->GetThreadInfo(jvmti, thread, &info) == JVMTI_ERROR_NONE && info.name)
		callflow_thread_name(t, info.name, str_len(info.name));
	release_info(jvmti, env, &info);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	if (!probe_begin())
		return;
	probe_kthread(env, true);
	probe_end();
}

/*
 * The name may have changed since the start. The thread that ends the VM has this event, too, as the last
 * one.
 */
static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct callflow_kthread *k;

	if (!probe_begin())
		return;
	k = probe_kthread(env, false);
	if (k) {
		name_again(jvmti, env, thread, k->own);
		bracket_thread_end(k);
	}
	probe_thread_end(env);
	probe_end();
}

/* --- metrics that HotSpot keeps --- */

/*
 * Return how much the thread has allocated: the VM's count, and the used part of its current buffer. A probe
 * is native code, so a GC pause may retire the buffer at any time: then the count has changed, and both are
 * read again.
 *
 * Source: share/runtime/thread.inline.hpp, Thread::cooked_allocated_bytes().
 */
static uint64_t allocated_bytes(struct callflow_kthread *k)
{
	uintptr_t t = (uintptr_t)k->user, tlab = t + vm.o.thread_tlab, start, top;
	const uint64_t *count = (const uint64_t *)(t + vm.o.thread_allocated);
	uint64_t before;

	if (!t)
		return 0;	/* not Java's now */
	do {
		before = load_acquire(count);
		start = load_acquire((const uintptr_t *)(tlab + vm.o.tlab_start));
		top = load_acquire((const uintptr_t *)(tlab + vm.o.tlab_top));
	} while (unlikely(load_acquire(count) != before));
	return before + (top > start ? top - start : 0);
}

static void set_readers(void)
{
	if (env_offset && vm_counts_allocated())
		callflow_has_alloc_bytes(allocated_bytes);
}

/* --- the VM's life --- */

static void enable(jvmtiEvent e)
{
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, e, NULL);
}

/* Report that nothing will be counted. */
static void refuse_all(const char *why)
{
	struct names_method all = { .class_name = { "*", 1 } };

	numbers_refused(&all, why);
}

static void begin_callflow(JNIEnv *env, jthread thread)
{
	callflow_sees_entries();
	callflow_has_bytecodes();
	flow_find_fields(env, thread);
	set_readers();
	objects_enable(ti);
	instrument_init(env);
	tier_on();
	if (!helper_define(env)) {
		refuse_all("this JVM does not take the class of the probes");
		return;
	}
	if (callflow_area()->flags & CALLFLOW_TIERS && !tier_works())
		numbers_refused(&(struct names_method){ .class_name = { "[tiers]", 7 } },
				"this JVM does not say how code runs");
	enable(JVMTI_EVENT_VM_DEATH);
	enable(JVMTI_EVENT_THREAD_START);
	enable(JVMTI_EVENT_THREAD_END);
	vthread_enable(ti);
	enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
	if (!hidden_on(ti))
		numbers_refused(&(struct names_method){ .class_name = { "[hidden classes]", 16 } },
				"libjava.so was not found");
	instrument_loaded(env, ti, false);
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	begin_callflow(env, thread);
}

/* Read the counters of threads that run until the process ends. */
static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	if (!probe_begin())
		return;
	callflow_look();
	probe_end();
}

static bool ask_vm(JavaVM *jvm, bool live)
{
	/* as an array, because headers of older JDKs lack the later events */
	void *cb[NR_JVMTI_EVENTS];
	jvmtiCapabilities have, want;

	memset(&have, 0, sizeof(have));
	memset(&want, 0, sizeof(want));
	memset(cb, 0, sizeof(cb));
	if ((*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*ti)->GetPotentialCapabilities(ti, &have) != JVMTI_ERROR_NONE)
		return false;
	if (!have.can_retransform_classes)
		return false;
	want.can_retransform_classes = 1;
	want.can_retransform_any_class = have.can_retransform_any_class;
	want.can_generate_all_class_hook_events = have.can_generate_all_class_hook_events;
	vthread_want(ti, &want);
	if (!live)
		objects_want(ti, &want);
	if ((*ti)->AddCapabilities(ti, &want) != JVMTI_ERROR_NONE)
		return false;
	objects_prepare(ti);
	cb[JVMTI_EVENT_VM_INIT - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_init;
	cb[JVMTI_EVENT_VM_DEATH - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_death;
	cb[JVMTI_EVENT_THREAD_START - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_thread_start;
	cb[JVMTI_EVENT_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_thread_end;
	cb[JVMTI_EVENT_CLASS_FILE_LOAD_HOOK - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)instrument_hook;
	cb[JVMTI11_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL] = objects_on_alloc();
	cb[VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL] = vthread_on_end();
	if ((*ti)->SetEventCallbacks(ti, (const jvmtiEventCallbacks *)cb, sizeof(cb)) != JVMTI_ERROR_NONE)
		return false;
	return true;
}

static void give_back_env(void)
{
	if (ti)
		(*ti)->DisposeEnvironment(ti);
	ti = NULL;
}

void flow_on(JavaVM *jvm, JNIEnv *env)
{
	jthread self = NULL;

	numbers_forget();
	probe_on(env);
	if (!ask_vm(jvm, env)) {
		give_back_env();
		refuse_all("this JVM cannot change classes");
	} else if (!env) {
		enable(JVMTI_EVENT_VM_INIT);
	} else if ((*ti)->GetCurrentThread(ti, &self) == JVMTI_ERROR_NONE) {
		outercalls_on(jvm, ti);
		begin_callflow(env, self);
		outercalls_ready();
		(*env)->DeleteLocalRef(env, self);
	}
}

/* Disable the hook first, so that the classes become what they were. */
bool flow_off(JNIEnv *env)
{
	bool quiet;

	if (ti) {
		(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
		hidden_off();
		instrument_loaded(env, ti, true);
		objects_disable(ti);
	}
	probe_off();
	quiet = probe_wait_quiet();
	if (!quiet)
		return false;		/* who is inside still may ask the environment */
	give_back_env();
	callflow_release();
	return true;
}
