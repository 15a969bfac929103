// SPDX-License-Identifier: MIT
/*
 * objects.c - exact callflow: each allocated object and its class, whoever allocates it (flow.h).
 *
 * JVMTI samples allocations at an interval in bytes; with an interval of 0 it reports each. Objects that the
 * compiler eliminates are not allocated, and so not counted.
 *
 * Source: JVMTI 11, SampledObjectAlloc and SetHeapSamplingInterval.
 */
#include "agent/calls/flow.h"
#include "agent/hashes.h"
#include "agent/jvmti11.h"
#include "agent/leaf.h"
#include "agent/sources/sources.h"
#include "agent/sys.h"
#include "base/atomic.h"

enum { NR_CLASSES = 1 << 12 };

/*
 * Leaves of classes by the hash of their signatures, so that threads need not wait for each other. Any thread
 * reads and writes them at any time: the hash is stored mixed with the leaf, so that words of two writers
 * match no class.
 */
static struct {
	uint64_t h[2], leaf;
} classes[NR_CLASSES];

static bool wanted;		/* and to be had */

void objects_want(jvmtiEnv *ti, jvmtiCapabilities *want)
{
	wanted = callflow_wants_metric(CALLFLOW_ALLOC_OBJECTS) && jvmti11_want_object_alloc(ti, want);
}

static uint64_t mixed(uint64_t hash, uint64_t leaf)
{
	return hash ^ leaf * 0x9e3779b97f4a7c15ull;
}

static uint32_t leaf_of(const char *sig)
{
	struct hashes_key k = HASHES_KEY;
	size_t len = str_len(sig), i;
	uint64_t leaf;

	hashes_text(&k, sig, len);
	i = k.h[0] % NR_CLASSES;
	leaf = load_relaxed(&classes[i].leaf);
	if (leaf && load_relaxed(&classes[i].h[0]) == mixed(k.h[0], leaf) &&
	    load_relaxed(&classes[i].h[1]) == mixed(k.h[1], leaf))
		return leaf;
	leaf = leaf_number(JVM_LEAF_CLASS, sig, len);
	store_relaxed(&classes[i].leaf, leaf);
	store_relaxed(&classes[i].h[0], mixed(k.h[0], leaf));
	store_relaxed(&classes[i].h[1], mixed(k.h[1], leaf));
	return leaf;
}

/* Runs on the allocating thread, outside probes, which allocate nothing. */
static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jclass cls,
			     jlong size)
{
	struct callflow_kthread *k = probe_known_kthread(env);
	char *sig = NULL;

	if (!k || !k->cur)
		return;
	(*ti)->GetClassSignature(ti, cls, &sig, NULL);
	callflow_charge_object(k, sig ? leaf_of(sig) : 0, size);
	(*ti)->Deallocate(ti, (unsigned char *)sig);
}

void *objects_on_alloc(void)
{
	return (void *)on_alloc;
}

/*
 * A thread reads the interval when its previous one is over: so it is set before there are threads, and a
 * running JVM cannot have this metric.
 */
void objects_prepare(jvmtiEnv *ti)
{
	wanted = wanted && jvmti11_set_heap_sampling(ti, 0);
}

/* A buffer that a thread already has would be filled without events; a collection retires all buffers. */
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
