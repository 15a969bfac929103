// SPDX-License-Identifier: MIT
/*
 * alloc.c - samples of the objects that a program allocates (sources.h).
 *
 * The VM chooses: each thread counts the bytes it allocates, and tells of the object that reaches the end
 * of a random distance. An environment of our own, because the VM gives this capability to one at a time:
 * with it gone, another agent can have it.
 *
 * Source: JVMTI 11, SampledObjectAlloc and SetHeapSamplingInterval.
 */
#include <jvmti.h>

#include "agent/jvmti11.h"
#include "agent/sources.h"
#include "agent/sys.h"

static jvmtiEnv *env_of_ours;	/* NULL: off */

static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jclass cls,
			     jlong size)
{
	char *sig;
	uint32_t leaf;

	if (size <= 0 || (*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE)
		return;
	leaf = sources_leaf(JVM_LEAF_CLASS, sig, str_len(sig));
	(*ti)->Deallocate(ti, (unsigned char *)sig);
	sources_sample(JVM_SOURCE_ALLOC, size, leaf);
}

static bool ask_vm(jvmtiEnv *ti, uint64_t interval)
{
	void *cb[JVMTI11_NR_EVENTS];
	jvmtiCapabilities want;

	memset(&want, 0, sizeof(want));
	memset(cb, 0, sizeof(cb));
	cb[JVMTI11_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_alloc;
	return jvmti11_want_object_alloc(ti, &want) &&
	       (*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE &&
	       (*ti)->SetEventCallbacks(ti, (const jvmtiEventCallbacks *)cb, sizeof(cb)) ==
		       JVMTI_ERROR_NONE &&
	       jvmti11_set_heap_sampling(ti, interval) &&
	       (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)JVMTI11_OBJECT_ALLOC, NULL) ==
		       JVMTI_ERROR_NONE;
}

bool alloc_on(JavaVM *jvm, uint64_t interval)
{
	jvmtiEnv *ti;

	if ((*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	if (ask_vm(ti, interval)) {
		env_of_ours = ti;
		return true;
	}
	(*ti)->DisposeEnvironment(ti);
	return false;
}

void alloc_off(void)
{
	jvmtiEnv *ti = env_of_ours;

	if (!ti)
		return;
	env_of_ours = NULL;
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, (jvmtiEvent)JVMTI11_OBJECT_ALLOC, NULL);
	jvmti11_set_heap_sampling(ti, JVMTI11_HEAP_SAMPLING);
	(*ti)->DisposeEnvironment(ti);
}
