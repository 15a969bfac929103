/* SPDX-License-Identifier: MIT */
/* virtual.h - waits of virtual threads that are on no carrier: what the files of that source share. */
#ifndef AGENT_VIRTUAL_H
#define AGENT_VIRTUAL_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* The way in which it left its carrier, in the terms of java.lang.VirtualThread. */
enum virtual_state {
	VIRTUAL_MOUNTED,
	VIRTUAL_PARKED,
	VIRTUAL_TIMED,		/* parked for a time */
	VIRTUAL_BLOCKED,	/* for a monitor, or in Object.wait(): JDK 24 and later */
	VIRTUAL_YIELDED,	/* it could go on at once */
	VIRTUAL_NR_STATES
};

/* what a thread waits for, as in struct jvm_virtual_wait */
struct virtual_reason {
	uint32_t reason;	/* enum wall_reason */
	uint32_t leaf;		/* 0: none */
};

/* Find the reason from its frames, innermost first; thread: the one that waits. */
struct virtual_reason virtual_reason(jvmtiEnv *ti, JNIEnv *env, jthread thread, enum virtual_state state,
				     const jvmtiFrameInfo *frames, jint nr);

#endif
