// SPDX-License-Identifier: MIT
#include "agent/leaf.h"
#include "agent/live.h"
#include "agent/ring.h"
#include "agent/sources.h"

static uint64_t are_on;			/* of those that can change: bits 1 << enum jvm_source, and */
static uint64_t intervals[JVM_NR_SOURCES];	/* how they are */

/* Its interval; false: the source is not asked for. */
static bool is_wanted(enum jvm_source source, uint64_t *interval)
{
	const struct jvm_ctl *ctl = ring_ctl();

	*interval = ctl->intervals[source];
	return ctl->sources >> source & 1;
}

static void refuse(enum jvm_source source, const char *why)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = source, .why = why, .why_len = str_len(why),
	});
}

static const char no_objects[] = "this JVM does not tell of allocations, or tells another agent of them";

/* With those that live on. */
static void objects_on(JavaVM *jvm, JNIEnv *env)
{
	uint64_t all_interval, live_interval;
	bool all = is_wanted(JVM_SOURCE_ALLOC, &all_interval);
	bool live = is_wanted(JVM_SOURCE_LIVE, &live_interval);

	if (alloc_on(jvm, all ? &all_interval : NULL, live ? &live_interval : NULL)) {
		if (env)
			live_watch(env);
		return;
	}
	if (all)
		refuse(JVM_SOURCE_ALLOC, no_objects);
	if (live)
		refuse(JVM_SOURCE_LIVE, no_objects);
}

static const char *turn_on(enum jvm_source source, JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	if (source == JVM_SOURCE_ALLOC)
		return alloc_on(jvm, &interval, NULL) ? NULL : no_objects;
	if (source == JVM_SOURCE_THROW)
		return throws_turn_on(interval);
	if (source == JVM_SOURCE_VIRTUAL)
		return virtual_on(jvm, env, interval) ? NULL :
		       "this JVM has no virtual threads: JDK 21 and later have";
	return lock_on(jvm, env, interval) ? NULL : "this JVM does not tell of waits for monitors";
}

static void turn_off(enum jvm_source source, JNIEnv *env)
{
	are_on &= ~(1ull << source);
	if (source == JVM_SOURCE_ALLOC)
		alloc_off();
	else if (source == JVM_SOURCE_THROW)
		throws_turn_off();
	else if (source == JVM_SOURCE_VIRTUAL)
		virtual_off(env);
	else
		lock_off(env);
}

static void change(enum jvm_source source, JavaVM *jvm, JNIEnv *env)
{
	uint64_t interval;
	bool wanted = is_wanted(source, &interval);
	const char *why;

	if (are_on >> source & 1 && (!wanted || interval != intervals[source]))
		turn_off(source, env);
	if (!wanted || are_on >> source & 1)
		return;
	why = turn_on(source, jvm, env, interval);
	if (why)
		refuse(source, why);
	else
		are_on |= 1ull << source;
	intervals[source] = interval;
}

/* The VM chooses objects for allocations and for those that live on together: these stay as they are. */
void sources_change(JavaVM *jvm, JNIEnv *env)
{
	uint64_t interval;

	if (!is_wanted(JVM_SOURCE_LIVE, &interval))
		change(JVM_SOURCE_ALLOC, jvm, env);
	change(JVM_SOURCE_LOCK, jvm, env);
	change(JVM_SOURCE_THROW, jvm, env);
	change(JVM_SOURCE_VIRTUAL, jvm, env);
}

void sources_on(JavaVM *jvm, JNIEnv *env)
{
	uint64_t interval;

	leaf_forget_all();
	lock_forget();
	are_on = 0;
	if (is_wanted(JVM_SOURCE_LIVE, &interval))
		objects_on(jvm, env);
	if (is_wanted(JVM_SOURCE_MEMORY, &interval) && !memory_on())
		refuse(JVM_SOURCE_MEMORY, "it was started before the recording");
	sources_change(jvm, env);
}

bool sources_off(JNIEnv *env)
{
	are_on = 0;
	lock_off(env);
	virtual_off(env);
	throws_turn_off();
	alloc_off();
	memory_off();
	return live_off(env);
}
