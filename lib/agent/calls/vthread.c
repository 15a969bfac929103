// SPDX-License-Identifier: MIT
/*
 * vthread.c - virtual threads, which run on one carrier after another (flow.h).
 *
 * HotSpot reports each mount and unmount on the carrier, with the virtual thread. Its call tree is kept in
 * JVMTI's thread-local storage.
 */
#include <stdarg.h>

#include "agent/calls/flow.h"
#include "agent/sources/mounts.h"
#include "agent/sys.h"

/* stands for the tree of a thread that found no room; it is tried again at the next mount */
static struct callflow_thread without_room;

static struct mounts mounts = { -1, -1 };

static void mount(jvmtiEnv *ti, JNIEnv *env, jthread vthread)
{
	struct callflow_kthread *k = probe_kthread(env, false);
	struct callflow_thread *t = NULL;
	bool no_room = false;

	if (!k || (*ti)->GetThreadLocalStorage(ti, vthread, (void **)&t) != JVMTI_ERROR_NONE)
		return;
	if (!t || t == &without_room) {
		t = flow_new_thread(env, vthread, 0, CALLFLOW_THREAD_VIRTUAL | (t ? CALLFLOW_THREAD_LATE : 0),
				    &no_room);
		if (t || no_room)
			(*ti)->SetThreadLocalStorage(ti, vthread, t ? t : &without_room);
	}
	if (no_room)
		callflow_mount_lost(k);
	else
		callflow_mount(k, t);
	bracket_mounted(k);
}

static void JNICALL on_mount(jvmtiEnv *ti, ...)
{
	jthread vthread;
	JNIEnv *env;

	MOUNTS_ARGUMENTS(ti, env, vthread);
	if (!probe_begin())
		return;
	mount(ti, env, vthread);
	probe_end();
}

static void JNICALL on_unmount(jvmtiEnv *ti, ...)
{
	struct callflow_kthread *k;
	JNIEnv *env;
	va_list ap;

	va_start(ap, ti);
	env = va_arg(ap, JNIEnv *);
	va_end(ap);
	if (!probe_begin())
		return;
	k = probe_kthread(env, false);
	if (k) {
		bracket_unmounting(k);
		callflow_unmount(k);
	}
	probe_end();
}

/* Follows the last unmount. */
static void JNICALL on_end(jvmtiEnv *ti, JNIEnv *env, jthread vthread)
{
	struct callflow_thread *t = NULL;

	if (!probe_begin())
		return;
	if ((*ti)->GetThreadLocalStorage(ti, vthread, (void **)&t) == JVMTI_ERROR_NONE && t) {
		(*ti)->SetThreadLocalStorage(ti, vthread, NULL);
		if (t != &without_room)
			callflow_thread_end(t);
	}
	probe_end();
}

void vthread_want(jvmtiEnv *ti, jvmtiCapabilities *want)
{
	mounts_find(ti, want, &mounts);
}

void *vthread_on_end(void)
{
	return (void *)on_end;
}

void vthread_enable(jvmtiEnv *ti)
{
	if (mounts_enable(ti, &mounts, on_mount, on_unmount))
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)VIRTUAL_THREAD_END, NULL);
}
