// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/anchor.h"
#include "api/arcprof.h"
#include "api/area.h"
#include "api/perf.h"
#include "api/ticks.h"
#include "base/clock.h"
#include "ptt/proc.h"
#include "ptt/ptt.h"
#include "unit.h"

_Static_assert(sizeof(struct arcprof_slot) == 256, "a slot");
_Static_assert(sizeof(struct arcprof_cpu) == 256, "a CPU");
_Static_assert(sizeof(struct arcprof_ptt_header) == 256, "the header");
_Static_assert((int)PTT_NR_BUCKETS == (int)ARCPROF_NR_BUCKETS, "buckets");
_Static_assert((int)PTT_MAX_COUNTERS == (int)ARCPROF_MAX_METRICS - 1, "counters");
_Static_assert((int)ARCPROF_NR_COUNTERS == (int)ARCPROF_MAX_METRICS - 1, "counters of the API");

/* ---- the area, as the kernel side would have left it ---- */

static struct arcprof_ptt_header header = {
	.magic = ARCPROF_MAGIC, .abi = ARCPROF_ABI, .size = sizeof(header), .nr_metrics = 1, .nr_cpus = 1,
	.nr_slots = 3, .clock = ARCPROF_CLOCK_MONOTONIC, .mult = 1, .generation = 1, .next_slot = 9,
};
static struct arcprof_slot slots[3];
static struct arcprof_cpu cpu;

static struct arcprof_area area_of(void)
{
	return (struct arcprof_area){ .header = &header, .slots = slots, .cpus = &cpu, .fd = -1 };
}

TEST(ptt_slot_of_a_running_thread_includes_the_time_since_its_dispatch)
{
	struct arcprof_area a = area_of();
	struct arcprof_slot s;

	slots[1] = (struct arcprof_slot){ .flags = ARCPROF_SLOT_USED | ARCPROF_SLOT_RUNNING,
		.acc = { 1000 } };
	slots[1].last[0] = clock_mono_ns() - 5000000;
	CHECK(arcprof_area_slot(&a, 1, &s));
	CHECK(s.acc[0] >= 5001000 && s.acc[0] < 5001000 + 10000000000);
	CHECK(arcprof_own_ticks(&slots[1], ARCPROF_CLOCK_MONOTONIC) >= s.acc[0]);
	slots[1].flags = ARCPROF_SLOT_USED;	/* in an interrupt, or off its CPU */
	CHECK(arcprof_area_slot(&a, 1, &s));
	CHECK_U64(s.acc[0], 1000);
	CHECK_U64(arcprof_own_ticks(&slots[1], ARCPROF_CLOCK_MONOTONIC), 1000);
}

TEST(ptt_slot_stands_still_when_the_session_has_ended_or_the_clock_is_behind)
{
	struct arcprof_area a = area_of();
	struct arcprof_slot s;

	slots[1] = (struct arcprof_slot){ .flags = ARCPROF_SLOT_RUNNING, .acc = { 1000 } };
	slots[1].last[0] = clock_mono_ns() + 3600000000000;
	CHECK(arcprof_area_slot(&a, 1, &s));
	CHECK_U64(s.acc[0], 1000);
	CHECK_U64(arcprof_own_ticks(&slots[1], ARCPROF_CLOCK_MONOTONIC), 1000);
	slots[1].last[0] = 1;
	header.generation = 0;
	CHECK(!arcprof_area_live(&a));
	CHECK(arcprof_area_slot(&a, 1, &s));
	CHECK_U64(s.acc[0], 1000);
	header.generation = 1;
}

TEST(ptt_slot_that_is_being_written_for_ever_is_given_up)
{
	struct arcprof_area a = area_of();
	struct arcprof_slot s;

	slots[1] = (struct arcprof_slot){ .seq = 7 };
	CHECK(!arcprof_area_slot(&a, 1, &s));
}

TEST(ptt_name_and_number_of_slots_are_bounded)
{
	struct arcprof_area a = area_of();
	struct arcprof_slot s;

	slots[2] = (struct arcprof_slot){ .flags = ARCPROF_SLOT_USED };
	memset(slots[2].comm, 'x', sizeof(slots[2].comm));
	CHECK(arcprof_area_slot(&a, 2, &s));
	CHECK_U64(strlen(s.comm), 15);
	CHECK_U64(arcprof_area_nr_used(&a), 3);		/* the header says 9 of 3 */
}

