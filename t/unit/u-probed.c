// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "model/timeline.h"
#include "traces.h"
#include "unit.h"

/* The events of the traces. */
enum {
	CLOCK, LEAVE_READ, ENTER_READ, ENTER_WRITE, LEAVE_WRITE, LEAVE_OTHER, ENTER_OFTEN, LEAVE_OFTEN,
	NR_EVENTS
};

static struct trace_writer *begin(const char *callflow)
{
	static const char *const names[NR_EVENTS] = {
		"cpu-clock", "uprobe-return:libc.so.6:read", "uprobe:libc.so.6:read", "uprobe:libc.so.6:write",
		"uprobe-return:libc.so.6:write", "uprobe-return:app:other", "uprobe:app:often",
		"uprobe-return:app:often",
	};
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	char key[24];
	int i;

	for (i = 0; i < NR_EVENTS; i++) {
		snprintf(key, sizeof(key), "event.%d", i);
		trace_write_label(w, key, "%s", names[i]);
	}
	trace_write_label(w, "event.2.period", "1");
	trace_write_label(w, "event.6.period", "10");
	if (callflow)
		trace_write_label(w, "callflow", "%s", callflow);
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	for (i = 'A'; i <= 'B'; i++)
		trace_write_thread(w, &(struct rec_thread){
			.thread = i, .proc = 1, .tid = i, .name = "A", .name_len = 1 });
	return w;
}

static void probe(struct trace_writer *w, uint32_t thread, uint32_t event, uint64_t time_ns, uint64_t weight)
{
	trace_write_sample(w, &(struct rec_sample){
		.time_ns = time_ns, .thread = thread, .event = event, .cpu = UINT16_MAX, .user = true,
		.weight = weight });
}

struct listing {
	struct calls c;
	struct buf text;
};

static bool needs_all(void *ctx, const struct timeline_event *x)
{
	(void)ctx;
	(void)x;
	return true;
}

static int note_event(void *ctx, const struct timeline_event *x)
{
	struct listing *s = ctx;

	buf_fmt(&s->text, "%llu %c %s %s\n", (unsigned long long)x->time_ns, (int)s->c.trees[x->tree].thread,
		timeline_kind_name(x->kind),
		consumer_name(&s->c.names->m->consumers, calls_consumer(&s->c, x->function)));
	return 0;
}

/* Return what timeline_init() does; text has a line for each event. */
static int read_events(struct trace_writer *w, struct buf *text)
{
	static const struct timeline_sink sink = { .needs = needs_all, .event = note_event };
	const struct resolve_opts o = { .no_files = true };
	struct listing s = { .text = BUF_INIT };
	struct trace_reader *t;
	struct timeline l;
	struct names x;
	struct model m;
	struct err e;
	struct buf b = traces_close(w);
	int r;

	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	model_init(&m, 1, FLOW_CALLS);
	names_init(&x, &m, &o);
	CHECK(!trace_read(t, &names_sink, &x, &e));
	calls_init(&s.c, &x);
	r = timeline_init(&l, &s.c, t, &e);
	if (!r)
		CHECK(!timeline_read(&l, t, &sink, &s, &e));
	timeline_release(&l);
	calls_release(&s.c);
	names_release(&x);
	model_release(&m);
	trace_reader_close(t);
	buf_release(&b);
	*text = s.text;
	return r;
}

TEST(probed_entries_and_returns_are_events_of_calls)
{
	struct trace_writer *w = begin(NULL);
	struct buf text;

	/* a call that had begun before */
	probe(w, 'B', LEAVE_READ, 900, 1);
	probe(w, 'A', ENTER_READ, 1000, 1);
	probe(w, 'B', ENTER_WRITE, 1100, 1);
	probe(w, 'A', CLOCK, 1200, 1);
	probe(w, 'A', ENTER_WRITE, 1300, 1);
	probe(w, 'A', LEAVE_WRITE, 1400, 1);
	/* of the function no entries were sampled; of the calls of this one, one in ten */
	probe(w, 'A', LEAVE_OTHER, 1450, 1);
	probe(w, 'A', ENTER_OFTEN, 1460, 10);
	probe(w, 'A', LEAVE_OFTEN, 1470, 1);
	/* a sample before this one was lost */
	probe(w, 'A', LEAVE_READ, 1500, 2);
	/* in another order than that of time */
	probe(w, 'A', LEAVE_WRITE, 1700, 1);
	probe(w, 'A', ENTER_WRITE, 1600, 1);
	CHECK(!read_events(w, &text));
	CHECK_STR(text.data, "1000 A entry read\n1100 B entry write\n1300 A entry write\n1400 A exit write\n"
			     "1500 A exit read\n1600 A entry write\n1700 A exit write\n");
	buf_release(&text);
}

TEST(probed_entries_are_no_events_beside_calls_that_were_counted)
{
	struct trace_writer *w = begin("trees");
	struct buf text;

	probe(w, 'A', ENTER_READ, 1000, 1);
	probe(w, 'A', LEAVE_READ, 1500, 1);
	CHECK(read_events(w, &text) < 0);
	CHECK_U64(text.len, 0);
	buf_release(&text);
}
