// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules for exact calls: which methods and threads are wanted. */
#include <string.h>

#include "callflow/filter.h"
#include "collect/calls/callrules.h"
#include "unit.h"

static const struct callflow_rules *compiled(struct callrules *r)
{
	callrules_end(r);
	CHECK(callflow_rules_valid(r->b.data, r->b.len));
	return (const void *)r->b.data;
}

static bool wants(const struct callflow_rules *r, const char *class_name, const char *name, const char *sig)
{
	const struct callflow_method m = {
		{ class_name, strlen(class_name) }, { name, strlen(name) }, { sig, sig ? strlen(sig) : 0 },
	};

	return callflow_wants_method(r, &m);
}

TEST(callrules_list_takes_later_items_for_exceptions)
{
	struct callrules rules = { 0 };
	const struct callflow_rules *r;
	struct err e;

	CHECK(!callrules_list(&rules, "+com.example.*,-*.toString,com.example.App.toString", &e));
	r = compiled(&rules);
	CHECK(wants(r, "com/example/App", "main", "()V"));
	CHECK(wants(r, "com/example/sub/App", "main", "()V"));
	CHECK(!wants(r, "com/example/Other", "toString", "()Ljava/lang/String;"));
	CHECK(wants(r, "com/example/App", "toString", "()Ljava/lang/String;"));
	CHECK(!wants(r, "java/lang/String", "length", "()I"));
	CHECK(!callflow_may_want_class(r, "java/lang/String", 16));
	CHECK(callflow_may_want_class(r, "com/example/App", 15));
	CHECK(callflow_wants_thread(r, "main", 4));
	callrules_release(&rules);

	CHECK(!callrules_list(&rules, "-java.*", &e));
	r = compiled(&rules);
	CHECK(!wants(r, "java/lang/String", "length", "()I"));
	CHECK(wants(r, "org/x/Y", "z", "()V"));
	callrules_release(&rules);
}

TEST(callrules_file_lets_the_first_match_decide)
{
	static const char text[] = "# what we own\n"
				   "exclude_method com.example.App.get*(I)*\n"
				   "\n"
				   "include_method\tcom.example.App  \n"
				   "exclude_thread GC*\n"
				   "include_method *.main(?Ljava/lang/String;)V";
	struct callrules rules = { 0 };
	const struct callflow_rules *r;
	struct err e;

	CHECK(!callrules_file(&rules, "f", text, sizeof(text) - 1, &e));
	r = compiled(&rules);
	CHECK(!wants(r, "com/example/App", "getX", "(I)V"));
	CHECK(wants(r, "com/example/App", "getX", "(J)V"));
	CHECK(!wants(r, "com/example/Apple", "getX", "(J)V"));
	CHECK(wants(r, "org/Other", "main", "([Ljava/lang/String;)V"));
	CHECK(!wants(r, "org/Other", "main", "()V"));
	CHECK(!callflow_wants_thread(r, "GC Thread#0", 11));
	CHECK(callflow_wants_thread(r, "main", 4));
	callrules_release(&rules);
}

/* The example of the paper on JPMT, and what it says of defaults and of case. */
TEST(callrules_take_a_file_of_jpmt)
{
	static const char text[] =
		"Output log/mylogfile.bin\n"
		"Method_Invocation yes\n"
		"Bytecode_Rewriting yes\n"
		"Include_Method net.qahwah.jpmt.test.* *\n"
		"include_method com.example.App ser*\n"
		"Exclude_Method * *\n"
		"Exclude_Thread pool-*\n";
	struct callrules rules = { 0 };
	struct jpmt j;
	struct err e;
	const struct callflow_rules *r;

	CHECK(!jpmt_read(&j, "f", text, sizeof(text) - 1, &e));
	CHECK(j.found && j.yes[JPMT_METHOD_INVOCATION] && j.yes[JPMT_BYTECODE_REWRITING]);
	CHECK(!j.yes[JPMT_GARBAGE_COLLECTION]);
	CHECK_STR(j.output, "log/mylogfile.bin");
	jpmt_release(&j);
	CHECK(!callrules_file(&rules, "f", text, sizeof(text) - 1, &e));
	r = compiled(&rules);
	CHECK(wants(r, "net/qahwah/jpmt/test/Corba", "invoke", NULL));
	CHECK(!wants(r, "net/qahwah/jpmt/Corba", "invoke", NULL));
	CHECK(wants(r, "com/example/App", "serve", NULL));
	CHECK(!wants(r, "com/example/App", "start", NULL));
	/* the second pattern is of the method's name alone */
	CHECK(!wants(r, "com/example/App$ser", "stop", NULL));
	CHECK(callflow_may_want_class(r, "com/example/App", 15));
	CHECK(!callflow_may_want_class(r, "com/example/Other", 17));
	CHECK(callflow_wants_thread(r, "main", 4));
	CHECK(!callflow_wants_thread(r, "pool-1", 6));
	callrules_release(&rules);
	CHECK(callrules_file(&rules, "x", "Output a\nInclude_Method com.example.*\n", 39, &e) < 0);
	CHECK_STR(e.msg, "x:2: 'com.example.*': two patterns are expected, of the class and of the method");
	callrules_release(&rules);
	CHECK(callrules_file(&rules, "x", "Garbage_Collection maybe\n", 25, &e) < 0);
	CHECK_STR(e.msg, "x:1: Garbage_Collection 'maybe' (expected one of: yes, no)");
	callrules_release(&rules);
}

TEST(callrules_faults_are_reported_with_their_place)
{
	struct callrules rules = { 0 };
	struct err e;

	CHECK(callrules_list(&rules, "a.b,,c", &e) < 0);
	CHECK_STR(e.msg, "'a.b,,c': a rule without a pattern");
	callrules_release(&rules);
	CHECK(callrules_list(&rules, "+", &e) < 0);
	callrules_release(&rules);
	CHECK(callrules_list(&rules, "a=b", &e) < 0);
	callrules_release(&rules);
	CHECK(callrules_file(&rules, "x.conf", "include_method a\nincude_method b\n", 33, &e) < 0);
	CHECK(!strncmp(e.msg, "x.conf:2: invalid rule 'incude_method'", 38));
	callrules_release(&rules);
	CHECK(callrules_file(&rules, "x.conf", "include_thread\n", 15, &e) < 0);
	callrules_release(&rules);
}

TEST(callflow_rules_refuses_every_truncation)
{
	struct callrules rules = { 0 };
	struct err e;
	size_t n;

	CHECK(!callrules_list(&rules, "+com.example.*,-*.toString,x", &e));
	callrules_end(&rules);
	CHECK(callflow_rules_valid(rules.b.data, rules.b.len));
	for (n = 0; n < rules.b.len; n++)
		CHECK(!callflow_rules_valid(rules.b.data, n));
	callrules_release(&rules);
}
