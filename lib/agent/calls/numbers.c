// SPDX-License-Identifier: MIT
/* numbers.c - from a method's names to its number (numbers.h). */
#include "agent/calls/numbers.h"
#include "agent/hashes.h"
#include "agent/sys.h"

static struct hashes numbers;
static struct sys_lock lock;	/* of them */

void numbers_forget(void)
{
	sys_lock(&lock);
	hashes_forget(&numbers);
	sys_unlock(&lock);
}

static void cut(struct names_text *t)
{
	if (t->len > JVM_MAX_STRING)
		t->len = JVM_MAX_STRING;
}

static void cut_all(struct names_method *m)
{
	cut(&m->class_name);
	cut(&m->name);
	cut(&m->sig);
	cut(&m->source);
}

uint32_t numbers_get(struct names_method *m)
{
	struct hashes_key k = names_key(m);

	cut_all(m);
	return names_number(&numbers, &lock, &k, m);
}

uint32_t numbers_find(const struct names_method *m)
{
	struct hashes_key k = names_key(m);
	uint32_t number;

	sys_lock(&lock);
	number = hashes_get(&numbers, &k);
	sys_unlock(&lock);
	return number;
}

void numbers_refused(struct names_method *m, const char *why)
{
	cut_all(m);
	send_refused(NULL, &(struct jvm_refused){
		.time_ns = sys_now(),
		.class_name = m->class_name.s, .class_len = m->class_name.len,
		.name = m->name.s, .name_len = m->name.len,
		.sig = m->sig.s, .sig_len = m->sig.len,
		.why = why, .why_len = str_len(why),
	});
}
