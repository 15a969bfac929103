// SPDX-License-Identifier: MIT
/*
 * sources.c - turns the agent's sources on and off, as the recorder asks: when a session begins, while it
 * lasts, and when it or the VM ends.
 */
#include "agent/leaf.h"
#include "agent/ring.h"
#include "agent/sources/part.h"
#include "agent/sources/rate.h"
#include "agent/sources/sources.h"

#define PART(name) &name##_part,
static const struct part *const parts[] = { PARTS(PART) };
enum { NR_PARTS = sizeof(parts) / sizeof(*parts) };

static uint64_t are_on;				/* bits 1 << enum jvm_source, and */
static uint64_t intervals[JVM_NR_SOURCES];	/* how they are */

static void sources_refuse(enum jvm_source source, const char *why)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = source, .why = why, .why_len = str_len(why),
	});
}

static void sources_change_part(const struct part *p, JavaVM *jvm, JNIEnv *env)
{
	uint64_t interval;
	bool wanted = part_is_wanted(p->source, &interval);
	const char *why;

	if (are_on >> p->source & 1 && (!wanted || interval != intervals[p->source])) {
		are_on &= ~(1ull << p->source);
		p->off(env);
	}
	if (!wanted || are_on >> p->source & 1)
		return;
	why = p->on(jvm, env, interval);
	if (why)
		sources_refuse(p->source, why);
	else
		are_on |= 1ull << p->source;
	intervals[p->source] = interval;
}

void sources_on(JavaVM *jvm, JNIEnv *env)
{
	size_t i;

	leaf_forget_all();
	rate_begin();
	are_on = 0;
	for (i = 0; i < NR_PARTS; i++) {
		if (parts[i]->forget)
			parts[i]->forget();
		sources_change_part(parts[i], jvm, env);
	}
}

void sources_change(JavaVM *jvm, JNIEnv *env)
{
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		if (!parts[i]->stays || !parts[i]->stays())
			sources_change_part(parts[i], jvm, env);
	for (i = 0; i < NR_PARTS; i++)
		if (parts[i]->tell && are_on >> parts[i]->source & 1)
			parts[i]->tell();
}

void sources_go(JNIEnv *env)
{
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		if (parts[i]->go)
			parts[i]->go(env);
}

void sources_up(JNIEnv *env)
{
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		if (parts[i]->up)
			parts[i]->up(env);
}

void sources_death(JNIEnv *env)
{
	size_t i;

	for (i = NR_PARTS; i--;)
		if (parts[i]->death)
			parts[i]->death(env);
}

bool sources_off(JNIEnv *env)
{
	bool ended = true;
	size_t i;

	are_on = 0;
	for (i = NR_PARTS; i--;)
		ended &= parts[i]->off(env);
	return ended;
}
