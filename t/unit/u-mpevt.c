// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmu/event.h"
#include "pmu/mpevt.h"
#include "pmu/probe.h"
#include "unit.h"

static const char *folder(void)
{
	static char dir[] = "/tmp/arcprof-unit-XXXXXX";

	if (!mkdtemp(dir))
		unit_skip("no folder in /tmp");
	return dir;
}

TEST(mpevt_counts_until_it_is_stopped)
{
	char *both[] = { (char *)"cpu-clock", (char *)"context-switches" },
	*odd[] = { (char *)"page-faults" };
	const char *dir = folder();
	struct mpevt_counts a = { 0 }, b = { 0 };
	struct cpus cpus = { 0 };
	struct err e = { 0 };
	int r;

	cpus_online(&cpus);
	CHECK(mpevt_read(dir, NULL, 0, &a, &e) == -ENOENT);
	r = mpevt_start(dir, both, 2, &a, &e);
	if (r == -EACCES || r == -EPERM || r == -ENOSYS) {
		rmdir(dir);
		unit_skip(e.msg);
	}
	CHECK(!r);
	CHECK(mpevt_start(dir, both + 1, 1, &a, &e) == -EEXIST);
	CHECK(!mpevt_read(dir, NULL, 0, &a, &e));
	usleep(20000);
	CHECK(!mpevt_read(dir, both, 1, &b, &e));
	CHECK_U64(a.nr_c, 2 * cpus.nr_cpu);
	CHECK_U64(b.nr_c, cpus.nr_cpu);
	CHECK_STR(b.c[0].event, "cpu-clock");
	CHECK_STR(b.c[0].unit, "ns");
	CHECK(b.c[0].count.value >= a.c[0].count.value + 10000000);
	CHECK(mpevt_stop(dir, odd, 1, &e) == -ENOENT);
	CHECK(!mpevt_stop(dir, both, 1, &e));
	CHECK(mpevt_read(dir, both, 1, &b, &e) == -ENOENT);
	CHECK(!mpevt_read(dir, NULL, 0, &b, &e));
	CHECK_U64(b.nr_c, cpus.nr_cpu);
	CHECK(!mpevt_stop(dir, NULL, 0, &e));
	CHECK(mpevt_read(dir, NULL, 0, &b, &e) == -ENOENT);
	CHECK(!rmdir(dir));		/* it took its socket away */
	mpevt_counts_release(&a);
	mpevt_counts_release(&b);
	cpus_release(&cpus);
}

TEST(mpevt_event_that_cannot_be_counted_starts_nothing)
{
	char *names[] = { (char *)"cpu-clock", (char *)"no-such-event" };
	const char *dir = folder();
	struct mpevt_counts c = { 0 };
	struct err e = { 0 };

	CHECK(mpevt_start(dir, names, 2, &c, &e) < 0);
	CHECK(e.msg[0]);
	CHECK(mpevt_read(dir, NULL, 0, &c, &e) == -ENOENT);
	CHECK(!rmdir(dir));
}

/* An event that this machine does not have. */
static const char *lacking(void)
{
	struct err e = { 0 };
	const char *name;
	size_t i;

	for (i = 0; (name = pmu_event_generic(i)); i++)
		if (mpevt_try(name, &e) && perf_event_is_missing(e.code))
			return name;
	unit_skip("this machine has every event");
	return NULL;
}

TEST(mpevt_counts_what_there_is_and_names_the_rest)
{
	char *names[] = { (char *)"cpu-clock", (char *)lacking(), (char *)"page-faults" };
	struct mpevt_counts c = { 0 };
	struct err e = { 0 };
	const char *dir;

	if (mpevt_try("cpu-clock", &e))
		unit_skip(e.msg);
	dir = folder();
	CHECK(mpevt_start(dir, names + 1, 1, &c, &e) < 0);	/* nothing is left */
	CHECK(strstr(e.msg, names[1]) && !c.nr_missing);
	CHECK(!mpevt_start(dir, names, 3, &c, &e));
	CHECK_U64(c.nr_missing, 1);
	CHECK(!strncmp(c.missing[0], names[1], strlen(names[1])) && strstr(c.missing[0], ": "));
	CHECK(!mpevt_read(dir, NULL, 0, &c, &e));
	CHECK_U64(c.nr_missing, 0);
	CHECK_STR(c.c[0].event, "cpu-clock");
	CHECK_STR(c.c[c.nr_c - 1].event, "page-faults");
	CHECK(mpevt_start(dir, names + 1, 1, &c, &e) < 0);	/* the others go on */
	CHECK(!mpevt_stop(dir, NULL, 0, &e));
	CHECK(!rmdir(dir));
	mpevt_counts_release(&c);
}

TEST(mpevt_answers_that_make_no_sense_are_refused)
{
	static const char *const bad[] = { "", "\n", "ok", "ok\tx", "error\t0\n", "error",
		"ok\t1\ncount\tx\n",
		"ok\t1\ncount\tcs\tns\t0\t1\t2\n", "ok\t1\ncount\tcs\tns\t0\t1\t2\t3x\n", "ok\t1\nmessage\thello\n" };
	struct mpevt_counts c = { 0 };
	struct err e = { 0 };
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(text, bad[i]);
		CHECK(mpevt_parse(text, &c, &e) == -EPROTO);
	}
	strcpy(text, "ok\t1\nmissing\tx: none\nhint\tbuy one\n");
	CHECK(!mpevt_parse(text, &c, &e));
	CHECK_U64(c.nr_missing, 1);
	CHECK_STR(c.missing[0], "x: none");
	CHECK_STR(c.hint, "buy one");
	strcpy(text, "error\t13\nmessage\tno right\nhint\tbe root\n");
	CHECK(mpevt_parse(text, &c, &e) == -13);
	CHECK_STR(e.msg, "no right");
	CHECK_STR(e.hint, "be root");
	mpevt_counts_release(&c);
}
