// SPDX-License-Identifier: MIT
#include "agent/hashes.h"
#include "agent/ring.h"
#include "agent/sources.h"

static struct hashes leaves;
static struct sys_lock lock;	/* of them */
static uint32_t nr_leaves;

/* Its interval; false: the source is not asked for. */
static bool is_wanted(enum jvm_source source, uint64_t *interval)
{
	const struct jvm_ctl *ctl = ring_ctl();

	*interval = ctl->intervals[source];
	return ctl->sources >> source & 1;
}

static uint32_t new_leaf(enum jvm_leaf_kind kind, const char *name, size_t len)
{
	const struct jvm_leaf r = {
		.time_ns = sys_now(), .leaf = ++nr_leaves, .kind = kind, .name = name, .name_len = len,
	};

	send_leaf(NULL, &r);
	return r.leaf;
}

uint32_t sources_leaf(enum jvm_leaf_kind kind, const char *name, size_t len)
{
	struct hashes_key k = HASHES_KEY;
	uint32_t *at, leaf = 0;
	char c = kind;

	hashes_text(&k, &c, 1);
	hashes_text(&k, name, len);
	sys_lock(&lock);
	at = hashes_put(&leaves, &k);
	if (at && !*at)
		*at = new_leaf(kind, name, len);
	if (at)
		leaf = *at;
	sys_unlock(&lock);
	return leaf;
}

static void refuse(enum jvm_source source, const char *why)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = source, .why = why, .why_len = str_len(why),
	});
}

void sources_on(JavaVM *jvm, JNIEnv *env)
{
	uint64_t interval;

	sys_lock(&lock);
	hashes_forget(&leaves);		/* another recorder, who knows no names */
	sys_unlock(&lock);
	if (is_wanted(JVM_SOURCE_ALLOC, &interval) && !alloc_on(jvm, interval))
		refuse(JVM_SOURCE_ALLOC, "this JVM does not tell of allocations, or tells another agent of them");
	if (is_wanted(JVM_SOURCE_LOCK, &interval) && !lock_on(jvm, env, interval))
		refuse(JVM_SOURCE_LOCK, "this JVM does not tell of waits for monitors");
}

void sources_off(JNIEnv *env)
{
	lock_off(env);
	alloc_off();
}