TEST(ptt_time_of_a_cpu_goes_to_the_state_it_is_in)
{
	static const struct { uint32_t state, cur, flags; int bucket; } cases[] = {
		{ 0, 0, ARCPROF_CPU_IDLE, ARCPROF_BUCKET_IDLE }, { 0, 0, 0, ARCPROF_BUCKET_OTHER },
		{ 0, 2, 0, ARCPROF_BUCKET_THREADS }, { ARCPROF_CPU_SOFTIRQ, 2, 0, ARCPROF_BUCKET_SOFTIRQ },
		{ ARCPROF_CPU_HARDIRQ | ARCPROF_CPU_SOFTIRQ, 0, ARCPROF_CPU_IDLE, ARCPROF_BUCKET_HARDIRQ },
	};
	struct arcprof_area a = area_of();
	struct arcprof_cpu c;
	uint64_t sum;
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cpu = (struct arcprof_cpu){ .state = cases[i].state, .cur = cases[i].cur,
					    .flags = cases[i].flags | ARCPROF_CPU_STARTED };
		cpu.last[0] = clock_mono_ns() - 1000000;
		cpu.start = cpu.last[0];
		CHECK(arcprof_area_cpu(&a, 0, &c));
		CHECK(c.bucket[cases[i].bucket] >= 1000000);
		for (k = sum = 0; k < ARCPROF_NR_BUCKETS; k++)
			sum += c.bucket[k];
		CHECK_U64(sum, c.last[0] - c.start);
	}
}

TEST(ptt_ticks_become_ns_without_overflow)
{
	struct arcprof_ptt_header h = { .clock = ARCPROF_CLOCK_TSC, .mult = 1718906163, .shift = 32 };

	CHECK_U64(arcprof_ticks_ns(&h, 2498600000), 999974771);			/* 2.4986 GHz */
	CHECK_U64(arcprof_ticks_ns(&h, 1ull << 62), 1845661438744461312ull);	/* 58 years */
}

/* ---- libarcprof.a ---- */

