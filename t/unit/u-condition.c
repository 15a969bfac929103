// SPDX-License-Identifier: GPL-2.0-or-later
/* u-condition.c - conditions of "record --when": what they mean, and what is wrong with others. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "callflow/filter.h"
#include "collect/control/condition.h"
#include "unit.h"

#define S 1000000000ull

TEST(when_reads_every_kind)
{
	static const struct {
		const char *text;
		enum condition_kind kind;
		uint64_t limit, span_ns;
	} good[] = {
		{ "signal:USR1", CONDITION_SIGNAL, SIGUSR1, 0 },
		{ "signal:SIGUSR2", CONDITION_SIGNAL, SIGUSR2, 0 },
		{ "cpu>80%", CONDITION_CPU, 8 * S / 10, 10 * S },
		{ "cpu > 80% : 30s", CONDITION_CPU, 8 * S / 10, 30 * S },
		{ "cpu>250%:1m", CONDITION_CPU, 25 * S / 10, 60 * S },
		{ "cpu>0.5%:1s", CONDITION_CPU, S / 200, S },
		{ "gc>200ms", CONDITION_GC, S / 5, 0 },
		{ "gc > 1.5s", CONDITION_GC, 3 * S / 2, 0 },
		{ "rss>2G", CONDITION_RSS, 2ull << 30, 0 },
		{ "oom", CONDITION_OOM, 0, 0 },
		{ " crash ", CONDITION_CRASH, 0, 0 },
		{ "failure", CONDITION_FAILURE, 0, 0 },
		{ "method com.x.Y.z>500ms", CONDITION_METHOD, S / 2, 0 },
		{ "  method  com.x.Y.z(I)V > 2s ", CONDITION_METHOD, 2 * S, 0 },
	};
	struct err e = { 0 };
	struct condition w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK_U64(condition_parse(good[i].text, &w, &e), 0);
		CHECK_U64(w.kind, good[i].kind);
		CHECK_U64(w.limit, good[i].limit);
		CHECK_U64(w.span_ns, good[i].span_ns);
		CHECK_STR(w.text, good[i].text);
		condition_release(&w);
	}
}

TEST(when_refuses_everything_else)
{
	static const char *const bad[] = {
		"", " ", ">", "foo", "cpus>80%", "cpu", "cpu>", "cpu>80", "cpu>%", "cpu>80s%", "cpu>80%%", "cpu>-1%",
		"cpu>80%:", "cpu>80%:0.5s", "cpu>80%:1.5s", "cpu>80%:2h", "cpu>0%", "cpu>9999999999999%", "cpu:80%",
		"gc", "gc>", "gc>x", "gc>0", "gc>1s:2s", "gc=1s", "rss>", "rss>2X", "rss>0", "oom>1", "oom:", "crash!",
		"failure>0", "signal", "signal:", "signal:KILL", "signal:USR3", "signal>USR1", "OOM",
		"method", "method ", "method>1s", "method >1s", "method a.b", "method a.b>", "method a.b>0", "method a.b>x",
		"method -a.b>1s", "method +a.b>1s", "method a,b>1s", "method a(b>1s", "methods a>1s",
	};
	char text[CONDITION_MAX_TEXT + 3];
	struct err e = { 0 };
	struct condition w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		e.msg[0] = '\0';
		if (condition_parse(bad[i], &w, &e) != -EINVAL || !*e.msg)
			CHECK_STR(bad[i], "refused");
		condition_release(&w);
	}
	memset(text, ' ', sizeof(text));
	memcpy(text, "oom", 3);
	text[CONDITION_MAX_TEXT] = '\0';
	CHECK_U64(condition_parse(text, &w, &e), 0);
	text[CONDITION_MAX_TEXT] = ' ';
	text[CONDITION_MAX_TEXT + 1] = '\0';
	CHECK(condition_parse(text, &w, &e) == -EINVAL);
}

TEST(when_knows_the_methods_it_is_about)
{
	static const struct callflow_method asked = { { "com/x/Y", 7 }, { "z", 1 }, { "()V", 3 } },
					    other = { { "com/x/Y", 7 }, { "zz", 2 }, { "()V", 3 } };
	struct err e = { 0 };
	struct condition w;

	CHECK_U64(condition_parse("method com.x.Y.z>1ms", &w, &e), 0);
	CHECK_STR(w.method, "com.x.Y.z");
	CHECK(callflow_wants_method((const void *)w.methods.b.data, &asked));
	CHECK(!callflow_wants_method((const void *)w.methods.b.data, &other));
	condition_release(&w);
}
