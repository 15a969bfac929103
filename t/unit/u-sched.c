// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmu/tracepoint.h"
#include "model/sched.h"
#include "trace/dispatch.h"
#include "trace/writer.h"
#include "unit.h"

static char path[] = "/tmp/arcprof-unit-XXXXXX";
static struct trace_writer *w;
static struct sched_model m;

TEST(dispatch_comes_back_as_it_was)
{
	struct dispatches d = { .r.type = TRF_SCHED };
	struct rec_sched in[1000], out;
	uint64_t time_ns = 0;
	struct span s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(in); i++) {
		in[i] = (struct rec_sched){
			.time_ns = unit_random() >> (unit_random() % 64),
			.thread = unit_random() >> (unit_random() % 32),
			.arg = unit_random() >> (unit_random() % 32),
			.cpu = unit_random() >> (unit_random() % 16),
			.kind = unit_random() & 7, .state = unit_random() & 7,
		};
		dispatches_add(&d, &in[i]);
	}
	dispatches_close(&d);
	CHECK_U64(d.r.nr, 1);
	CHECK_U64(d.nr, ARRAY_SIZE(in));
	memcpy(&time_ns, d.r.b.data + 8, 8);
	s = span_init(d.r.b.data + 20, d.r.b.len - 20);
	for (i = 0; i < ARRAY_SIZE(in); i++) {
		CHECK(dispatch_decode(&s, time_ns, &out));
		time_ns = out.time_ns;
		CHECK_U64(out.time_ns, in[i].time_ns);
		CHECK(out.thread == in[i].thread && out.arg == in[i].arg && out.cpu == in[i].cpu &&
		      out.kind == in[i].kind && out.state == in[i].state);
	}
	for (i = 0; i < 4; i++) {	/* less than one whole */
		s = span_init(d.r.b.data + 20, i);
		CHECK(!dispatch_decode(&s, 0, &out));
	}
	buf_release(&d.r.b);
}

TEST(dispatch_refuses_numbers_that_do_not_fit)
{
	static const uint8_t far[] = { 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0 };
	static const uint8_t cpu[] = { 0, 0xff, 0xff, 0xff, 0x7f, 0, 0 };
	struct span s = span_init(far, sizeof(far));
	struct rec_sched r;

	CHECK(!dispatch_decode(&s, 0, &r));
	s = span_init(cpu, sizeof(cpu));
	CHECK(!dispatch_decode(&s, 0, &r));
}

TEST(tracepoint_fields_are_found_by_name)
{
	static const char format[] =
		"name: sched_switch\nID: 372\nformat:\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
		"\tfield:nonsense\n"
		"\nprint fmt: \"prev_comm=%s\"\n";
	uint8_t raw[40] = { [4] = 0xfe, 0xff, 0xff, 0xff, [32] = 0x02, 0x01 };
	struct tracepoint t;

	CHECK(!tracepoint_parse(format, &t));
	CHECK_U64(t.id, 372);
	CHECK_U64(t.nr_fields, 4);
	CHECK(tracepoint_value(tracepoint_field(&t, "common_pid"), raw, sizeof(raw)) == -2);
	CHECK(tracepoint_value(tracepoint_field(&t, "prev_state"), raw, sizeof(raw)) == 0x102);
	CHECK_U64(tracepoint_field(&t, "prev_comm")->len, 16);
	CHECK_U64(tracepoint_field(&t, "name")->off, 12);
	CHECK(!tracepoint_field(&t, "next_pid"));
	CHECK(!tracepoint_value(tracepoint_field(&t, "prev_state"), raw, 39));	/* cut short */
	CHECK(!tracepoint_value(NULL, raw, sizeof(raw)));
	CHECK(tracepoint_parse("", &t) < 0);
}

/* ---- the model, of traces made here: threads 1 (idle), 2 and 3 of process 100, times in us ---- */

enum { US = 1000, START = 1000 * US };

static void begin(const char *scope, const char *states)
{
	struct err e;
	int fd = mkstemp(path);

	if (fd < 0)
		unit_skip("no file in /tmp");
	close(fd);
	unlink(path);		/* or it would be kept as .old */
	CHECK_U64(trace_writer_open(&w, path, &(struct trace_writer_opts){ .compress = true }, &e), 0);
	trace_write_label(w, "sched.scope", "%s", scope);
	trace_write_label(w, "sched.states", "%s", states);
	trace_write_label(w, "sched.irq", "yes");
	trace_write_label(w, "sched.start_ns", "%u", START);
	trace_write_label(w, "sched.end_ns", "%u", START + 1000 * US);
	trace_write_proc(w, &(struct rec_proc){ 1, 1, 0, 0, false, "swapper", 7 });
	trace_write_thread(w, &(struct rec_thread){ 1, 1, 1, 0, false, "swapper", 7 });
	trace_write_proc(w, &(struct rec_proc){ 1, 2, 0, 100, false, "prog", 4 });
	trace_write_thread(w, &(struct rec_thread){ 1, 2, 2, 100, false, "prog", 4 });
}

