// SPDX-License-Identifier: MIT
/*
 * main.c - where the JVM comes in. Agent_OnLoad always lets the JVM start, Agent_OnAttach always leaves it
 * as it was: whatever is missing - recorder, version, memory, a field of HotSpot's - leaves the agent
 * loaded and inert.
 */
#include "agent/agent.h"

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options,
									  void *reserved)
{
	session_start(jvm, NULL, options);
	return JNI_OK;
}

/* Called again by each recorder that attaches. */
__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *jvm, char *options,
									    void *reserved)
{
	JNIEnv *env;

	if ((*jvm)->GetEnv(jvm, (void **)&env, JNI_VERSION_1_6) == JNI_OK)
		session_start(jvm, env, options);
	return JNI_OK;
}
