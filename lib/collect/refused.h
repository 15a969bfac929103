/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.h - methods that exact callflow was asked for and does not count: each is in the trace, and
 * each reason once in its labels, which every report prints.
 */
#ifndef COLLECT_REFUSED_H
#define COLLECT_REFUSED_H

#include "trace/calls.h"
#include "trace/writer.h"

struct refused {
	struct reason {
		char *why;
		char *examples;		/* the first few */
		uint64_t nr_methods, nr_classes, nr_examples;
	} *reasons;
	size_t nr_reasons, alloc_reasons;
};

void refused_add(struct refused *f, struct trace_writer *w, const struct rec_call_refused *r);
/* Labels "refused.N", N from first; once, at the end. */
void refused_labels(const struct refused *f, struct trace_writer *w, size_t first);
void refused_release(struct refused *f);

#endif
