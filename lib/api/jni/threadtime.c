// SPDX-License-Identifier: MIT
/* threadtime.c - the native half of arcprof.ThreadTime: libarcprof-java.so. */
#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "api/arcprof.h"

enum { NR_VALUES = 7 + ARCPROF_NR_COUNTERS };	/* as in ThreadTime.java */

static pthread_key_t key;
static __thread struct arcprof_thread *self;

static void close_thread(void *t)
{
	arcprof_thread_close(t);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	if (pthread_key_create(&key, close_thread))
		return JNI_ERR;
	return arcprof_init(NULL) ? JNI_ERR : JNI_VERSION_1_8;
}

static void api_threadtime_fail(JNIEnv *env, const char *what, int code)
{
	jclass type = (*env)->FindClass(env, "java/lang/IllegalStateException");
	char text[128];

	snprintf(text, sizeof(text), "%s (%s): %s", what, arcprof_backend(), strerror(code));
	if (type)
		(*env)->ThrowNew(env, type, text);
}

/*
 * Return the thread's values, which are opened when it first asks and closed when it ends; NULL: an
 * exception is pending.
 */
static struct arcprof_thread *this_thread(JNIEnv *env)
{
	if (self)
		return self;
	self = arcprof_thread_open();
	if (!self)
		api_threadtime_fail(env, "this thread is not measured", errno);
	else
		pthread_setspecific(key, self);
	return self;
}

static void give(JNIEnv *env, jlongArray array, const struct arcprof_values *v)
{
	jlong out[NR_VALUES] = { v->time_ns, v->irq_time_ns, v->dispatches, v->interrupts, v->switches,
		v->migrations,
				 v->faults };
	int i;

	for (i = 0; i < 7; i++)
		if (!(v->known & ARCPROF_KNOW_TIME << i))
			out[i] = -1;
	for (i = 0; i < ARCPROF_NR_COUNTERS; i++)
		out[7 + i] = v->known & ARCPROF_KNOW_COUNTER << i ? (jlong)v->counter[i] : -1;
	(*env)->SetLongArrayRegion(env, array, 0, NR_VALUES, out);	/* throws when it is too short */
}

JNIEXPORT jstring JNICALL Java_arcprof_ThreadTime_backend(JNIEnv *env, jclass type)
{
	return (*env)->NewStringUTF(env, arcprof_backend());
}

JNIEXPORT jlong JNICALL Java_arcprof_ThreadTime_nanos(JNIEnv *env, jclass type)
{
	struct arcprof_thread *t = this_thread(env);

	return t ? (jlong)arcprof_thread_time_ns(t) : 0;
}

JNIEXPORT void JNICALL Java_arcprof_ThreadTime_read(JNIEnv *env, jclass type, jlongArray array)
{
	struct arcprof_thread *t = this_thread(env);
	struct arcprof_values v;
	int r = t ? arcprof_thread_read(t, &v) : 0;

	if (r)
		api_threadtime_fail(env, "the thread's values cannot be read", -r);
	else if (t)
		give(env, array, &v);
}

JNIEXPORT void JNICALL Java_arcprof_ThreadTime_process(JNIEnv *env, jclass type, jlongArray array)
{
	struct arcprof_values v;
	int r = arcprof_process_read(0, &v);

	if (r)
		api_threadtime_fail(env, "the process's values cannot be read", -r);
	else
		give(env, array, &v);
}
