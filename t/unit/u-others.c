// SPDX-License-Identifier: GPL-2.0-or-later
/* u-others.c - what other threads consumed while a call was open, by calls and by samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "traces.h"
#include "unit.h"

enum { MAIN = 1, WORKER, IDLE };	/* threads; the last has no calls */

static void write_calls(struct trace_writer *w, uint32_t tree, const struct call_event *events, uint32_t nr)
{
	trace_write_call_tree(w, &(struct rec_call_tree){ .tree = tree, .proc = 1, .thread = tree });
	trace_write_call_events(w, &(struct rec_call_events){
		.tree = tree, .nr_metrics = 1, .nr = nr, .events = events });
}

static void write_faults(struct trace_writer *w)
{
	static const struct {
		uint64_t time_ns, weight;
		uint32_t thread;
	} faults[] = { { 110, 1, MAIN }, { 130, 3, WORKER }, { 190, 7, IDLE }, { 201, 100, WORKER } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		trace_write_sample(w, &(struct rec_sample){ .time_ns = faults[i].time_ns,
			.thread = faults[i].thread, .weight = faults[i].weight });
}

/* main is in a call of 1 from 100 to 200, the worker in calls of 2 from 120 to 150 and from 160 to 300. */
static struct buf two_threads(void)
{
	static const struct call_event of_main[] = {
		{ 100, CALL_ENTERED, 1, { 10 } }, { 200, CALL_LEFT, 1, { 60 } },
	};
	static const struct call_event of_worker[] = {
		{ 120, CALL_ENTERED, 2, { 5 } }, { 150, CALL_LEFT, 2, { 1005 } },
		{ 160, CALL_ENTERED, 2, { 1006 } }, { 300, CALL_LEFT, 2, { 9006 } },
	};
	static const char *const names[] = { "", "main", "worker", "idle" };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	uint32_t i;

	trace_write_label(w, "callflow", "events");
	trace_write_label(w, "call.metric.0", "alloc");
	trace_write_label(w, "call.metric.0.unit", "bytes");
	trace_write_label(w, "event.0", "page-faults");
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "demo", .comm_len = 4 });
	for (i = MAIN; i <= IDLE; i++)
		trace_write_thread(w, &(struct rec_thread){ .thread = i, .proc = 1, .tid = 7 + i,
			.name = names[i], .name_len = strlen(names[i]) });
	for (i = 1; i <= 2; i++)
		trace_write_call_consumer(w, &(struct rec_call_consumer){
			.consumer = i, .frame = { .kind = FRAME_MARK, .mark = i } });
	write_calls(w, MAIN, of_main, ARRAY_SIZE(of_main));
	write_calls(w, WORKER, of_worker, ARRAY_SIZE(of_worker));
	write_faults(w);
	return traces_close(w);
}

/* As CSV: elapsed, base and others of each call. */
static char *list(const struct report *report, const char *metric, const char *columns, const char *thread)
{
	char *names[] = { (char *)metric }, *chosen[3] = { NULL }, *threads[] = { (char *)thread };
	struct profile_opts po = { .names.no_files = true, .metrics = { .items = names, .nr_items = 1 } };
	struct report_opts o = { .report = report, .profile = &po, .format = FORMAT_CSV, .argument = "" };
	char *copy = strdup(columns), *text = NULL, *at;
	struct buf b = two_threads();
	struct trace_reader *t;
	struct err e = { 0 };
	size_t len, nr = 0;
	FILE *out = open_memstream(&text, &len);

	for (at = strtok(copy, ","); at && nr < ARRAY_SIZE(chosen); at = strtok(NULL, ","))
		chosen[nr++] = at;
	o.choice.columns = (struct opt_list){ .items = chosen, .nr_items = nr };
	if (thread)
		o.select.threads = (struct opt_list){ .items = threads, .nr_items = 1 };
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!report->print_trace(t, &o, out, &e));
	fclose(out);
	trace_reader_close(t);
	buf_release(&b);
	free(copy);
	return text;
}

TEST(others_are_what_other_threads_were_charged_in_between)
{
	char *text = list(&report_flow, "alloc", "elapsed,base,others", NULL);

	/* by the time of the end: of the worker, of main, of the worker */
	CHECK_STR(text, "elapsed,base,others\n1000,1000,0\n50,50,1006\n8000,8000,50\n");
	free(text);
	text = list(&report_calls, "alloc", "total,self,others", NULL);
	CHECK_STR(text, "total,self,others\n9000,9000,50\n50,50,1006\n");
	free(text);
}

TEST(others_of_a_chosen_thread_are_those_that_were_not_chosen)
{
	char *text = list(&report_flow, "alloc", "elapsed,base,others", "main");

	CHECK_STR(text, "elapsed,base,others\n50,50,1006\n");
	free(text);
}

TEST(others_of_samples_have_threads_without_calls)
{
	char *text = list(&report_flow, "page-faults", "elapsed,base,others", NULL);

	CHECK_STR(text, "elapsed,base,others\n3,3,0\n1,1,10\n100,100,7\n");
	free(text);
}
