// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace-gen.c - writes a trace of invented samples, for benchmarks of the reader and the
 * reports: always the same for the same options.
 *
 * Stacks grow as a real program's do: a new stack shares the outer part of an earlier one and
 * differs from some depth on; samples choose stacks by a skewed distribution.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/opt.h"
#include "trace/writer.h"

enum { NR_THREADS = 16, NR_FUNCS = 4000, NR_METHODS = 3000, FUNC_BYTES = 512 };

struct gen_opts {
	uint64_t samples, stacks, depth, max_depth, epoch_bytes;
	bool java, compress;
};

static const struct opt options[] = {
	OPT_U64('n', "samples", struct gen_opts, samples, "n", "2200000", "samples to write"),
	OPT_U64('s', "stacks", struct gen_opts, stacks, "n", "222000", "different stacks"),
	OPT_U64('d', "depth", struct gen_opts, depth, "n", "6", "mean number of frames"),
	OPT_U64('m', "max-depth", struct gen_opts, max_depth, "n", "496", "greatest number of frames"),
	OPT_SIZE(0, "epoch-bytes", struct gen_opts, epoch_bytes, "bytes", NULL,
		 "memory of an epoch's stacks"),
	OPT_FLAG('j', "java", struct gen_opts, java, "Java frames, with methods and code records"),
	OPT_FLAG('z', "compress", struct gen_opts, compress, "compress chunks"),
	OPT_END
};

struct stack {
	struct frame *frames;
	size_t nr;
};

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Small numbers are much likelier. */
static uint64_t skewed(uint64_t n)
{
	double x = (next_random() >> 11) * 0x1p-53;

	return n * x * x * x;
}

static struct frame new_frame(const struct gen_opts *o, bool leaf)
{
	uint64_t where = leaf ? next_random() % 64 * 4 : next_random() % 4 * 100 + 40;
	uint32_t i;

	if (o->java) {
		i = skewed(NR_METHODS) + 1;
		if (next_random() % 20 == 0)
			return (struct frame){ FRAME_INTERP, .proc = 1, .method = i,
					       .bci = next_random() % 8 * 7 };
		return (struct frame){ FRAME_JIT, .proc = 1, .addr = 0x7f0000000000 + i * 4096ull + where,
				       .method = i, .compile_id = i };
	}
	if (leaf && next_random() % 8 == 0)
		return (struct frame){ FRAME_KERNEL, .module = 3,
				       .off = 0xffffffff81000000 + skewed(NR_FUNCS) * FUNC_BYTES + where };
	i = skewed(NR_FUNCS);
	return (struct frame){ FRAME_NATIVE, .module = 1 + (i & 1), .off = i * FUNC_BYTES + where };
}

static struct stack *make_stacks(const struct gen_opts *o)
{
	struct stack *stacks = xcalloc(o->stacks, sizeof(*stacks));
	uint64_t i, d;

	for (i = 0; i < o->stacks; i++) {
		struct stack *s = &stacks[i], *like = i ? &stacks[next_random() % i] : NULL;
		uint64_t nr = 1 + next_random() % (2 * o->depth - 1), shared;

		if (o->java && next_random() % 16 == 0)
			nr *= 1 + next_random() % 8;	/* some recurse deeply */
		nr = MIN(nr, o->max_depth);
		shared = like ? MIN(like->nr, nr) : 0;
		shared -= shared ? 1 + skewed(shared) : 0;
		s->frames = xmalloc(nr * sizeof(*s->frames));
		s->nr = nr;
		for (d = 0; d < nr; d++)
			s->frames[d] = d < shared ? like->frames[d] : new_frame(o, d == nr - 1);
	}
	return stacks;
}

