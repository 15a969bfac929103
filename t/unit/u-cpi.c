// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmu/cpi.h"
#include "unit.h"

static struct cpi_counts counts(uint64_t cycles, uint64_t instructions, uint64_t enabled, uint64_t running)
{
	return (struct cpi_counts){ { cycles, enabled, running }, { instructions, enabled, running } };
}

TEST(cpi_is_cycles_by_instructions_of_the_difference)
{
	struct cpi_counts a = counts(1000, 400, 10, 10), b = counts(4000, 2400, 20, 20), d = cpi_diff(&a, &b);
	struct cpi_sum s = CPI_SUM_INIT;

	cpi_add(&s, &d);
	CHECK(s.cycles_known && s.instructions_known && s.share_counted == 1);
	CHECK_U64(s.cycles, 3000);
	CHECK_U64(s.instructions, 2000);
	CHECK(cpi_ratio(&s) == 1.5);
}

TEST(cpi_of_several_cpus_is_that_of_the_sums)
{
	struct cpi_counts a = counts(3000, 1000, 10, 10), b = counts(1000, 9000, 10, 10);
	struct cpi_sum s = CPI_SUM_INIT;

	cpi_add(&s, &a);
	cpi_add(&s, &b);
	CHECK(cpi_ratio(&s) == 0.4);		/* not the mean of 3 and 0.11 */
}

TEST(cpi_counts_of_a_shared_counter_stand_for_the_whole_time)
{
	struct cpi_counts c = counts(1000, 500, 1000000, 250000), huge = counts(UINT64_MAX / 8, 1, 4, 1);
	struct cpi_sum s = CPI_SUM_INIT, h = CPI_SUM_INIT;

	cpi_add(&s, &c);
	CHECK_U64(s.cycles, 4000);
	CHECK_U64(s.instructions, 2000);
	CHECK(s.cycles_known && s.instructions_known && s.share_counted == 0.25);
	cpi_add(&h, &huge);
	CHECK_U64(h.cycles, UINT64_MAX / 8 * 4);	/* no overflow on the way */
}

TEST(cpi_of_what_never_ran_is_not_known)
{
	struct cpi_counts never = counts(0, 0, 1000, 0), good = counts(10, 10, 5, 5),
			  idle = counts(7, 0, 5, 5);
	struct cpi_sum s = CPI_SUM_INIT, i = CPI_SUM_INIT;

	cpi_add(&s, &good);
	cpi_add(&s, &never);
	cpi_add(&s, &good);
	CHECK(!s.cycles_known && !s.instructions_known && isnan(cpi_ratio(&s)));
	cpi_add(&i, &idle);		/* no instruction: no ratio either, but the counts are true */
	CHECK(i.cycles_known && i.instructions_known && isnan(cpi_ratio(&i)));
}

/* Events that every kernel has take the place of the two, so that the calls are real. */
static const struct cpi_events software = { "task-clock", "page-faults" };

TEST(cpi_counts_the_program_from_its_exec_on_with_its_children)
{
	struct cpi_counts c, later;
	struct cpi_set s;
	struct err e = { 0 };
	int go[2];
	pid_t pid;
	char byte;

	CHECK(!pipe(go));
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) == 1 && !execlp("sh", "sh", "-c", "i=0; sh -c "
			"'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'; exit 0", NULL));
	}
	if (cpi_open_program(&s, &software, pid, &e)) {
		kill(pid, SIGKILL);
		unit_skip(e.msg);
	}
	CHECK(!cpi_read(&s, 0, &c, &e));
	CHECK_U64(c.cycles.value, 0);		/* held: nothing yet */
	CHECK(write(go[1], "", 1) == 1);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(!cpi_read(&s, 0, &later, &e));
	CHECK(later.cycles.value > 1000000);	/* ns */
	CHECK(later.instructions.value > 100);
	CHECK(later.cycles.running_ns > 0);
	cpi_close(&s);
}

TEST(cpi_counts_on_each_cpu)
{
	struct cpus cpus = { 0 };
	struct cpi_set s;
	struct err e = { 0 };
	size_t i;

	cpus_online(&cpus);
	if (cpi_open_cpus(&s, &(struct cpi_events){ "cpu-clock", "context-switches" }, &cpus, &e))
		unit_skip(e.msg);
	usleep(50000);
	CHECK_U64(s.nr_pairs, cpus.nr_cpu);
	for (i = 0; i < s.nr_pairs; i++) {
		struct cpi_counts c;

		CHECK(!cpi_read(&s, i, &c, &e));
		/* the clock of another CPU starts a little after the event does */
		CHECK(c.cycles.value >= 40000000 && c.cycles.value < 20000000000);
		CHECK(c.cycles.enabled_ns >= 40000000);
		CHECK(c.cycles.running_ns >= 40000000 && c.instructions.running_ns >= 40000000);
	}
	cpi_close(&s);
	cpus_release(&cpus);
}

TEST(cpi_needs_both_counters_only_for_the_ratio)
{
	struct cpi_counts c = { .cycles = { 7, 5, 5 } };
	struct cpi_sum s = CPI_SUM_INIT;

	cpi_add(&s, &c);
	CHECK(s.cycles_known && !s.instructions_known && s.share_counted == 1);
	CHECK_U64(s.cycles, 7);
	CHECK(isnan(cpi_ratio(&s)));
}

/* An event of software, and one of a PMU that no machine has. */
TEST(cpi_counts_the_one_that_there_is)
{
	static const struct cpi_events first = { "cpu-clock", "nopmu/x/" }, second = { "nopmu/x/", "cpu-clock" };
	struct cpus cpus = { 0 };
	struct err e = { 0 };
	struct cpi_counts c;
	struct cpi_set s;

	CHECK(!cpus_add(&cpus, "0", &e));
	if (cpi_open_cpus(&s, &first, &cpus, &e))
		unit_skip(e.msg);
	usleep(2000);
	CHECK(!s.no_cycles.code && s.no_instructions.code && strstr(s.no_instructions.msg, "nopmu"));
	CHECK(!cpi_read(&s, 0, &c, &e));
	CHECK(c.cycles.value && c.cycles.running_ns && !c.instructions.value && !c.instructions.running_ns);
	cpi_close(&s);
	CHECK(!cpi_open_cpus(&s, &second, &cpus, &e));
	usleep(2000);
	CHECK(s.no_cycles.code && !s.no_instructions.code);
	CHECK(!cpi_read(&s, 0, &c, &e));
	CHECK(!c.cycles.running_ns && c.instructions.value && c.instructions.running_ns);
	cpi_close(&s);
	cpus_release(&cpus);
}

TEST(cpi_that_cannot_be_counted_says_why_and_leaves_nothing_open)
{
	struct cpus cpus = { 0 };
	struct err e = { 0 };
	struct cpi_set s;

	CHECK(!cpus_add(&cpus, "0", &e));
	CHECK(cpi_open_cpus(&s, &(struct cpi_events){ "nopmu/x/", "nopmu/y/" }, &cpus, &e) < 0);
	CHECK(e.msg[0]);
	CHECK_U64(s.nr_pairs, 0);
	CHECK(!s.pairs);
	cpus_release(&cpus);
}