/* The second process is a kernel thread, and these are in no other namespace. */
static bool sees_kernel_threads(void)
{
	enum { PF_KTHREAD = 0x200000 };
	FILE *f = fopen("/proc/2/stat", "r");
	unsigned int flags = 0;

	if (!f || fscanf(f, "2 (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	if (f)
		fclose(f);
	return flags & PF_KTHREAD;
}

TEST(ptt_numbers_are_the_kernels_only_in_the_first_namespace)
{
	int status = 0, pid;

	if (!sees_kernel_threads())
		unit_skip("this is a PID namespace, or /proc/2 is hidden");
	CHECK(arcprof_area_same_numbers());
	pid = fork();
	if (!pid) {
		if (syscall(SYS_unshare, CLONE_NEWPID))
			_exit(77);
		pid = fork();
		if (!pid)	/* its /proc is still the other's, where it has another number */
			_exit(arcprof_area_same_numbers());
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			_exit(2);
		_exit(WEXITSTATUS(status));
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}

TEST(ptt_api_refuses_what_is_not_there)
{
	struct arcprof_values v;
	uint64_t config;
	uint32_t type;

	CHECK_STR(arcprof_backend(), "none");
	CHECK(arcprof_init("abacus") == -EINVAL);
	CHECK(!arcprof_thread_open());
	CHECK(arcprof_process_read(0, &v) == -EINVAL);
	CHECK(!arcprof_init("clock"));
	CHECK(arcprof_init(NULL) == -EBUSY);
	CHECK_STR(arcprof_backend(), "clock");
	CHECK(arcprof_counter(0, &type, &config) == -ENOENT);
	CHECK(!arcprof_process_read(0, &v));
	CHECK_U64(v.known, ARCPROF_KNOW_TIME);
	arcprof_term();
	CHECK_STR(arcprof_backend(), "none");
}

TEST(ptt_perf_page_follows_the_threads_clock)
{
	struct arcprof_perf p;
	uint64_t before, after, ns, last = 0;
	int i, r;

	arcprof_perf_init(&p);
	r = arcprof_perf_open(&p);
	if (r)
		unit_skip(strerror(-r));
	for (i = 0; i < 20000; i++) {
		before = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		ns = arcprof_perf_ns(&p);
		after = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		CHECK(ns >= last);
		/*
		 * it may lag by what passed while a base was taken; the clock may not count what was stolen
		 */
		CHECK(ns + 200000000 >= before && ns <= after + 200000000);
		last = ns;
		if (i % 1000 == 0)
			usleep(1000);
	}
	arcprof_perf_close(&p);
}

TEST(ptt_anchor_holds_while_the_sequence_stands)
{
	struct arcprof_anchor a = { 0 };
	struct arcprof_moment from, to;
	uint32_t seq = 7;
	uint64_t ns = 0, passed;

	arcprof_anchor_init();
	from = arcprof_moment_now();
	arcprof_anchor_set(&a, seq, 1000, &from);
	if (!from.cycles)
		unit_skip("the kernel does not take the CPU's counter for a clock");
	CHECK(!arcprof_anchor_ns(&a, &seq, &ns));	/* its rate is not known yet */
	usleep(40000);
	from = arcprof_moment_now();
	arcprof_anchor_set(&a, seq, 1000, &from);
	usleep(5000);
	CHECK(arcprof_anchor_ns(&a, &seq, &ns));
	to = arcprof_moment_now();
	passed = to.mono_ns - from.mono_ns;
	CHECK(ns >= 1000 + 4900000 && ns <= 1000 + passed + passed / 100);
	seq++;
	CHECK(!arcprof_anchor_ns(&a, &seq, &ns));
	arcprof_anchor_set(&a, seq, 1000, &from);
	a.cycles -= 1ull << 32;				/* too long ago for its arithmetic */
	CHECK(!arcprof_anchor_ns(&a, &seq, &ns));
}

/* ---- /proc ---- */

TEST(ptt_proc_reads_a_thread_whatever_its_name)
{
	struct ptt_thread t = { 0 };

	CHECK(ptt_proc_stat("12 (a) R) (b) S 1 12 12 0 -1 4194560 100 5 20 6 1 2 3 4 20 0 1 0 4711 9 8", &t));
	CHECK_STR(t.comm, "a) R) (b");
	CHECK_U64(t.v[PTT_FAULTS], 120);
	CHECK_U64(t.id, 4711);
	CHECK(!ptt_proc_stat("12 (a S 1", &t));
	CHECK(!ptt_proc_stat("12 ) a ( S 1", &t));
	CHECK(!ptt_proc_stat("12 (a) S 1 12 12 0 -1 4194560 100", &t));
	CHECK(ptt_proc_schedstat("123456 99 7\n", &t));
	CHECK_U64(t.v[PTT_TIME], 123456);
	CHECK_U64(t.v[PTT_DISPATCHES], 7);
	CHECK(!ptt_proc_schedstat("", &t));
	CHECK(ptt_proc_status("Name:\tx\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n", &t));
	CHECK_U64(t.v[PTT_SWITCHES], 7);
	CHECK(!ptt_proc_status("Name:\tx\nvoluntary_ctxt_switches:\t3\n", &t));
}

TEST(ptt_note_of_a_session_is_read_back)
{
	char good[] = "arcprof ptt 1 1000\nprocess 5\nthread ff 10 2 3 4\nthread 1 0 0 0 0\n";
	char other[] = "arcprof ptt 2\n", cut[] = "arcprof ptt 1 1000\nthread ff 10\n", empty[] = "";
	char odd[] = "arcprof ptt 1 1000\nprocess -5\n", more[] = "arcprof ptt 1 1\nthread 1 2 3 4 5 6\n";
	struct ptt_note n;
	struct err e;

	CHECK(!ptt_note_parse(good, &n, &e));
	CHECK_U64(n.start_ns, 1000);
	CHECK_U64(n.nr_pids, 1);
	CHECK_U64(n.nr_threads, 2);
	CHECK_U64(n.threads[0].id, 0xff);
	CHECK_U64(n.threads[0].v[PTT_SWITCHES], 4);
	ptt_note_release(&n);
	CHECK(ptt_note_parse(other, &n, &e) == -EPROTO);
	CHECK(ptt_note_parse(cut, &n, &e) == -EPROTO);
	CHECK(ptt_note_parse(odd, &n, &e) == -EPROTO);
	CHECK(ptt_note_parse(more, &n, &e) == -EPROTO);
	CHECK(ptt_note_parse(empty, &n, &e) == -EPROTO);
}

TEST(ptt_difference_of_snapshots_leaves_out_threads_that_did_not_run)
{
	struct ptt_thread old[] = { { 1, 1, "idle", true, 10, { 0 } }, { 1, 2, "busy", true, 11, { 0 } } };
	struct ptt_thread new[] = { { 1, 1, "idle", true, 10, { 0 } }, { 1, 2, "busy", true, 11, { 0 } },
				    { 1, 2, "same number", true, 12, { 0 } } };
	struct ptt_cpu c0 = { .elapsed_ns = 5, .bucket_ns = { 5 } },
		c1 = { .elapsed_ns = 9, .bucket_ns = { 6, 3 } };
	struct ptt_snapshot before = { .threads = old, .nr_threads = 2, .cpus = &c0, .nr_cpus = 1 };
	struct ptt_snapshot now = { .threads = new, .nr_threads = 3, .cpus = &c1, .nr_cpus = 1 };

	old[0].v[PTT_TIME] = new[0].v[PTT_TIME] = 100;
	old[1].v[PTT_TIME] = 100;
	new[1].v[PTT_TIME] = 250;
	new[2].v[PTT_TIME] = 70;
	ptt_snapshot_diff(&now, &before);
	CHECK_U64(now.nr_threads, 2);
	CHECK_U64(new[0].v[PTT_TIME], 150);
	CHECK_U64(new[1].v[PTT_TIME], 70);
	CHECK_U64(c1.elapsed_ns, 4);
	CHECK_U64(c1.bucket_ns[0], 1);
	CHECK_U64(c1.bucket_ns[1], 3);
}
