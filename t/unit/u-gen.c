// SPDX-License-Identifier: GPL-2.0-or-later
/* u-gen.c - the lines of an event trace: in order of time, in little memory. */
#include <stdio.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "report/gensel.h"
#include "traces.h"
#include "unit.h"

enum { NR_RECORDS = 160 / UNIT_STRIDE, NR_EVENTS = 4096 };	/* of each of two threads */

/* Events of thread i are at even or odd times; its records come by threes, so that they go back in time. */
static struct buf two_threads(void)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	struct call_event *events = xcalloc(NR_EVENTS, sizeof(*events));
	uint64_t now[2] = { 0, 1 };
	uint32_t i, k, n;

	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "demo", .comm_len = 4 });
	for (i = 0; i < 2; i++) {
		trace_write_thread(w, &(struct rec_thread){ .thread = 1 + i, .proc = 1, .tid = 7 + i,
							    .name = i ? "odd" : "even", .name_len = 3 + !i });
		trace_write_call_tree(w,
				      &(struct rec_call_tree){ .tree = 1 + i, .proc = 1, .thread = 1 + i });
	}
	for (n = 0; n < 2 * NR_RECORDS; n++) {
		i = n / 3 & 1;
		for (k = 0; k < NR_EVENTS; k++, now[i] += 2)
			events[k] = (struct call_event){ .time_ns = now[i], .kind = k & 1, .consumer = 1 };
		trace_write_call_events(w,
					&(struct rec_call_events){ .tree = 1 + i, .nr = NR_EVENTS,
						.events = events });
	}
	free(events);
	return traces_close(w);
}

struct lines {
	uint64_t nr, nr_wrong;
	size_t nr_last;
	char last[64];			/* of the line that is being read */
};

/* Threads take turns while both have events. */
static ssize_t on_text(void *ctx, const char *text, size_t len)
{
	struct lines *l = ctx;
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] != '\n') {
			l->last[l->nr_last++ % sizeof(l->last)] = text[i];
			continue;
		}
		if (l->nr && l->nr < 2 * (NR_RECORDS - 3) * (uint64_t)NR_EVENTS)
			l->nr_wrong += (l->last[(l->nr_last - 1) % sizeof(l->last)] == 'n') != (l->nr & 1);
		l->nr++;
		l->nr_last = 0;
	}
	return len;
}

TEST(gen_is_in_order_of_time_and_keeps_little)
{
	const struct gen_opts own = { .events.nr_items = 0 };
	const struct profile_opts po = { .names.no_files = true };
	const struct report_opts o = { .report = &report_gen, .own = &own, .profile = &po };
	struct buf b = two_threads();
	struct lines lines = { 0 };
	FILE *out = fopencookie(&lines, "w", (cookie_io_functions_t){ .write = on_text });
	struct rusage before, after;
	struct trace_reader *t;
	struct err e = { 0 };

	getrusage(RUSAGE_SELF, &before);
	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(report_gen.print_trace(t, &o, out, &e), 0);
	fclose(out);
	getrusage(RUSAGE_SELF, &after);
	CHECK_U64(lines.nr, 1 + 2 * NR_RECORDS * NR_EVENTS);
	CHECK_U64(lines.nr_wrong, 0);
#ifndef SANITIZED		/* which keeps what was freed */
	CHECK(after.ru_maxrss - before.ru_maxrss < 48 << 10);	/* KiB; 1.3 M events are 120 MiB */
#endif
	trace_reader_close(t);
	buf_release(&b);
}
