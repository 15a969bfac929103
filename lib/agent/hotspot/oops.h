/* SPDX-License-Identifier: MIT */
/*
 * oops.h - references in the Java heap, read from outside: where a field is, where an object is now.
 *
 * Collectors that stop the program move objects only then; those that move them while threads run (ZGC,
 * Shenandoah) say in each reference or object whether it has moved. What is not known to be at its
 * place is not read. Nothing here is a handle: what was read is true when nothing was moved meanwhile.
 */
#ifndef AGENT_OOPS_H
#define AGENT_OOPS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Learns how references are kept; false: in a way that we do not know. Not in a signal handler. */
bool oops_init(void);
/*
 * Compares what is read of a running platform thread's Thread with what JNI says. False: it is not the same,
 * or is kept in an unknown way, and oops_init() returns false from now on. The same.
 */
bool oops_try(JNIEnv *env, jobject thread);
/* Return the offset of an instance field, or -1. Restrictions as above. */
int oops_field(JNIEnv *env, jclass cls, const char *name, const char *sig);
/*
 * Return the size of an instance of a class, given by a local reference; -1: not known. Restrictions as
 * above.
 */
int oops_instance_bytes(jclass cls);
/* Return a local reference, or NULL. Restrictions as above. */
jclass oops_class(JNIEnv *env, const char *name);

/* Return whether the collector moves objects while threads run. */
bool oops_move(void);
/* Return a number that changes whenever ZGC's objects have moved; 0: another collector. */
uintptr_t oops_moment(void);
/*
 * Return whether no collection moves objects just now, with the number of collections in *nr. If it is
 * still true later, with the same number, a collector that stops the program has moved nothing meanwhile.
 * Returns false also if this VM does not tell.
 */
bool oops_still(uint32_t *nr);
/*
 * Return whether oops_still() can be true: not with Shenandoah, which does not report when nothing was moved.
 */
bool oops_stand(void);
/* Return whether a collection has stopped the program. */
bool oops_collecting(void);

/* Return the object whose reference is stored at p, which is mapped; 0 also if its place is unknown. */
uintptr_t oops_in(const char *p);
/* The same at an address that may be unmapped: in an object, and in a root of the VM's. */
uintptr_t oops_load(uintptr_t p);
uintptr_t oops_root(uintptr_t p);
/* Follows what a field of a JavaThread has: a root's address or, before JDK 16, the reference itself. */
uintptr_t oops_of_thread(uintptr_t word);
/* Return the Klass* of an object; 0: not known. */
uintptr_t oops_klass(uintptr_t oop);

#endif
