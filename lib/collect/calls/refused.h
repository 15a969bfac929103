/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.h - what exact callflow was asked for and does not count: methods, of which each is in the trace
 * and each reason once in its labels, and metrics; and who was turned away. Every report prints the labels.
 */
#ifndef COLLECT_REFUSED_H
#define COLLECT_REFUSED_H

#include "callflow/area.h"
#include "jvm/server.h"
#include "trace/calls.h"
#include "trace/writer.h"

struct refused {
	struct reason {
		char *why;
		char *examples;		/* the first few */
		uint64_t nr_methods, nr_classes, nr_examples;
	} *reasons;
	size_t nr_reasons, alloc_reasons;
	char **lines;			/* of everything else */
	size_t nr_lines, alloc_lines;
};

void refused_add(struct refused *f, struct trace_writer *w, const struct rec_call_refused *r);
/* Note that nr_threads threads could not have the metric. */
void refused_metric(struct refused *f, uint32_t kind, const char *name, uint64_t nr_threads);
/*
 * Note programs whose native memory was not sampled, and samples that could not be followed until they were
 * freed.
 */
void refused_memory(struct refused *f, uint64_t nr_programs, uint64_t nr_untracked);
/* Note that a process has no samples of a source, or none of some events. */
void refused_source(struct refused *f, const char *name, int pid, const char *why);
/* Note anything else, in its own words. */
void refused_text(struct refused *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Note that nr_threads threads have no time of their own in the source wall. */
void refused_walls(struct refused *f, uint64_t nr_threads);
/* Note connections to the agents' socket that were closed; return how many, perhaps none. */
uint64_t refused_peers(struct refused *f, const struct jvm_refusals *r);
/* Forgets what was added since nr_lines were there. */
void refused_cut(struct refused *f, size_t nr_lines);
/* Write labels "refused.N", N from first; at the end of a file. */
void refused_labels(const struct refused *f, struct trace_writer *w, size_t first);
void refused_release(struct refused *f);

#endif
