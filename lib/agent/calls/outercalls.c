// SPDX-License-Identifier: MIT
/*
 * outercalls.c - calls that were open when the agent was loaded into a running JVM (flow.h). Their frames
 * continue in code without probes, so what is known of them comes from the VM's walk of the thread's stack.
 *
 * A frame is identified by its method and its depth, counted from the oldest. It is still open when both
 * match: if the same method had been called again at that depth, its probe would have run.
 *
 * All of this happens in a probe, on the thread itself, between probe_begin() and probe_end(), as it may wait
 * for the VM.
 */
#include "agent/calls/flow.h"
#include "agent/calls/numbers.h"
#include "agent/sys.h"

enum { PROBE_AND_METHOD = 2, MAX_FRAMES = 1 << 15 };

static JavaVM *vm_of;
static jvmtiEnv *ti;
static bool ready;		/* what was loaded has its probes: a method without is no one's */

/* Charge the caller with the time for this: the callee has not begun. */
static void charge_caller(JNIEnv *env)
{
	struct callflow_kthread *k = probe_known_kthread(env);

	if (k)
		callflow_charge_now(k);
}

/* Return the number of a method with probes, 0 if it has none. */
static uint32_t number_of(JNIEnv *env, jmethodID method)
{
	char *class_sig = NULL, *name = NULL, *sig = NULL;
	struct names_method m = { 0 };
	uint32_t number = 0;
	jclass cls = NULL;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &cls) == JVMTI_ERROR_NONE &&
	    (*ti)->GetClassSignature(ti, cls, &class_sig, NULL) == JVMTI_ERROR_NONE && class_sig &&
	    (*ti)->GetMethodName(ti, method, &name, &sig, NULL) == JVMTI_ERROR_NONE) {
		m.class_name = (struct names_text){ class_sig + 1, str_len(class_sig) - 2 };
		m.name = (struct names_text){ name, str_len(name) };
		m.sig = (struct names_text){ sig, str_len(sig) };
		number = numbers_find(&m);
	}
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	(*ti)->Deallocate(ti, (void *)class_sig);
	(*ti)->Deallocate(ti, (void *)name);
	(*ti)->Deallocate(ti, (void *)sig);
	return number;
}

/* Add the frames above the method whose probe this is, outermost first. */
static void put_outer_frames(JNIEnv *env, struct callflow_thread *t, const jvmtiFrameInfo *frames, jint nr)
{
	jint i;

	for (i = nr - 1; i >= PROBE_AND_METHOD; i--) {
		uint32_t number = number_of(env, frames[i].method);

		if (number)
			callflow_put_outer(t, CALLFLOW_METHOD | number,
					   (struct callflow_outer){ (uintptr_t)frames[i].method,
						   nr - 1 - i });
	}
}

static bool find_outer(struct callflow_thread *t)
{
	size_t bytes = MAX_FRAMES * sizeof(jvmtiFrameInfo);
	jvmtiFrameInfo *frames;
	JNIEnv *env;
	bool known = false;
	jint nr = 0;

	if (!load_acquire(&ready) || !probe_begin())
		return false;
	frames = sys_pages(bytes);
	if (frames && (*vm_of)->GetEnv(vm_of, (void **)&env, JNI_VERSION_1_6) == JNI_OK)
		known = (*ti)->GetStackTrace(ti, NULL, 0, MAX_FRAMES, frames, &nr) == JVMTI_ERROR_NONE;
	if (known && nr < MAX_FRAMES)
		put_outer_frames(env, t, frames, nr);
	if (known)
		charge_caller(env);
	if (frames)
		sys(__NR_munmap, frames, bytes);
	probe_end();
	return known;
}

static bool is_there(struct callflow_outer o)
{
	jvmtiFrameInfo frame = { 0 };
	jint nr = 0, got = 0;
	JNIEnv *env;
	bool there;

	if (!probe_begin())
		return true;
	there = (*ti)->GetFrameCount(ti, NULL, &nr) == JVMTI_ERROR_NONE &&
		(jint)o.place < nr - PROBE_AND_METHOD &&
		(*ti)->GetStackTrace(ti, NULL, -(jint)o.place - 1, 1, &frame, &got) == JVMTI_ERROR_NONE &&
		got == 1 && (uintptr_t)frame.method == o.id;
	if ((*vm_of)->GetEnv(vm_of, (void **)&env, JNI_VERSION_1_6) == JNI_OK)
		charge_caller(env);
	probe_end();
	return there;
}

static const struct callflow_outside outside = { .find = find_outer, .is_there = is_there };

void outercalls_on(JavaVM *jvm, jvmtiEnv *env)
{
	vm_of = jvm;
	ti = env;
	store_release(&ready, false);
	callflow_has_outside(&outside);
}

void outercalls_ready(void)
{
	store_release(&ready, true);
}
