// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.c - how fast a trace is read: all of it, and each of the two passes of a report.  CPU
 * time, the best of five.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trace/reader.h"

struct sums {
	uint64_t samples, weight, names;
};

static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct sums *sums = ctx;
	size_t i;

	for (i = 0; i < nr; i++)
		sums->weight += s[i].weight + s[i].stack;
	sums->samples += nr;
	return 0;
}

static int on_symbol(void *ctx, const struct rec_symbol *r)
{
	((struct sums *)ctx)->names++;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; struct trace_sink sink; } passes[] = {
		{ "names", { .symbol = on_symbol } },
		{ "samples", { .samples = on_samples } },
		{ "all", { .symbol = on_symbol, .samples = on_samples } },
	};
	struct trace_reader *t;
	struct err e = { 0 };
	size_t i;

	if (argc != 2 || trace_reader_open(&t, argv[1], &e)) {
		fprintf(stderr, "usage: trace <file>: %s\n", e.msg);
		return 2;
	}
	for (i = 0; i < ARRAY_SIZE(passes); i++) {
		uint64_t best = UINT64_MAX;
		struct sums sums;
		int round;

		for (round = 0; round < 5; round++) {
			uint64_t start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);

			memset(&sums, 0, sizeof(sums));
			if (trace_read(t, &passes[i].sink, &sums, &e)) {
				fprintf(stderr, "trace: %s\n", e.msg);
				return 1;
			}
			best = MIN(best, clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - start);
		}
		printf("%-8s %8.2f ms, %llu samples, %llu names, %.1f M samples/s\n", passes[i].name,
		       best / 1e6, (unsigned long long)sums.samples, (unsigned long long)sums.names,
		       sums.samples * 1e3 / best);
	}
	trace_reader_close(t);
	return 0;
}
