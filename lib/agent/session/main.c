// SPDX-License-Identifier: MIT
/*
 * main.c - where the JVM comes in. Agent_OnLoad always lets the JVM start, Agent_OnAttach always leaves it
 * as it was: whatever is missing - recorder, version, memory, a field of HotSpot's - leaves the agent
 * loaded and inert.
 */
#include "agent/agent.h"
#include "agent/session/journal.h"
#include "agent/session/recording.h"
#include "agent/sys.h"
#include "jvm/roster.h"

/*
 * Make the pages of a stack present by reading them. The kernel copies a sampled stack up to the first page
 * that is not present. The thread that creates the JVM has such pages: create_vm() has large arrays that it
 * does not use at first.
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

/* Start without a recorder: "file=..." says what to record, an empty option leaves that to the program. */
static void start_alone(JavaVM *jvm, JNIEnv *env, const char *option)
{
	struct message why = { .len = 0 };
	static struct options w;

	recording_offer(jvm, env);
	if (!option || !*option)
		return;
	if (!options_parse(&w, option, &why) || !session_record(jvm, env, &w, &why))
		journal_say(&why);
}

static bool is_alone(const char *option)
{
	return !option || !*option || options_are_these(option);
}

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options,
									  void *reserved)
{
	touch_stack();
	if (is_alone(options))
		start_alone(jvm, NULL, options);
	else
		session_start(jvm, NULL, options);
	return JNI_OK;
}

static bool is_option(const char *options, const char *what)
{
	return options && str_len(options) > str_len(what) && !memcmp(options, what, str_len(what));
}

/*
 * Called for each recorder that attaches; for a dump of threads, with "threads:" and a path; and for a heap
 * dump, the only one that needs an answer, with "roster:" and more (jvm/roster.h).
 */
__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *jvm, char *options,
									    void *reserved)
{
	JNIEnv *env;

	if ((*jvm)->GetEnv(jvm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return JNI_OK;
	if (is_option(options, JVM_ROSTER_OPTION))
		return session_roster(options + str_len(JVM_ROSTER_OPTION));
	if (is_option(options, JVM_DUMP_OPTION))
		session_dump(jvm, env, options + str_len(JVM_DUMP_OPTION));
	else if (is_alone(options))
		start_alone(jvm, env, options);
	else
		session_start(jvm, env, options);
	return JNI_OK;
}
