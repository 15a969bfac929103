// SPDX-License-Identifier: MIT
/*
 * main.c - where the JVM comes in. Agent_OnLoad always lets the JVM start, Agent_OnAttach always leaves it
 * as it was: whatever is missing - recorder, version, memory, a field of HotSpot's - leaves the agent
 * loaded and inert.
 */
#include "agent/agent.h"
#include "agent/sys.h"

/*
 * The kernel copies a sampled stack up to the first page that is not there, and the thread that
 * makes the JVM has such pages in the middle: create_vm() has large arrays that it does not use at
 * first. Reading makes them present.
 */
static void touch_stack(void)
{
	enum { PAGE = 4096, NR_PAGES = 16 };
	uintptr_t at = (uintptr_t)__builtin_frame_address(0);
	char c;
	int i;

	for (i = 0; i < NR_PAGES && sys_peek_all(&c, at, 1); i++, at += PAGE)
		;
}

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options,
									  void *reserved)
{
	touch_stack();
	session_start(jvm, NULL, options);
	return JNI_OK;
}

/* Called again by each recorder that attaches, and by who wants to see the threads: "threads:" and a path. */
__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *jvm, char *options,
									    void *reserved)
{
	static const char threads[] = JVM_DUMP_OPTION;
	const size_t len = sizeof(threads) - 1;
	JNIEnv *env;

	if ((*jvm)->GetEnv(jvm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return JNI_OK;
	if (options && str_len(options) > len && !memcmp(options, threads, len))
		session_dump(jvm, env, options + len);
	else
		session_start(jvm, env, options);
	return JNI_OK;
}
