// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/event.h"
#include "pmu/probe.h"
#include "pmu/uprobe.h"
#include "unit.h"

static struct perf_event_attr parse(const char *name)
{
	struct pmu_event ev;
	struct err e = { 0 };

	CHECK(!pmu_event_parse(name, &ev, &e));
	return ev.attr;
}

TEST(event_names_give_the_codes_of_perf_event_open)
{
	CHECK_U64(parse("cpu-clock").type, PERF_TYPE_SOFTWARE);
	CHECK_U64(parse("cpu-clock").config, PERF_COUNT_SW_CPU_CLOCK);
	CHECK_U64(parse("instructions").config, PERF_COUNT_HW_INSTRUCTIONS);
	CHECK_U64(parse("cs").config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	CHECK_U64(parse("r1a8").type, PERF_TYPE_RAW);
	CHECK_U64(parse("r1a8").config, 0x1a8);
	/* cache id | op << 8 | result << 16 */
	CHECK_U64(parse("dTLB-load-misses").config, 3 | 0 << 8 | 1 << 16);
	CHECK_U64(parse("LLC-stores").config, 2 | 1 << 8);
}

TEST(event_modifiers_leave_out_the_other_mode)
{
	CHECK_U64(parse("cycles:u").exclude_kernel, 1);
	CHECK_U64(parse("cycles:u").exclude_user, 0);
	CHECK_U64(parse("cycles:k").exclude_user, 1);
	CHECK_U64(parse("cycles:uk").exclude_user + parse("cycles:uk").exclude_kernel, 0);
}

TEST(event_breakpoint_has_address_length_and_kind)
{
	struct perf_event_attr a = parse("mem:0x1000/8:w");

	CHECK_U64(a.type, PERF_TYPE_BREAKPOINT);
	CHECK_U64(a.bp_addr, 0x1000);
	CHECK_U64(a.bp_len, 8);
	CHECK_U64(a.bp_type, HW_BREAKPOINT_W);
}

TEST(event_of_precise_addresses_is_refused)
{
	static const char *const precise[] = { "cycles:p", "cycles:upp", "LLC-loads:P", "r1a8:ppp" };
	struct pmu_event ev;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < sizeof(precise) / sizeof(precise[0]); i++) {
		CHECK(pmu_event_parse(precise[i], &ev, &e) == -EINVAL);
		CHECK(strstr(e.msg, precise[i]) && strstr(e.msg, "precisely"));
	}
	CHECK(pmu_event_parse("nogroup:pp", &ev, &e) < 0);
	CHECK(!strstr(e.msg, "precisely"));		/* may be a tracepoint */
}

TEST(event_that_does_not_exist_is_named_in_the_error)
{
	static const char *const bad[] = { "cpu-klock", "rxyz", "nopmu/event=1/", "mem:zzz", "" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pmu_event ev;
		struct err e = { 0 };

		CHECK(pmu_event_parse(bad[i], &ev, &e) < 0);
		CHECK(e.msg[0]);
	}
}

TEST(event_of_calls_has_a_file_and_a_function)
{
	static const char *const bad[] = { "uprobe:", "uprobe:libc.so.6", "uprobe::f", "uprobe:libc.so.6:" };
	const char *function;
	struct pmu_event ev;
	struct err e;
	char *file;
	size_t i;

	CHECK(!uprobe_parse("uprobe:/lib/libjvm.so:os::sleep", &ev, &e));
	CHECK_STR(ev.unit, "calls");
	CHECK_U64(ev.attr.type, PERF_TYPE_TRACEPOINT);
	uprobe_split(ev.name, &file, &function);
	CHECK_STR(file, "/lib/libjvm.so");
	CHECK_STR(function, "os::sleep");
	free(file);
	CHECK(!uprobe_is_return(ev.name));
	CHECK(!uprobe_parse("uprobe-return:a:b", &ev, &e) && uprobe_is_return(ev.name));
	CHECK_STR(ev.unit, "returns");
	uprobe_split(ev.name, &file, &function);
	CHECK_STR(file, "a");
	free(file);
	CHECK(!uprobe_is_named("uprobes:x"));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(uprobe_is_named(bad[i]) && uprobe_parse(bad[i], &ev, &e) == -EINVAL);
}

TEST(format_scatters_the_bits_of_a_value)
{
	struct perf_event_attr a = { 0 };
	struct err e = { 0 };

	CHECK(!pmu_format_set("config:0-7,32-35", 0xabc, &a, &e));
	CHECK_U64(a.config, 0xa000000bcull);
	CHECK(!pmu_format_set("config1:4", 1, &a, &e));
	CHECK_U64(a.config1, 16);
	CHECK(pmu_format_set("config:0-3", 0x10, &a, &e) < 0);
	CHECK(pmu_format_set("config:7-99", 1, &a, &e) < 0);
	CHECK(pmu_format_set("nonsense", 1, &a, &e) < 0);
}

TEST(pmu_interval_keeps_below_the_samples_that_a_tick_may_have)
{
	CHECK_U64(perf_shortest_ns(PERF_LIMIT_UNKNOWN, 4000000), 0);
	CHECK_U64(perf_shortest_ns(0, 4000000), 0);
	CHECK_U64(perf_shortest_ns(100000, 4000000), 10026);	/* 399 of 400 */
	CHECK_U64(perf_shortest_ns(1000, 4000000), 1333334);	/* 3 of 4 */
	CHECK_U64(perf_shortest_ns(1000, 1000000), 5000000);	/* one at each tick is stopped each time */
	CHECK_U64(perf_shortest_ns(251, 4000000), 4000000);
	CHECK_U64(perf_shortest_ns(250, 4000000), 20000000);
	CHECK_U64(perf_shortest_ns(INT64_MAX / 1000000000, 10000000), 1);
	CHECK(perf_tick_ns() >= 100000 && perf_tick_ns() <= 100000000);
}

struct listed {
	size_t nr;
	char tsc[64];
};

static void note_listed(void *ctx, const char *name, const char *what)
{
	struct listed *l = ctx;
	struct pmu_event ev;
	struct err e;

	l->nr++;
	CHECK(*what);
	if (!strcmp(name, "uncore/tsc/"))
		snprintf(l->tsc, sizeof(l->tsc), "%s", what);
	else
		CHECK(!pmu_event_parse(name, &ev, &e));
}

TEST(pmu_lists_all_events_that_have_names)
{
	static const char *const files[] = { "tsc", "event=0x00\n", "tsc.unit", "Cycles\n" };
	char root[] = "/tmp/unit-pmu-XXXXXX", path[300];
	struct listed l = { 0 };
	size_t i;
	FILE *f;

	CHECK(mkdtemp(root));
	snprintf(path, sizeof(path), "mkdir -p %s/bus/event_source/devices/uncore/events", root);
	CHECK(!system(path));
	for (i = 0; i < 4; i += 2) {
		snprintf(path, sizeof(path), "%s/bus/event_source/devices/uncore/events/%s", root, files[i]);
		f = fopen(path, "w");
		CHECK(f);
		fputs(files[i + 1], f);
		fclose(f);
	}
	pmu_list(root, note_listed, &l);
	CHECK_STR(l.tsc, "event=0x00 of uncore, in Cycles");
	CHECK(l.nr > 40);
	snprintf(path, sizeof(path), "rm -r %s", root);
	CHECK(!system(path));
}
