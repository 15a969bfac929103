// SPDX-License-Identifier: MIT
/*
 * main.c - Agent_OnLoad: always lets the JVM start. Whatever is missing - recorder, version,
 * memory, a field of HotSpot's - leaves the agent loaded and inert.
 */
#include "agent/agent.h"
#include "agent/flow.h"
#include "agent/names.h"
#include "agent/ring.h"
#include "agent/vm.h"

static void start(JavaVM *jvm, const char *path)
{
	jvmtiEnv *ti;
	int flags;

	if (!path || (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return;
	vm_init((uintptr_t)(*jvm)->GetEnv);
	if (!vm.ok)
		return;
	flags = link_connect(path);
	if (flags < 0)
		return;
	sys_init_clock();
	vm_init_threads();
	if (!names_init() || !sample_init() || !events_init(jvm, ti))
		return;
	if (flags & JVM_CALLFLOW)
		flow_init(jvm);
	if (flags & JVM_SAMPLE && !sample_install())
		return;
	link_ready_and_wait();
}

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options,
									  void *reserved)
{
	start(jvm, options);
	return JNI_OK;
}
