/* SPDX-License-Identifier: MIT */
/*
 * mounts.h - events of virtual threads that come to a carrier and leave it.
 *
 * Source: JDK 21+ prims/jvmtiExport.cpp (post_vthread_mount, post_vthread_unmount): extension events; their
 * indices differ from version to version, their names do not.
 */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

#include <jvmti.h>
#include <stdarg.h>
#include <stdbool.h>

/* for headers older than JDK 21 */
enum {
	CAN_SUPPORT_VIRTUAL_THREADS = 44,	/* the capability's bit */
	VIRTUAL_THREAD_END = 88,		/* the event, which comes after the last unmount */
	NR_JVMTI_EVENTS = 64,			/* callbacks, whatever the headers have */
};

struct mounts {
	jint mount, unmount;		/* events; -1: this VM has none */
};

/* Find the events and add the capability to *want; return false if this VM has none. */
bool mounts_find(jvmtiEnv *ti, jvmtiCapabilities *want, struct mounts *m);
/* Enable the callbacks. Must be called before events are enabled, which is done as for all others. */
bool mounts_enable(jvmtiEnv *ti, const struct mounts *m, jvmtiExtensionEvent on_mount,
		   jvmtiExtensionEvent on_unmount);
void mounts_disable(jvmtiEnv *ti, const struct mounts *m);

/* Take the thread, and its JNIEnv, from the arguments of such an event, behind ti; in its callback. */
#define MOUNTS_ARGUMENTS(ti, env, thread)               \
	do {                                            \
		va_list mounts_ap;                      \
		va_start(mounts_ap, ti);                \
		(env) = va_arg(mounts_ap, JNIEnv *);    \
		(thread) = va_arg(mounts_ap, jthread);  \
		va_end(mounts_ap);                      \
	} while (0)

#endif
