// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-account.c - what samples have, compared with what was counted of all and of each thread; and events
 * against what JVMs count of themselves.
 */
#include <errno.h>
#include <string.h>

#include "model/account.h"
#include "model/tallies.h"
#include "traces.h"
#include "unit.h"

enum { MIB = 1 << 20, OF_THREAD = 100 * MIB };

/* A trace of two threads, with samples of 1 MiB each of the first alone. */
static struct trace_reader *trace(struct buf *b, const char *event, uint64_t counted, uint64_t nr_samples,
				  const char *missing, uint64_t runnable)
{
	struct rec_sample sample = { .time_ns = 2000, .thread = 1, .weight = MIB };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct trace_reader *t;
	struct err e;
	uint64_t i;

	trace_write_label(w, "event.0", "%s", event);
	trace_write_label(w, "event.0.unit", "bytes");
	trace_write_label(w, "event.0.interval", "%d", MIB);
	trace_write_label(w, "event.0.counted", "%llu", (unsigned long long)counted);
	if (missing)
		trace_write_label(w, "event.0.missing", "%s", missing);
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 10, .comm = "p", .comm_len = 1 });
	for (i = 1; i <= 2; i++)
		trace_write_thread(w, &(struct rec_thread){
			.thread = i, .proc = 1, .tid = 10 + i, .name = "t", .name_len = 1 });
	for (i = 0; i < nr_samples; i++)
		trace_write_sample(w, &sample);
	for (i = 0; i < 2; i++)
		trace_write_counted(w, &(struct rec_counted){
			.time_ns = 3000, .thread = 1, .amount = OF_THREAD / 2 });
	trace_write_counted(w, &(struct rec_counted){
		.time_ns = 3000, .thread = 2, .event = 1, .amount = 5 });
	trace_write_wall(w, &(struct rec_wall){ .time_ns = 3000, .thread = 1, .runnable_ns = runnable });
	*b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b->data, b->len, &e));
	return t;
}

static struct sums_check checked_of(const char *event, uint64_t counted, uint64_t nr_samples,
				       const char *missing, uint64_t runnable)
{
	struct sums_check c;
	struct trace_reader *t;
	struct err e;
	struct buf b;

	t = trace(&b, event, counted, nr_samples, missing, runnable);
	CHECK(!account_check(t, &c, &e));
	trace_reader_close(t);
	buf_release(&b);
	return c;
}

static struct sums_check checked(uint64_t counted, uint64_t nr_samples, const char *missing)
{
	return checked_of("alloc", counted, nr_samples, missing, 0);
}

TEST(account_check_allows_for_chance_and_for_no_more)
{
	struct sums_check c = checked(OF_THREAD, 100, NULL);

	CHECK_U64(c.nr_checked, 2);
	CHECK_U64(c.nr_bad, 0);
	/* four deviations of 10 samples, a twentieth, and upwards what Bernstein adds for what is rare */
	CHECK_U64(checked(OF_THREAD, 150, NULL).nr_bad, 0);
	CHECK_U64(checked(OF_THREAD, 151, NULL).nr_bad, 1);
	CHECK_U64(checked(OF_THREAD, 56, NULL).nr_bad, 0);
	CHECK_U64(checked(OF_THREAD, 54, NULL).nr_bad, 1);
	CHECK_U64(checked(OF_THREAD, 0, NULL).nr_bad, 1);
	/* less for a reason */
	CHECK_U64(checked(OF_THREAD, 54, "samples were lost").nr_bad, 0);
	CHECK_U64(checked(OF_THREAD, 151, "samples were lost").nr_bad, 1);
}

TEST(account_check_finds_more_in_threads_than_in_all)
{
	struct sums_check c = checked(OF_THREAD - MIB, 100, NULL);

	CHECK_U64(c.nr_bad, 1);
	CHECK_STR(c.first, "counted for threads of allocated bytes: 104857600 bytes, at most 103809024 expected");
	CHECK_U64(checked(OF_THREAD + MIB, 100, NULL).nr_bad, 0);
}

/* Of lives: what a thread waited for a CPU may be after its end was recorded. */
TEST(account_check_allows_for_threads_that_end_late)
{
	CHECK_U64(checked_of("wall", OF_THREAD, 180, NULL, 0).nr_bad, 1);
	CHECK_U64(checked_of("wall", OF_THREAD, 180, NULL, 80ull * MIB).nr_bad, 0);
	CHECK_U64(checked_of("wall", OF_THREAD, 180, NULL, 20ull * MIB).nr_bad, 1);
	CHECK_U64(checked_of("alloc", OF_THREAD, 180, NULL, 80ull * MIB).nr_bad, 1);
}

