// SPDX-License-Identifier: MIT
/* event.c - the native half of arcprof.Event. */
#include <jni.h>
#include <stdint.h>

#include "api/arcprof.h"
#include "api/native.h"
#include "base/fields.h"

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
