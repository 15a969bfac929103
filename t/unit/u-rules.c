// SPDX-License-Identifier: GPL-2.0-or-later
/* u-rules.c - rules that say which events are kept: what they mean, and what is wrong with others. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/rules.h"
#include "collect/parts/sources.h"
#include "unit.h"

static const struct rule_event lock = { "lock", NULL }, alloc = { "alloc", NULL }, pause = { "pause", "gc" },
	cpu = { "cpu-clock", "cpu" };

static struct rules listed(const char *text)
{
	struct rules r = { 0 };
	struct err e = { 0 };

	CHECK(!rules_list(&r, text, &e));
	return r;
}

TEST(rules_of_a_list_are_exceptions_to_those_before_them)
{
	struct rules r = listed("thread=http-*,-thread=http-1,thread=http-1?");

	CHECK(rules_want(&r, RULE_THREAD, &lock, "http-2"));
	CHECK(!rules_want(&r, RULE_THREAD, &lock, "http-1"));
	CHECK(rules_want(&r, RULE_THREAD, &lock, "http-12"));
	CHECK(!rules_want(&r, RULE_THREAD, &lock, "main"));
	CHECK(rules_want(&r, RULE_CLASS, &lock, "main"));
	CHECK(rules_want_length(&r, &lock, 1));
	rules_release(&r);
	r = listed("-thread=a*,+thread=ab");
	CHECK(rules_want(&r, RULE_THREAD, &lock, "b"));
	CHECK(!rules_want(&r, RULE_THREAD, &lock, "ac"));
	CHECK(rules_want(&r, RULE_THREAD, &lock, "ab"));
	rules_release(&r);
}

TEST(rules_of_one_event_say_nothing_of_others)
{
	struct rules r = listed("lock>1ms,alloc:class=byte[],gc<2s,-gc:thread=x");

	CHECK(!rules_want_length(&r, &lock, 1000000));
	CHECK(rules_want_length(&r, &lock, 1000001));
	CHECK(rules_want_length(&r, &alloc, 0));
	CHECK(rules_want_length(&r, &pause, 1999999999));
	CHECK(!rules_want_length(&r, &pause, 2000000000));
	CHECK(rules_want(&r, RULE_CLASS, &alloc, "byte[]"));
	CHECK(!rules_want(&r, RULE_CLASS, &alloc, "byte[][]"));
	CHECK(rules_want(&r, RULE_CLASS, &lock, "java.lang.Object"));
	CHECK(!rules_want(&r, RULE_THREAD, &pause, "x"));
	CHECK(rules_want(&r, RULE_THREAD, &cpu, "x"));
	CHECK(rules_want(&r, RULE_EVENT, &cpu, NULL));
	CHECK(rules_concern(&r, RULE_LENGTH, &lock) && !rules_concern(&r, RULE_LENGTH, &cpu));
	rules_release(&r);
	/* a pause is of all threads */
	r = listed("thread=x,kind=virtual,-group=system");
	CHECK(rules_want(&r, RULE_THREAD, &pause, "VM Thread") && !rules_want(&r, RULE_THREAD, &cpu, "VM Thread"));
	CHECK(rules_want(&r, RULE_KIND, &pause, "platform") && !rules_want(&r, RULE_KIND, &cpu, "platform"));
	CHECK(rules_want(&r, RULE_GROUP, &pause, "system") && !rules_want(&r, RULE_GROUP, &cpu, "system"));
	rules_release(&r);
	r = listed("cpu,gc");
	CHECK(rules_want(&r, RULE_EVENT, &cpu, NULL) && rules_want(&r, RULE_EVENT, &pause, NULL));
	CHECK(!rules_want(&r, RULE_EVENT, &lock, NULL));
	rules_release(&r);
	r = listed("class=java/util/*Map");
	CHECK(rules_want(&r, RULE_CLASS, &alloc, "java.util.TreeMap"));
	rules_release(&r);
}

static void line(struct rules *r, enum rule_of of, bool keep, const char *text)
{
	struct err e = { 0 };

	CHECK(!rules_line(r, of, keep, text, strlen(text), &e));
}

TEST(rules_of_a_file_are_asked_in_their_order_after_the_list)
{
	struct rules r = { 0 };
	struct err e = { 0 };
	struct buf b = BUF_INIT;

	line(&r, RULE_THREAD, false, "http-1");
	line(&r, RULE_THREAD, true, "http-*");
	line(&r, RULE_CLASS, false, "alloc:byte[]");
	line(&r, RULE_EVENT, true, "lock>500us");
	CHECK(!rules_want(&r, RULE_THREAD, &lock, "http-1"));
	CHECK(rules_want(&r, RULE_THREAD, &lock, "http-2"));
	CHECK(!rules_want(&r, RULE_THREAD, &lock, "main"));
	CHECK(!rules_want(&r, RULE_CLASS, &alloc, "byte[]"));
	CHECK(rules_want(&r, RULE_CLASS, &alloc, "int[]") && rules_want(&r, RULE_CLASS, &lock, "byte[]"));
	CHECK(!rules_want_length(&r, &lock, 500000));
	CHECK(!rules_list(&r, "-thread=main,thread=http-1", &e));
	CHECK(rules_want(&r, RULE_THREAD, &lock, "http-1"));
	CHECK(!rules_want(&r, RULE_THREAD, &lock, "main"));
	/* what the list says of the rest goes first, too */
	CHECK(rules_want(&r, RULE_THREAD, &lock, "other"));
	rules_text(&r, &b);
	CHECK_STR(b.data, "-thread=main,thread=http-1, exclude thread=http-1, include thread=http-*, "
		  "exclude alloc:class=byte[], include lock>500us");
	buf_release(&b);
	rules_release(&r);
}

TEST(rules_refuse_what_they_do_not_know)
{
	static const char *const bad[] = {
		"", "thread=", ",", "a,", "-", "threads=x", "kind=daemon", "wall>1ms", "lock>", "lock>1parsec",
		"lok>1ms", "alloc>1ms", ":thread=x", "alloc:phase=x", "event=lock", "length=3",
	};
	struct rules r = { 0 };
	struct err e;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(rules_list(&r, bad[i], &e) == -EINVAL);
	rules_release(&r);
	r = listed("cycles:u,sched:sched_switch:thread=x,lock:kind=virtual");
	CHECK_STR(rules_strange_event(&r, 0), "cycles:u");
	CHECK_STR(rules_strange_event(&r, 1), "sched:sched_switch");
	CHECK(!rules_strange_event(&r, 2));
	rules_release(&r);
}

TEST(rules_know_all_sources)
{
	const struct source_kind *k;
	size_t i;

	for (i = 0; (k = source_kind_at(i)); i++) {
		struct rules r;

		if (k->into)		/* its samples are that one's */
			continue;
		r = listed(k->name);
		CHECK(!rules_strange_event(&r, 0));
		rules_release(&r);
	}
}
