// SPDX-License-Identifier: MIT
/*
 * alloc.c - samples of the objects that a program allocates (sources.h).
 *
 * The VM chooses: each thread counts the bytes it allocates, and reports the object that reaches the end
 * of a random distance. The VM gives this capability to one environment at a time: ours, which stays for
 * callbacks that are under way, gives it back when it is off, and another agent can have it. So those objects
 * of which it is watched whether they live on (live.h) are chosen here, too.
 *
 * Source: JVMTI 11, SampledObjectAlloc and SetHeapSamplingInterval.
 */
#include <jvmti.h>

#include "agent/hotspot/vm.h"
#include "agent/jvmti11.h"
#include "agent/leaf.h"
#include "agent/sources/live.h"
#include "agent/sources/part.h"
#include "agent/sources/rate.h"
#include "agent/sources/sources.h"

/*
 * VMs before JDK 25 lose count of a buffer's bytes at each object that is allocated beside it: among small
 * objects those of 100 kB are 13 % too few at 512k, 8 % at 64k, 2.5 % at 32k, and 0.3 % at 16k. So these are
 * asked for samples at 16k, of which we choose.
 *
 * Those before JDK 13 begin a distance inside the object that ended the one before, unless the new one is
 * shorter than what is left of the object. So the next objects are samples too often, and the more so the
 * finer: of 4 kB each, 20 % at 16k and 15 % at 64k, where of a mixture of sizes none was more than 12 % off.
 */
enum { FIRST_RIGHT = 25, FIRST_FROM_END = 13, FINE_INTERVAL = 16 << 10, LESS_FINE_INTERVAL = 64 << 10 };

static jvmtiEnv *env_of_ours;	/* once made it is kept */
static bool is_on;
static bool wants_all, wants_live;	/* samples of JVM_SOURCE_ALLOC, of JVM_SOURCE_LIVE */
static double mean, vm_mean;	/* of the distances that are asked for, and that the VM has */

