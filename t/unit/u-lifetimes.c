// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "model/lifetimes.h"
#include "traces.h"
#include "unit.h"

enum { SECOND = 1000000000, MS = 1000000, KEPT = 1, YOUNG, CACHED, NR_CLASSES = CACHED };
enum { LIFETIME, DIED, LIVE };		/* events */

static void write_sample(struct trace_writer *w, uint32_t event, uint32_t class, uint32_t at_ms,
			 uint64_t weight)
{
	const struct frame f = { FRAME_NAMED, .function = class };
	struct rec_sample s = {
		.time_ns = SECOND + (uint64_t)at_ms * MS, .thread = 'A', .event = event, .cpu = UINT16_MAX,
		.user = true, .weight = weight,
	};

	s.stack = trace_write_stack(w, &f, 1);
	trace_write_sample(w, &s);
}

/* Objects that lived from one time to the look that found them dead. */
static void write_dead(struct trace_writer *w, uint32_t class, uint64_t nr, uint32_t from_ms, uint32_t to_ms)
{
	write_sample(w, LIFETIME, class, to_ms, nr * (to_ms - from_ms) * MS);
	write_sample(w, DIED, class, to_ms, nr);
}

static void write_sweep(struct trace_writer *w, uint32_t at_ms, uint32_t whole_ms)
{
	trace_write_sweep(w, &(struct rec_sweep){
		.time_ns = SECOND + (uint64_t)at_ms * MS, .proc = 1, .pauses = 1,
		.whole_ns = SECOND + (uint64_t)whole_ms * MS,
	});
}

static struct trace_writer *begin(void)
{
	static const char *const names[] = { "Kept", "Young", "Cached" };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	uint32_t i;

	trace_write_label(w, "event.0", "lifetime");
	trace_write_label(w, "event.1", "died");
	trace_write_label(w, "event.2", "live-objects");
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	trace_write_thread(w, &(struct rec_thread){
		.thread = 'A', .proc = 1, .tid = 7, .name = "A", .name_len = 1 });
	for (i = 1; i <= NR_CLASSES; i++)
		trace_write_function(w, &(struct rec_function){
			.function = i, .kind = FUNCTION_CLASS, .name = names[i - 1],
			.name_len = strlen(names[i - 1]), .module = "", .file = "" });
	return w;
}

static void end(struct trace_writer *w, struct lifetimes *m)
{
	const struct selection all = { 0 };
	struct trace_reader *t;
	struct err e;
	struct buf b = traces_close(w);

	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!lifetimes_read(m, t, &all, &e));
	lifetimes_by_class(m);
	trace_reader_close(t);
	buf_release(&b);
}

static const char *name_of(const struct lifetimes *m, size_t class)
{
	return consumer_name(&m->strings.consumers, m->classes[class].class_name);
}

TEST(lifetimes_by_class_are_a_series_over_collections)
{
	struct trace_writer *w = begin();
	struct lifetimes m;

	write_sample(w, LIVE, KEPT, 50, 5);
	write_dead(w, CACHED, 3, 50, 300);
	write_dead(w, YOUNG, 7, 120, 200);	/* no collection left them */
	write_sweep(w, 100, 90);
	write_sweep(w, 150, 90);		/* of the young alone */
	write_sweep(w, 200, 190);
	write_sweep(w, 300, 290);
	end(w, &m);
	CHECK(m.points_are_whole);
	CHECK_U64(m.nr_points, 3);
	CHECK_U64(m.points_ns[0], SECOND + 100 * MS);
	CHECK_U64(m.points_ns[1], SECOND + 200 * MS);
	CHECK_U64(m.nr_classes, 2);
	CHECK_STR(name_of(&m, 0), "Kept");
	CHECK_U64(m.classes[0].live[0], 5);
	CHECK_U64(m.classes[0].live[2], 5);
	CHECK_STR(name_of(&m, 1), "Cached");
	CHECK_U64(m.classes[1].pid, 7);
	CHECK_U64(m.classes[1].live[0], 3);
	CHECK_U64(m.classes[1].live[1], 3);
	CHECK_U64(m.classes[1].live[2], 0);
	/* what the rows of all collections add up to */
	CHECK_U64(m.sweeps[0].live, 8);
	CHECK_U64(m.sweeps[3].live, 5);
	lifetimes_release(&m);
}

TEST(lifetimes_by_class_have_eight_points_of_more)
{
	struct trace_writer *w = begin();
	struct lifetimes m;
	uint32_t i;

	write_sample(w, LIVE, KEPT, 50, 1);
	for (i = 1; i <= 100; i++)
		write_sweep(w, i * 100, 0);
	end(w, &m);
	CHECK(!m.points_are_whole);
	CHECK_U64(m.nr_points, LIFETIMES_POINTS);
	CHECK_U64(m.points_ns[0], SECOND + 100ull * MS);
	CHECK_U64(m.points_ns[LIFETIMES_POINTS - 1], SECOND + 10000ull * MS);
	CHECK_U64(m.classes[0].live[0], 1);
	lifetimes_release(&m);
}
