// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "unit.h"

static struct trace_writer *create(const char *path, const struct trace_writer_opts *o)
{
	struct trace_writer *w;
	struct err e = { 0 };

	unlink(path);
	CHECK_U64(trace_writer_open(&w, path, o, &e), 0);
	if (!w) {
		printf("# %s\n", e.msg);
		_exit(1);
	}
	return w;
}

struct seen {
	uint64_t samples, weight, frames;
};

static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct seen *seen = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t node = s[i].stack;
		uint64_t depth = 0;

		CHECK_U64(s[i].time_ns, 1000 + seen->samples);
		CHECK_U64(s[i].cpu, seen->samples % 3);
		for (; node; node = ep->nodes[node].parent, depth++)
			CHECK_U64(ep->frames[ep->nodes[node].frame].b, (4 - depth) * 16 + seen->samples % 7);
		CHECK_U64(depth, 5);
		seen->samples++;
		seen->weight += s[i].weight;
	}
	return 0;
}

TEST(trace_samples_come_back_with_their_stacks)
{
	struct trace_writer *w = create("/tmp/u-trace.data", &(struct trace_writer_opts){ .compress = true });
	struct trace_sink sink = { .samples = on_samples };
	struct trace_reader *t;
	struct seen seen = { 0 };
	struct err e = { 0 };
	unsigned int i, d;

	for (i = 0; i < 100000; i++) {
		struct frame f[5];

		for (d = 0; d < 5; d++)
			f[d] = (struct frame){ .kind = FRAME_NATIVE, .a = d, .b = d * 16 + i % 7 };
		trace_write_sample(w, &(struct rec_sample){ .time_ns = 1000 + i, .thread = i % 5, .cpu = i % 3,
							    .stack = trace_write_stack(w, f, 5), .weight = 1 + i % 2 });
	}
	CHECK_U64(trace_writer_close(w, &e), 0);
	CHECK_U64(trace_reader_open(&t, "/tmp/u-trace.data", &e), 0);
	CHECK_U64(trace_read(t, &sink, &seen, &e), 0);
	CHECK_U64(seen.samples, 100000);
	CHECK_U64(seen.weight, 150000);
	CHECK(!trace_reader_damage(t)->truncated);
	CHECK_U64(trace_reader_damage(t)->nr_places, 0);
	trace_reader_close(t);
	unlink("/tmp/u-trace.data");
}
