/* SPDX-License-Identifier: MIT */
/*
 * jvmti11.h - what JVMTI has since JDK 11 and headers older than that lack: samples of allocated objects.
 */
#ifndef AGENT_JVMTI11_H
#define AGENT_JVMTI11_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	JVMTI11_OBJECT_ALLOC = 86,	/* the event */
	JVMTI11_NR_EVENTS = 64,		/* room for all callbacks */
	JVMTI11_HEAP_SAMPLING = 512 << 10,	/* bytes, when nobody has set it */
	JVMTI11_CAN_OBJECT_ALLOC = 43,	/* bit of the capability */
	JVMTI11_SET_INTERVAL = 155,	/* place of the function */
};

/* Adds the capability to *want; false: this VM does not have it for us. */
static inline bool jvmti11_want_object_alloc(jvmtiEnv *ti, jvmtiCapabilities *want)
{
	const uint8_t bit = 1 << JVMTI11_CAN_OBJECT_ALLOC % 8;
	uint8_t have[sizeof(jvmtiCapabilities)] = { 0 };

	if ((*ti)->GetPotentialCapabilities(ti, (jvmtiCapabilities *)have) != JVMTI_ERROR_NONE ||
	    !(have[JVMTI11_CAN_OBJECT_ALLOC / 8] & bit))
		return false;
	((uint8_t *)want)[JVMTI11_CAN_OBJECT_ALLOC / 8] |= bit;
	return true;
}

/* Set the bytes between two samples of a thread; 0: every object. Needs the capability. */
static inline bool jvmti11_set_heap_sampling(jvmtiEnv *ti, uint64_t interval)
{
	typedef jvmtiError JNICALL set_fn(jvmtiEnv *ti, jint interval);
	set_fn *set = ((set_fn *const *)*ti)[JVMTI11_SET_INTERVAL];

	return set(ti, (jint)interval) == JVMTI_ERROR_NONE;
}

#endif
