// SPDX-License-Identifier: MIT
/* natives.c - the native halves of the classes for Java: libarcprof-java.so. */
#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/arcprof.h"
#include "api/native.h"
#include "api/recorder.h"
#include "base/fields.h"

/* ---- arcprof.ThreadTime ---- */

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

/* ---- arcprof.Event ---- */

JNIEXPORT jlong JNICALL Java_arcprof_Event_define(JNIEnv *env, jclass type, jlong name, jlong fields)
{
	const char *n = (const void *)(intptr_t)name, *f = (const void *)(intptr_t)fields;

	return (jlong)(intptr_t)arcprof_define(n, f);
}

static void api_event_emit(jlong kind, jlong vthread, jlong begun, const void *values, jint len)
{
	if (kind)
		arcprof_emit_values((const void *)(intptr_t)kind, (uint64_t)vthread, (uint64_t)begun, values,
				    (size_t)len);
}

/* Emit without the cost of finding and locking an array. */
JNIEXPORT void JNICALL Java_arcprof_Event_emitShort(JNIEnv *env, jclass type, jlong kind, jlong vthread,
						    jlong begun, jint len, jlong a, jlong b, jlong c, jlong d,
						    jlong e, jlong f, jlong g, jlong h)
{
	const jlong words[] = { a, b, c, d, e, f, g, h };

	if (len >= 0 && (size_t)len <= sizeof(words))
		api_event_emit(kind, vthread, begun, words, len);
}

JNIEXPORT void JNICALL Java_arcprof_Event_emitLong(JNIEnv *env, jclass type, jlong kind, jlong vthread,
						   jlong begun, jbyteArray values, jint len)
{
	jbyte copy[FIELDS_MAX_BYTES];

	if (len < 0 || (size_t)len > sizeof(copy))
		return;
	(*env)->GetByteArrayRegion(env, values, 0, len, copy);
	if (!(*env)->ExceptionCheck(env))
		api_event_emit(kind, vthread, begun, copy, len);
}

/* ---- arcprof.Label ---- */

JNIEXPORT jboolean JNICALL Java_arcprof_Label_isOn(JNIEnv *env, jclass type)
{
	return arcprof_recorder_of(JVM_TELL_LABEL) != NULL;
}

JNIEXPORT jint JNICALL Java_arcprof_Label_tid(JNIEnv *env, jclass type)
{
	return (jint)arcprof_recorder_tid();
}

JNIEXPORT void JNICALL Java_arcprof_Label_put(JNIEnv *env, jclass type, jint tid, jlong vthread, jint nr,
					      jbyteArray text)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_LABEL);
	jsize len = (*env)->GetArrayLength(env, text);
	jbyte copy[ARCPROF_LABELS_BYTES];

	if (!m || len > (jsize)sizeof(copy))
		return;
	(*env)->GetByteArrayRegion(env, text, 0, len, copy);
	arcprof_label_put(m, (uint32_t)nr, (uint64_t)vthread, (const char *)copy, (size_t)len);
}

/* ---- arcprof.Mark ---- */

JNIEXPORT jobject JNICALL Java_arcprof_Mark_recorder(JNIEnv *env, jclass type)
{
	return (*env)->NewDirectByteBuffer(env, &arcprof_recorder, sizeof(arcprof_recorder));
}

/* Should the pointer become another one meanwhile, the caller asks again. */
JNIEXPORT jlong JNICALL Java_arcprof_Mark_find(JNIEnv *env, jclass type)
{
	const struct arcprof_recorder *m;

	arcprof_recorder_find();
	m = load_acquire(&arcprof_recorder);
	if (!m || load_acquire(&m->state) == RECORDER_UNKNOWN)
		return 0;
	return m->state == RECORDER_ON && m->tell & JVM_TELL_MARK ? (jlong)(intptr_t)m : -(jlong)(intptr_t)m;
}

/* 0, with an exception pending: out of memory. */
JNIEXPORT jlong JNICALL Java_arcprof_Mark_keep(JNIEnv *env, jclass type, jstring name)
{
	const char *text = name ? (*env)->GetStringUTFChars(env, name, NULL) : NULL;
	char *copy = strdup(text ? text : "null");

	if (text)
		(*env)->ReleaseStringUTFChars(env, name, text);
	return (jlong)(intptr_t)copy;
}

JNIEXPORT void JNICALL Java_arcprof_Mark_mark(JNIEnv *env, jclass type, jlong vthread, jlong name,
						  jlong value)
{
	if (name)
		arcprof_mark_of((uint64_t)vthread, (const char *)(intptr_t)name, (uint64_t)value);
}

JNIEXPORT jlong JNICALL Java_arcprof_Mark_phaseBegin(JNIEnv *env, jclass type)
{
	return (jlong)arcprof_phase_begin();
}

JNIEXPORT void JNICALL Java_arcprof_Mark_phaseEnd(JNIEnv *env, jclass type, jlong vthread, jlong begun,
						      jlong name)
{
	if (name)
		arcprof_phase_of((uint64_t)vthread, (uint64_t)begun, (const char *)(intptr_t)name);
}

/* ---- arcprof.InstructionTrace ---- */

JNIEXPORT jint JNICALL Java_arcprof_InstructionTrace_on(JNIEnv *env, jclass type)
{
	return arcprof_itrace_on();
}

JNIEXPORT jint JNICALL Java_arcprof_InstructionTrace_off(JNIEnv *env, jclass type)
{
	return arcprof_itrace_off();
}
