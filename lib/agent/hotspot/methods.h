/* SPDX-License-Identifier: MIT */
/*
 * methods.h - methods by their names, and by what JNI and JVMTI call them. A jmethodID is the address of a
 * pointer to the Method up to JDK 25 and a number since, so it is followed only where the names behind it are
 * those that were asked for. Not for signal handlers.
 */
#ifndef AGENT_METHODS_H
#define AGENT_METHODS_H

#include <jvmti.h>
#include <stdint.h>

/* Once, before all else. */
void methods_init(JavaVM *jvm);
/* Forget the names that were sent, for another recorder. */
void methods_forget(void);

/*
 * Return the Method of a class that is loaded for good by the boot loader, with this id; 0: it is not
 * where this agent looks. The class's name as in class files.
 */
uintptr_t methods_find(jmethodID id, const char *class_name, const char *name, const char *sig);

/*
 * Return the number of a method that has an id, sent to the recorder; 0: it is gone, or there is no
 * memory.
 */
uint32_t methods_number(jvmtiEnv *ti, jmethodID id);

#endif