static void write_names(struct trace_writer *w, const struct gen_opts *o, uint64_t t0)
{
	static const char *const paths[] = { "/usr/bin/program", "/usr/lib/libprogram.so.1", "[kernel.kallsyms]" };
	static const uint8_t inl[] = { 2, 10, 1, 1, 5, 30, 2, 2, 1, 1, 9 };
	char name[64];
	uint32_t i;

	trace_write_label(w, "command", "trace-gen");
	trace_write_label(w, "event.0", "cpu-clock");
	trace_write_label(w, "event.0.unit", "ns");
	trace_write_proc(w, &(struct rec_proc){ t0, 1, 0, 4711, false, "program", 7 });
	for (i = 1; i <= NR_THREADS; i++)
		trace_write_thread(w, &(struct rec_thread){ t0, i, 1, 4710 + i, false, name,
							    snprintf(name, sizeof(name), "worker-%u", i) });
	for (i = 0; i < 3; i++)
		trace_write_module(w, &(struct rec_module){ .time_ns = t0, .module = i + 1,
							    .flags = i == 2 ? MODULE_KERNEL : 0,
							    .path = paths[i],
							    .path_len = strlen(paths[i]) });
	for (i = 1; i <= 2; i++)
		trace_write_map(w, &(struct rec_map){ t0, 1, i, 0x550000000000ull * i, NR_FUNCS * FUNC_BYTES,
			0 });
	for (i = 1; o->java && i <= NR_METHODS; i++) {
		snprintf(name, sizeof(name), "com/example/package%u/Class%u", i % 40, i / 10);
		trace_write_method(w, &(struct rec_method){ t0, 1, i, name, strlen(name), "method", 6,
			"(II)V", 5,
							    "Class.java", 10 });
		trace_write_code(w, &(struct rec_code){ t0, 0x7f0000000000 + i * 4096ull, 1, i, i, 4, 1024,
			inl,
							sizeof(inl) });
	}
}

static void write_symbols(struct trace_writer *w)
{
	char name[64];
	uint32_t i, module;

	for (i = 0; i < NR_FUNCS; i++) {
		for (module = 1; module <= 3; module++) {
			uint64_t off = (module == 3 ? 0xffffffff81000000 : 0) + i * FUNC_BYTES;

			trace_write_symbol(w, &(struct rec_symbol){ off, FUNC_BYTES, module, name,
								    snprintf(name, sizeof(name), "function_%u_of_module_%u",
									     i, module) });
		}
	}
}

int main(int argc, char **argv)
{
	struct gen_opts o = { 0 };
	struct trace_writer_opts wo = { 0 };
	struct trace_writer *w;
	struct stack *stacks;
	struct err e = { 0 };
	uint64_t i, t0 = 1000000000, start, ns, nr_bytes;
	int nr;

	if (opt_parse(options, &o, argc - 1, argv + 1, false, &nr, &e) || nr != 1 || !o.depth || !o.stacks) {
		fprintf(stderr, "trace-gen: %s\nusage: trace-gen [options] <file>\n", e.msg);
		opt_print_help(options, stderr);
		return 2;
	}
	wo.compress = o.compress;
	wo.epoch_bytes = o.epoch_bytes;
	stacks = make_stacks(&o);
	if (trace_writer_open(&w, argv[argc - 1], &wo, &e)) {
		fprintf(stderr, "trace-gen: %s\n", e.msg);
		return 1;
	}
	write_names(w, &o, t0);
	start = clock_mono_ns();
	for (i = 0; i < o.samples; i++) {
		uint64_t at = i < o.stacks ? i : skewed(o.stacks);
		struct stack *s = &stacks[at];
		/* A stack belongs to one thread: --stacks is the number of different (thread, stack). */
		struct rec_sample r = { .time_ns = t0 + i * 62500 + next_random() % 4096,
			.thread = 1 + at % NR_THREADS,
					.cpu = i % 8, .user = true, .weight = 1000000 };

		r.stack = trace_write_stack(w, s->frames, s->nr);
		trace_write_sample(w, &r);
		if (i % 1600 == 0)	/* ten times a second */
			trace_writer_flush(w);
	}
	trace_writer_flush(w);
	ns = clock_mono_ns() - start;
	nr_bytes = trace_writer_bytes(w);
	write_symbols(w);
	if (trace_writer_close(w, &e)) {
		fprintf(stderr, "trace-gen: %s\n", e.msg);
		return 1;
	}
	fprintf(stderr, "%.0f ns/sample, %.1f bytes/sample\n", (double)ns / o.samples,
		(double)nr_bytes / o.samples);
	return 0;
}
