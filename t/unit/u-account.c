// SPDX-License-Identifier: GPL-2.0-or-later
/* u-account.c - what samples have, held against what was counted of all and of each thread. */
#include <errno.h>

#include "model/account.h"
#include "traces.h"
#include "unit.h"

enum { MIB = 1 << 20, OF_THREAD = 100 * MIB };

/* A trace of two threads, with samples of 1 MiB each of the first alone. */
static struct trace_reader *trace(struct buf *b, const char *event, uint64_t counted, uint64_t nr_samples,
				  const char *missing)
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
	*b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b->data, b->len, &e));
	return t;
}

static struct account_check checked(uint64_t counted, uint64_t nr_samples, const char *missing)
{
	struct account_check c;
	struct trace_reader *t;
	struct err e;
	struct buf b;

	t = trace(&b, "alloc", counted, nr_samples, missing);
	CHECK(!account_check(t, &c, &e));
	trace_reader_close(t);
	buf_release(&b);
	return c;
}

TEST(account_check_allows_for_chance_and_for_no_more)
{
	struct account_check c = checked(OF_THREAD, 100, NULL);

	CHECK_U64(c.nr_checked, 2);
	CHECK_U64(c.nr_bad, 0);
	/* four deviations of 10 samples, and a twentieth */
	CHECK_U64(checked(OF_THREAD, 144, NULL).nr_bad, 0);
	CHECK_U64(checked(OF_THREAD, 146, NULL).nr_bad, 1);
	CHECK_U64(checked(OF_THREAD, 56, NULL).nr_bad, 0);
	CHECK_U64(checked(OF_THREAD, 54, NULL).nr_bad, 1);
	CHECK_U64(checked(OF_THREAD, 0, NULL).nr_bad, 1);
	/* less for a reason */
	CHECK_U64(checked(OF_THREAD, 54, "samples were lost").nr_bad, 0);
	CHECK_U64(checked(OF_THREAD, 146, "samples were lost").nr_bad, 1);
}

TEST(account_check_finds_more_in_threads_than_in_all)
{
	struct account_check c = checked(OF_THREAD - MIB, 100, NULL);

	CHECK_U64(c.nr_bad, 1);
	CHECK_STR(c.first, "counted for threads of allocated bytes: 104857600 bytes, at most 103809024 expected");
	CHECK_U64(checked(OF_THREAD + MIB, 100, NULL).nr_bad, 0);
}

TEST(account_has_the_counts_of_its_event_alone)
{
	struct account a;
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b;

	t = trace(&b, "alloc", 2 * OF_THREAD, 90, NULL);
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
	t = trace(&b, "others", OF_THREAD, 90, NULL);
	CHECK(account_read(&a, t, NULL, &e) == -ENODATA);
	account_release(&a);
	trace_reader_close(t);
	buf_release(&b);
}
