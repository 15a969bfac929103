// SPDX-License-Identifier: MIT
/*
 * objects.c - exact callflow: each object that is allocated, whoever does it (flow.h).
 *
 * JVMTI samples allocations every so many bytes; with an interval of 0 it tells of each. Objects that
 * the compiler finds to be needless are not allocated, and so not counted.
 *
 * Source: JVMTI 11, SampledObjectAlloc and SetHeapSamplingInterval.
 */
#include "agent/flow.h"
#include "agent/jvmti11.h"

static bool wanted;		/* and to be had */

static bool is_metric(void)
{
	const struct callflow_area *a = callflow_area();
	uint32_t m;

	for (m = 0; m < a->nr_metrics; m++)
		if (a->metrics[m].kind == CALLFLOW_ALLOC_OBJECTS)
			return true;
	return false;
}

void objects_want(jvmtiEnv *ti, jvmtiCapabilities *want)
{
	wanted = is_metric() && jvmti11_want_object_alloc(ti, want);
}

/* On the thread that allocates, which is not in a probe: those allocate nothing. */
static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jclass cls,
			     jlong size)
{
	struct callflow_kthread *k = probe_known_kthread(env);

	if (k)
		callflow_charge(k, CALLFLOW_ALLOC_OBJECTS, 1);
}

void *objects_on_alloc(void)
{
	return (void *)on_alloc;
}

/*
 * A thread looks at the interval when the one before is over: so it is set before there are threads, and a
 * JVM that runs already has no such count.
 */
void objects_prepare(jvmtiEnv *ti)
{
	wanted = wanted && jvmti11_set_heap_sampling(ti, 0);
}

/* A buffer that a thread has already is filled without a word; a collection takes all of them away. */
void objects_enable(jvmtiEnv *ti)
{
	if (!wanted ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)JVMTI11_OBJECT_ALLOC, NULL) !=
		    JVMTI_ERROR_NONE)
		return;
	(*ti)->ForceGarbageCollection(ti);
	callflow_has_alloc_objects();
}

void objects_disable(jvmtiEnv *ti)
{
	if (wanted)
		jvmti11_set_heap_sampling(ti, JVMTI11_HEAP_SAMPLING);
	wanted = false;
}