static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jclass cls,
			     jlong size)
{
	uint64_t live_mean = wants_live ? live_interval() : 0;
	/* of what the VM tells, so much that an object is a sample with the probability of its size */
	bool all = wants_all && rate_chooses(size, vm_mean, mean);
	bool live = wants_live && rate_chooses(size, vm_mean, live_mean);
	uint32_t leaf, doubled = 0;
	char *sig;

	all = all && size > 0 && rate_takes(JVM_SOURCE_ALLOC, size, mean, &doubled);
	if (size <= 0 || !(all || live) || roster_is_being_made_here() ||
	    (*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE)
		return;
	leaf = leaf_number(JVM_LEAF_CLASS, sig, str_len(sig));
	(*ti)->Deallocate(ti, (unsigned char *)sig);
	if (all)
		sources_sample(JVM_SOURCE_ALLOC, size, leaf, doubled);
	if (live)
		live_sample(env, object, size, leaf, live_mean);
}

static bool alloc_ask_vm(jvmtiEnv *ti)
{
	void *cb[JVMTI11_NR_EVENTS];
	jvmtiCapabilities want;

	memset(&want, 0, sizeof(want));
	memset(cb, 0, sizeof(cb));
	cb[JVMTI11_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_alloc;
	cb[JVMTI_EVENT_GARBAGE_COLLECTION_FINISH - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)live_collected;
	want.can_generate_garbage_collection_events = wants_live;
	return jvmti11_want_object_alloc(ti, &want) &&
	       (*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE &&
	       (*ti)->SetEventCallbacks(ti, (const jvmtiEventCallbacks *)cb, sizeof(cb)) ==
		       JVMTI_ERROR_NONE &&
	       jvmti11_set_heap_sampling(ti, vm_mean) &&
	       (!wants_live || (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE,
			JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL) == JVMTI_ERROR_NONE) &&
	       (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)JVMTI11_OBJECT_ALLOC, NULL) ==
		       JVMTI_ERROR_NONE;
}

static void alloc_give_back(jvmtiEnv *ti)
{
	jvmtiCapabilities have;

	if ((*ti)->GetCapabilities(ti, &have) == JVMTI_ERROR_NONE)
		(*ti)->RelinquishCapabilities(ti, &have);
}

/* Return the distance to ask for, from which that of the user is chosen. */
static uint64_t distance_of(uint64_t interval)
{
	uint64_t finest = FINE_INTERVAL;

	if (vm.major && *vm.major >= FIRST_RIGHT)
		return interval;
	if (!vm.major || *vm.major < FIRST_FROM_END)
		finest = LESS_FINE_INTERVAL;
	return interval < finest ? interval : finest;
}

/* Turn on samples of all allocated objects, and of live ones (live.h). NULL: not wanted. */
static bool alloc_turn_on(JavaVM *jvm, const uint64_t *all, const uint64_t *live)
{
	uint64_t interval = !live || (all && *all < *live) ? *all : *live;

	wants_all = all;
	wants_live = live && live_on(*live);
	if (!wants_all && !wants_live)
		return false;

	if (!env_of_ours && (*jvm)->GetEnv(jvm, (void **)&env_of_ours, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	mean = all ? *all : 0;
	vm_mean = distance_of(interval);
	is_on = alloc_ask_vm(env_of_ours);
	if (!is_on)
		alloc_give_back(env_of_ours);
	return is_on;
}

bool alloc_collect(void)
{
	return is_on && (*env_of_ours)->ForceGarbageCollection(env_of_ours) == JVMTI_ERROR_NONE;
}

static bool alloc_turn_off(JNIEnv *env)
{
	jvmtiEnv *ti = env_of_ours;

	if (!is_on)
		return true;
	is_on = false;
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, (jvmtiEvent)JVMTI11_OBJECT_ALLOC, NULL);
	if (wants_live)
		(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
						NULL);
	jvmti11_set_heap_sampling(ti, JVMTI11_HEAP_SAMPLING);
	alloc_give_back(ti);
	return true;
}

/*
 * Collect first if each object is a sample: that retires the threads' buffers, which would be filled without
 * events.
 */
static void collect_at_first(JNIEnv *env)
{
	if (is_on && vm_mean == 0)
		(*env_of_ours)->ForceGarbageCollection(env_of_ours);
}

static const char no_objects[] = "this JVM does not report allocations, or reports them to another agent";

static const char *live_begins(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	uint64_t all;
	bool wanted = part_is_wanted(JVM_SOURCE_ALLOC, &all);

	if (!alloc_turn_on(jvm, wanted ? &all : NULL, &interval))
		return no_objects;
	if (env)
		live_watch(env);
	return NULL;
}

/* Return whether live objects are wanted, too: then the VM was asked for both. */
static bool comes_with_live(void)
{
	uint64_t interval;

	return part_is_wanted(JVM_SOURCE_LIVE, &interval);
}

static const char *all_begins(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	if (!(comes_with_live() ? is_on : alloc_turn_on(jvm, &interval, NULL)))
		return no_objects;
	allocated_on();
	if (env)
		allocated_tell();
	return NULL;
}

/* Start samples; earlier allocations are not sampled. */
static void alloc_vm_is_up(JNIEnv *env)
{
	collect_at_first(env);
	allocated_tell();
}

static void alloc_vm_ends(JNIEnv *env)
{
	allocated_vm_ends();
}

static bool all_end(JNIEnv *env)
{
	allocated_off();
	return alloc_turn_off(env);
}

const struct part live_part = {
	.source = JVM_SOURCE_LIVE, .on = live_begins, .up = live_watch, .death = live_death, .off = live_off,
	.stays = part_stays,
};

const struct part alloc_part = {
	.source = JVM_SOURCE_ALLOC, .on = all_begins, .up = alloc_vm_is_up, .tell = allocated_tell,
	.death = alloc_vm_ends, .off = all_end, .stays = comes_with_live,
};
