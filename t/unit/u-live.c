// SPDX-License-Identifier: GPL-2.0-or-later
/* u-live.c - a trace in parts, as its writer makes them, and the tree of each. */
#include <string.h>

#include "base/buf.h"
#include "flow/check.h"
#include "model/live.h"
#include "trace/writer.h"
#include "unit.h"

static struct buf part;
static struct trace_writer *w;
static struct live live;

static void take(void *ctx, const void *p, size_t len)
{
	buf_add(&part, p, len);
}

static struct frame native(uint64_t off)
{
	return (struct frame){ .kind = FRAME_NATIVE, .module = 1, .off = off };
}

static void begin(uint64_t epoch_bytes)
{
	const struct trace_writer_opts o = { .take = take, .epoch_bytes = epoch_bytes };
	struct err e;

	live_init(&live);
	CHECK_U64(trace_writer_open(&w, "nowhere/at all", &o, &e), 0);
	trace_write_label(w, "event.0", "cpu-clock");
	trace_write_label(w, "event.0.unit", "ns");
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 10, .comm = "prog", .comm_len = 4 });
	trace_write_thread(w, &(struct rec_thread){ .thread = 1, .proc = 1, .tid = 10, .name = "prog",
			   .name_len = 4 });
	trace_write_module(w, &(struct rec_module){ .module = 1, .path = "/lib/l.so", .path_len = 9 });
}

static void end(void)
{
	struct err e;

	CHECK_U64(trace_writer_close(w, &e), 0);
	live_release(&live);
	buf_release(&part);
}

static void sample(const struct frame *frames, size_t nr)
{
	const uint32_t stack = trace_write_stack(w, frames, nr);

	trace_write_sample(w, &(struct rec_sample){ .time_ns = 1, .thread = 1, .stack = stack, .weight = 5 });
}

static void symbol(uint64_t off, const char *name)
{
	trace_write_symbol(w, &(struct rec_symbol){ off, 16, 1, name, strlen(name) });
}

static void next_part(void)
{
	struct flow_check c[FLOW_NR_CHECKS];
	struct err e;

	trace_writer_flush(w);
	CHECK_U64(live_take(&live, part.data, part.len, &e), 0);
	buf_reset(&part);
	CHECK_U64(flow_check(&live.model.flow, c), 0);
}

/* n of the nodes of a function in the tree of the latest part. */
static uint64_t n_of(const char *name)
{
	const struct flow *f = &live.model.flow;
	uint64_t n = 0;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		if (!strcmp(consumer_name(&live.model.consumers, f->nodes[i].consumer), name))
			n += f->nodes[i].n;
	return n;
}

TEST(each_part_of_a_trace_has_its_own_samples_and_knows_what_was_named_before)
{
	const struct frame f[] = { native(0), native(100), native(200) };

	begin(0);
	sample(f, 2);
	symbol(0, "main");
	symbol(100, "work");
	next_part();
	CHECK_U64(n_of("work"), 1);
	CHECK_U64(n_of("main"), 0);
	/* the same stack without a new record of it, and one that goes on below it */
	sample(f, 2);
	sample(f, 2);
	sample(f, 3);
	symbol(200, "more");
	next_part();
	CHECK_U64(n_of("work"), 2);
	CHECK_U64(n_of("more"), 1);
	CHECK_U64(flow_cum(&live.model.flow, 1)[0], 15);
	next_part();		/* nothing came */
	CHECK_U64(live.model.flow.nr_nodes, 1);
	sample(f, 1);
	next_part();
	CHECK_U64(n_of("main"), 1);
	end();
}

TEST(parts_of_a_trace_go_over_epochs_of_stacks)
{
	struct frame f[2] = { native(0) };
	uint64_t i;

	begin(4096);
	symbol(0, "main");
	for (i = 0; i < 3000; i++) {
		f[1] = native(1000 + i * 16);
		if (i % 1000 < 10)
			symbol(f[1].off, i % 1000 == 7 ? "seven" : "other");
		sample(f, 2);
		sample(f, 1);
		if (i % 1000 == 999) {
			next_part();
			CHECK_U64(n_of("seven"), 1);
			CHECK_U64(n_of("main"), 1000);
		}
	}
	end();
}

TEST(a_tree_that_is_taken_away_stays_as_it_was)
{
	const struct frame f[] = { native(0), native(100) };
	struct flow old;

	begin(0);
	symbol(0, "main");
	symbol(100, "work");
	sample(f, 2);
	next_part();
	live_take_flow(&live, &old);
	CHECK_U64(live.model.flow.nr_nodes, 1);
	sample(f, 1);
	sample(f, 1);
	next_part();
	CHECK_U64(n_of("main"), 2);
	CHECK_U64(n_of("work"), 0);
	CHECK_U64(old.nr_nodes, 5);
	CHECK_U64(flow_cum(&old, 1)[0], 5);
	flow_release(&old);
	end();
}