static void put(unsigned int us, enum sched_kind kind, uint32_t thread, uint32_t arg, enum sched_state state,
		uint16_t cpu)
{
	trace_write_sched(w, &(struct rec_sched){ START + us * US, thread, arg, cpu, kind, state });
}

static void end(uint64_t from_us, uint64_t to_us)
{
	const struct selection part = { .from_ns = from_us * US, .to_ns = to_us * US };
	struct trace_reader *t;
	struct err e;

	CHECK_U64(trace_writer_close(w, &e), 0);
	CHECK_U64(trace_reader_open(&t, path, &e), 0);
	CHECK_U64(sched_read(&m, t, &(struct sched_opts){ .select = &part }, &e), 0);
	trace_reader_close(t);
	unlink(path);
}

static const struct sched_thread *thread(uint32_t number)
{
	size_t i;

	for (i = 0; i < m.nr_threads; i++)
		if (m.threads[i].number == number)
			return &m.threads[i];
	return NULL;
}

static void check_times(uint32_t number, uint64_t cpu, uint64_t waits, uint64_t sleep, uint64_t disk,
			uint64_t unknown)
{
	const struct sched_thread *t = thread(number);

	CHECK_U64(t->times[SCHED_ON_CPU], cpu * US);
	CHECK_U64(t->times[SCHED_WAITS], waits * US);
	CHECK_U64(t->times[SCHED_ASLEEP], sleep * US);
	CHECK_U64(t->times[SCHED_IN_DISK], disk * US);
	CHECK_U64(t->times[SCHED_UNKNOWN], unknown * US);
}

static void check_sums(void)
{
	struct sums_check c;

	sched_check(&m, &c);
	CHECK_U64(c.nr_bad, 0);
	if (c.nr_bad)
		printf("# %s\n", c.first);
}

/*
 * Thread 2: runs 100, sleeps 200, waits 50, runs 100 with an interrupt of 20, disk sleep 150, waits
 * 10, runs on.
 */
static void one_thread(void)
{
	begin("system", "yes");
	put(100, SCHED_SWITCH, 2, 1, SCHED_SLEEP, 0);
	put(300, SCHED_WAKE, 2, 0, 0, 0);
	put(350, SCHED_SWITCH, 1, 2, 0, 0);
	put(400, SCHED_INTR, 2, sched_intr(SCHED_INTR_VECTOR, 236), 0, 0);
	put(410, SCHED_INTR, 2, sched_intr(SCHED_INTR_SOFT, 1), 0, 0);
	put(415, SCHED_INTR_END, 2, sched_intr(SCHED_INTR_SOFT, 1), 0, 0);
	put(420, SCHED_INTR_END, 2, sched_intr(SCHED_INTR_VECTOR, 236), 0, 0);
	put(450, SCHED_SWITCH, 2, 1, SCHED_DISK, 0);
	put(600, SCHED_WAKE, 2, 0, 0, 1);
	put(610, SCHED_SWITCH, 1, 2, 0, 1);
}

TEST(sched_times_of_a_thread_and_its_cpus_add_up)
{
	const struct sched_thread *t;

	one_thread();
	end(0, 0);
	check_times(2, 100 + 100 + 390, 50 + 10, 200, 150, 0);
	t = thread(2);
	CHECK_U64(t->intr_ns, 20 * US);
	CHECK_U64(t->nr_intr, 1);
	CHECK_U64(t->nr_soft, 1);
	CHECK_U64(t->nr_dispatches, 2);
	CHECK_U64(t->nr_voluntary, 2);
	CHECK_U64(t->nr_preempted, 0);
	CHECK_U64(t->nr_migrations, 1);
	CHECK_U64(t->nr_waits, 2);
	CHECK_U64(t->wait_sum_ns, 60 * US);
	CHECK_U64(t->wait_max_ns, 50 * US);
	CHECK_U64(m.nr_odd, 0);
	CHECK_U64(m.cpus[0].busy_ns, (100 + 80) * US);
	CHECK_U64(m.cpus[0].intr_ns, 20 * US);
	CHECK_U64(m.cpus[0].idle_ns, (250 + 550) * US);
	CHECK_U64(m.cpus[1].idle_ns, 610 * US);
	CHECK_U64(m.cpus[1].busy_ns, 390 * US);
	check_sums();
	sched_release(&m);
}

TEST(sched_window_cuts_what_is_outside)
{
	one_thread();
	end(200, 700);
	check_times(2, 100 + 90, 50 + 10, 100, 150, 0);
	CHECK_U64(sched_life_ns(&m, thread(2)), 500 * US);
	CHECK_U64(m.cpus[0].busy_ns + m.cpus[0].idle_ns + m.cpus[0].intr_ns, 500 * US);
	check_sums();
	sched_release(&m);
}

