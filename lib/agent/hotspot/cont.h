/* SPDX-License-Identifier: MIT */
/*
 * cont.h - the frozen part of a virtual thread's stack.
 *
 * A virtual thread that goes on after it was parked has only its innermost frames on its
 * carrier's stack; the rest stays in the heap, in a chain of jdk.internal.vm.StackChunk. A
 * piece of it is copied, for the collector may move it, and walked as if it were a stack.
 * Collectors that move objects while threads run (ZGC, Shenandoah) say in each reference or object
 * whether it has moved; what is not known to be at its place is not read.
 */
#ifndef AGENT_CONT_H
#define AGENT_CONT_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/hotspot/vm.h"
#include "agent/ring.h"

enum { CONT_WORDS = 4096 };

struct cont_copy {
	uintptr_t parent;		/* the next chunk outwards; may be 0 */
	/* of ZGC's, in which parent was read: between two moments objects move */
	uintptr_t moment;
	uintptr_t pc, sp;		/* of the outermost frame walked so far; sp in words[] */
	uintptr_t end;			/* in words[]: no frame of this chunk begins there */
	uintptr_t words[CONT_WORDS];
};

/* Learns where fields are. Not in a signal handler. */
void cont_init(JNIEnv *env);
/*
 * Return whether that Method is the one by which carriers call virtual threads; false also where the VM
 * exports its code.
 */
bool cont_is_entry(uintptr_t method);

enum cont_result {
	CONT_LOADED,
	CONT_ROOT,		/* the last chunk was walked to its end */
	CONT_LOST,
};

/*
 * Copies the frozen frames of the virtual thread that is mounted on a JavaThread: the first
 * chunk that has any or, next, the one after that in *c.
 */
enum cont_result cont_load(const struct vm_thread *t, struct cont_copy *c, bool next);

/*
 * Return the id of the virtual thread that is mounted on a JavaThread; 0: none, or unknown in this VM. Its
 * name goes to the ring before the id is returned for the first time, where it can be read.
 */
uint64_t cont_vthread(const struct vm_thread *t, struct jvm_ring *ring);
/*
 * Return the id of the thread, virtual or not, that a JavaThread runs for Java, which may have ended
 * meanwhile; 0: not known, as while objects are moved.
 */
uint64_t cont_java_id(uintptr_t java_thread);
/* Send the name of any virtual thread, where JNI may be used; string: the name. */
void cont_tell_name(JNIEnv *env, uint64_t id, jstring string, struct jvm_ring *ring);
/* Return whether its name was sent. */
bool cont_is_named(uint64_t id);
/* Forget which names were sent, for another recorder. */
void cont_forget_names(void);

#endif
