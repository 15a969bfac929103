/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gensamples.h - the samples of a trace one by one, for a list of what happened in time: CPU time, allocated
 * objects, waits for locks, whatever the recording sampled.
 */
#ifndef REPORT_GENSAMPLES_H
#define REPORT_GENSAMPLES_H

#include "model/profile.h"
#include "report/report.h"

struct gen_samples {
	struct names names;
	struct model m;
	struct origin origin;
	bool is_open;
	size_t nr_read;		/* before the selection; each has one value or more */
	size_t at;		/* of m.times, which are by time: those before it are behind us */
};

enum { GEN_SAMPLE_VALUES = 4 };

struct gen_sample {
	uint64_t time_ns;
	struct gen_value {
		const char *event, *unit;	/* "alloc" in "bytes" */
		uint64_t weight;
	} values[GEN_SAMPLE_VALUES];	/* "alloc" has "objects", too */
	unsigned int nr_values;
	const char *what;		/* the innermost consumer: a function, a class, a reason to wait */
	const char *prefix;		/* "M:" of Java, "N:" of native functions, else "" */
	/* the innermost function around what is none, with its prefix; NULL: there is none */
	const char *in, *in_prefix;
	const char *thread;		/* NULL: not known */
};

/* Read the samples that the report's options select; returns 0 also when the trace has none. */
int gen_samples_read(struct gen_samples *s, struct trace_reader *t, const struct report_opts *o,
		     struct err *e);
void gen_samples_release(struct gen_samples *s);
/* Return whether there is another sample up to that time; its strings live as long as s. */
bool gen_samples_next(struct gen_samples *s, uint64_t until_ns, struct gen_sample *x);

#endif