TEST(sched_time_before_a_thread_was_seen_is_unknown)
{
	begin("system", "yes");
	put(10, SCHED_SWITCH, 1, 1, 0, 0);
	put(400, SCHED_WAKE, 2, 0, 0, 0);
	put(500, SCHED_SWITCH, 1, 2, 0, 0);
	put(900, SCHED_SWITCH, 2, 1, SCHED_RUNNABLE, 0);
	end(0, 0);
	check_times(2, 400, 100 + 100, 0, 0, 400);
	CHECK_U64(thread(2)->nr_preempted, 1);
	check_sums();
	sched_release(&m);
}

TEST(sched_a_thread_made_by_fork_waits_and_one_made_by_exec_runs)
{
	begin("threads", "yes");
	trace_write_proc(w, &(struct rec_proc){ START + 200 * US, 3, 2, 101, false, "prog", 4 });
	trace_write_thread(w, &(struct rec_thread){ START + 200 * US, 3, 3, 101, false, "prog", 4 });
	trace_write_proc(w, &(struct rec_proc){ START + 400 * US, 4, 3, 101, true, "new", 3 });
	trace_write_thread(w, &(struct rec_thread){ START + 400 * US, 4, 4, 101, false, "new", 3 });
	put(300, SCHED_SWITCH, 0, 3, 0, 0);
	put(700, SCHED_SWITCH, 4, 0, SCHED_DEAD, 0);
	trace_write_end(w, &(struct rec_end){ START + 690 * US, 0, 4, 0 });
	end(0, 0);
	check_times(3, 100, 100, 0, 0, 0);
	check_times(4, 300, 0, 0, 0, 0);
	CHECK_U64(sched_life_ns(&m, thread(3)), 200 * US);
	CHECK_U64(sched_life_ns(&m, thread(4)), 300 * US);
	CHECK_U64(m.nr_odd, 0);
	check_sums();
	sched_release(&m);
}

TEST(sched_missing_records_make_unknown_time_not_wrong_time)
{
	begin("system", "yes");
	put(100, SCHED_SWITCH, 2, 1, SCHED_SLEEP, 0);
	put(300, SCHED_SWITCH, 1, 2, 0, 0);		/* its wakeup is missing */
	put(400, SCHED_SWITCH, 1, 1, 0, 0);		/* how it lost the CPU is missing */
	put(500, SCHED_SWITCH, 1, 2, 0, 0);
	put(600, SCHED_SWITCH, 2, 1, SCHED_UNTOLD, 0);	/* its state is missing */
	put(800, SCHED_SWITCH, 1, 2, 0, 0);
	end(0, 0);
	check_times(2, 100 + 100 + 200, 0, 0, 0, 200 + 100 + 100 + 200);
	CHECK_U64(m.nr_odd, 3);
	CHECK_U64(m.cpus[0].unknown_ns, 100 * US);
	check_sums();
	sched_release(&m);
}

TEST(sched_lost_records_make_everything_unknown_since_the_last_one)
{
	one_thread();
	trace_write_lost(w, &(struct rec_lost){ START + 250 * US, LOST_SCHED, 0, 7 });
	end(0, 0);
	check_times(2, 100 + 100 + 390, 50 + 10, 0, 150, 200);	/* it slept, as far as is known */
	CHECK_U64(m.nr_lost, 7);
	CHECK_U64(m.cpus[0].unknown_ns, 250 * US);
	check_sums();
	sched_release(&m);
}

TEST(sched_without_wakeups_whatever_is_not_preempted_is_blocked)
{
	begin("threads", "no");
	put(100, SCHED_SWITCH, 2, 0, SCHED_BLOCKED, 0);
	put(300, SCHED_SWITCH, 0, 2, 0, 0);
	put(400, SCHED_SWITCH, 2, 0, SCHED_RUNNABLE, 0);
	put(450, SCHED_SWITCH, 0, 2, 0, 0);
	end(0, 0);
	check_times(2, 100 + 100 + 550, 50, 200, 0, 0);
	CHECK_U64(m.nr_odd, 0);
	check_sums();
	sched_release(&m);
}

TEST(sched_sums_hold_whatever_the_records_say)
{
	int i, n;

	for (i = 0; i < 50; i++) {
		unsigned int us = 0;

		strcpy(path + strlen(path) - 6, "XXXXXX");
		begin(i & 1 ? "system" : "threads", i & 2 ? "yes" : "no");
		for (n = 0; n < 300; n++)
			put(us += unit_random() % 8 ? unit_random() % 7 : 0, unit_random() % 5,
			    unit_random() % 5, unit_random() % 5, unit_random() % 8, unit_random() % 3);
		end(i % 3 ? 0 : 200, i % 5 ? 0 : 600);
		check_sums();
		sched_release(&m);
	}
}
