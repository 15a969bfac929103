/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadlabels.h - labels that programs give to their threads ("record -e label"), into the trace.
 *
 * Programs report each change, samples come later or earlier, by other ways: both are kept for some seconds.
 * Then the changes that a sample saw are written, each once, and the others are forgotten: however many trace
 * ids a program makes, the trace has at most one record per sample. What a program tells is bounded in
 * threads and bytes; what is dropped is counted, and the labels of its thread are unknown until it tells
 * again.
 */
#ifndef COLLECT_THREADLABELS_H
#define COLLECT_THREADLABELS_H

#include "jvm/record.h"
#include "trace/record.h"

/* Changes of labels, and samples, may come this late. */
#define THREADLABELS_LATE_NS 2000000000ull

struct threadlabels;
struct buf;
struct trace_writer;

struct threadlabels *threadlabels_new(void);
void threadlabels_free(struct threadlabels *l);

/*
 * Add a change for the thread with that number in the trace or, unless vthread is 0, for that virtual thread
 * of a process. r's text is the program's, unchecked.
 */
void threadlabels_change(struct threadlabels *l, uint32_t thread, uint32_t proc, const struct jvm_labels *r);
/* Note that a sample or an event of that thread was written to the trace. */
void threadlabels_sample(struct threadlabels *l, uint32_t thread, uint64_t time_ns);

/* returns the number of a virtual thread in the trace; 0: there were no samples of it */
typedef uint32_t (*threadlabels_number_fn)(void *ctx, uint32_t proc, uint64_t vthread);
/*
 * Write the changes that samples before until_ns need: all have come by now, except for those of late
 * samples. Takes time in proportion to the number of threads with labels.
 */
void threadlabels_write(struct threadlabels *l, uint64_t until_ns, struct trace_writer *w,
			threadlabels_number_fn number, void *ctx);

/* Appends what is a label in a text of a program, in order: "b=2,a=1,junk" -> "a=1,b=2". */
void threadlabels_put(struct buf *b, const char *text);

/* Return how many changes were dropped so far, of threads with too many or too large ones. */
uint64_t threadlabels_dropped(const struct threadlabels *l);

#endif
