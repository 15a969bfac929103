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
#include "agent/sys.h"

/* What headers older than JDK 11 lack: the bit of the capability, the place of the function. */
enum {
	CAN_GENERATE_SAMPLED_OBJECT_ALLOC = 43, SET_HEAP_SAMPLING_INTERVAL = 155, DEFAULT_INTERVAL =
	512 << 10
};

typedef jvmtiError JNICALL set_interval_fn(jvmtiEnv *ti, jint interval);

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

void objects_want(jvmtiCapabilities *want, const jvmtiCapabilities *have)
{
	uint8_t bit = 1 << CAN_GENERATE_SAMPLED_OBJECT_ALLOC % 8;

	wanted = is_metric() && ((const uint8_t *)have)[CAN_GENERATE_SAMPLED_OBJECT_ALLOC / 8] & bit;
	if (wanted)
		((uint8_t *)want)[CAN_GENERATE_SAMPLED_OBJECT_ALLOC / 8] |= bit;
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
	set_interval_fn *set_interval = ((set_interval_fn *const *)*ti)[SET_HEAP_SAMPLING_INTERVAL];

	wanted = wanted && set_interval(ti, 0) == JVMTI_ERROR_NONE;
}

/* A buffer that a thread has already is filled without a word; a collection takes all of them away. */
void objects_enable(jvmtiEnv *ti)
{
	if (!wanted ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)FLOW_OBJECT_ALLOC, NULL) !=
		    JVMTI_ERROR_NONE)
		return;
	(*ti)->ForceGarbageCollection(ti);
	callflow_has_alloc_objects();
}

void objects_disable(jvmtiEnv *ti)
{
	set_interval_fn *set_interval = ((set_interval_fn *const *)*ti)[SET_HEAP_SAMPLING_INTERVAL];

	if (wanted)
		set_interval(ti, DEFAULT_INTERVAL);
	wanted = false;
}