TEST(account_has_only_the_counts_of_its_event)
{
	struct account a;
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b;

	t = trace(&b, "alloc", 2 * OF_THREAD, 90, NULL, 0);
	CHECK(!account_read(&a, t, "alloc", &e));
	CHECK_U64(a.nr, 2);
	CHECK_U64(a.threads[0].counted, OF_THREAD);
	CHECK_U64(a.threads[0].sampled, 90 * MIB);
	CHECK(!a.threads[1].known);
	CHECK_U64(a.nobodys, OF_THREAD);
	account_release(&a);
	CHECK(account_read(&a, t, "live", &e) == -ENODATA);
	account_release(&a);
	trace_reader_close(t);
	buf_release(&b);
	/* who counts it is not known */
	t = trace(&b, "others", OF_THREAD, 90, NULL, 0);
	CHECK(account_read(&a, t, NULL, &e) == -ENODATA);
	account_release(&a);
	trace_reader_close(t);
	buf_release(&b);
}

/* Pauses of 100 us each, one of which began before the count did, and one after it. */
static struct sums_check pauses(uint64_t nr_recorded, uint64_t n, uint64_t ns, const char *why)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct trace_reader *t;
	struct sums_check c;
	struct err e;
	struct buf b;
	uint64_t i;

	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 10, .comm = "p", .comm_len = 1 });
	for (i = 0; i < nr_recorded + 2; i++)
		trace_write_event(w, &(struct rec_event){
			.time_ns = 800000 + i * 200000, .kind = EVENT_GC, .proc = 1, .duration_ns = 100000,
			.what = "Pause", .what_len = 5, .cause = "" });
	trace_write_tally(w, &(struct rec_tally){
		.time_ns = 1000000 + nr_recorded * 200000 - 1, .begin_ns = 1000000, .proc = 1,
		.kind = TALLY_PAUSES, .n = n, .ns = ns, .why = why, .why_len = strlen(why) });
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!tallies_check(t, &c, &e));
	trace_reader_close(t);
	buf_release(&b);
	return c;
}

TEST(tallies_check_expects_the_pauses_that_the_jvm_counted)
{
	struct sums_check c = pauses(10, 10, 1000000, "");

	CHECK_U64(c.nr_checked, 2);
	CHECK_U64(c.nr_bad, 0);
	/* one was under way at each end */
	CHECK_U64(pauses(10, 12, 1200000, "").nr_bad, 0);
	c = pauses(10, 13, 1300000, "");
	CHECK_U64(c.nr_bad, 1);
	CHECK_STR(c.first, "process 10: 10 pauses, 13 by the JVM's count");
	CHECK_U64(pauses(10, 7, 700000, "").nr_bad, 1);
	/* longer than what was recorded, but for its precision */
	CHECK_U64(pauses(10, 10, 1040000, "").nr_bad, 0);
	CHECK_U64(pauses(10, 10, 1041000, "").nr_bad, 1);
	CHECK_U64(pauses(10, 10, 500000, "").nr_bad, 0);
	CHECK_U64(pauses(10, 0, 0, "it does not say").nr_checked, 0);
}

/* Waits for two monitors of one process, and one for a lock that is no monitor. */
static struct sums_check enters(uint64_t nr_recorded, uint64_t n)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct trace_reader *t;
	struct sums_check c;
	struct err e;
	struct buf b;
	uint32_t i;

	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 10, .comm = "p", .comm_len = 1 });
	for (i = 0; i < 3; i++)
		trace_write_lock(w, &(struct rec_lock){
			.time_ns = 5000, .proc = 1, .identity = i + 1, .kind = i < 2 ? LOCK_ENTER : LOCK_LOCK,
			.n = nr_recorded / 2, .buckets = (const uint8_t *)"", .owners = (const uint8_t *)"" });
	trace_write_tally(w, &(struct rec_tally){
		.time_ns = 4000, .begin_ns = 1000, .proc = 1, .kind = TALLY_ENTERS, .n = n, .why = "" });
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!tallies_check(t, &c, &e));
	trace_reader_close(t);
	buf_release(&b);
	return c;
}

TEST(tallies_check_expects_at_least_the_waits_that_the_jvm_counted)
{
	struct sums_check c = enters(100, 103);

	CHECK_U64(c.nr_checked, 1);
	CHECK_U64(c.nr_bad, 1);
	CHECK_STR(c.first, "process 10: 100 waits for monitors, 103 by the JVM's count");
	CHECK_U64(enters(100, 102).nr_bad, 0);
	CHECK_U64(enters(100, 50).nr_bad, 0);
}
