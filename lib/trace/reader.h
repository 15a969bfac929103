/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - reads a trace, however damaged: what is whole is given to the sink,
 * what is not is skipped, counted and described.
 *
 * A consumer fills the members of a trace_sink it wants and leaves the others NULL.  Records
 * come in file order; strings in them are borrowed for the call only and not terminated.  A
 * callback that returns non-zero ends the reading with that value.
 *
 * File order: what the recorder flushed together comes as metadata first, then samples, so a
 * sample never precedes the proc, thread or module it refers to, but may come after the end of
 * its thread.  Symbols, lines and the last labels are at the end of the file.
 *
 * Branches and the metadata before them are in the order in which they happened.
 *
 * A pass whose sink has no samples member does not decompress samples, and one with nothing
 * else does not decompress the rest: reading names first, then samples, costs little.  Call
 * trees are a third kind.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "base/err.h"
#include "base/span.h"
#include "trace/calls.h"
#include "trace/record.h"

struct trace_reader;

/* A node of the interned stacks of one epoch: the context of a sample. */
struct stack_node {
	uint32_t parent;	/* 0: this is an outermost frame; always < own index */
	uint32_t frame;		/* index into stack_epoch.frames */
};

struct stack_epoch {
	uint32_t epoch;			/* counts from 1 */
	const struct stack_node *nodes;	/* [nr_nodes]; 0 stands for none */
	uint32_t nr_nodes;
	const struct frame *frames;	/* [nr_frames]; 0 stands for none */
	uint32_t nr_frames;
};

struct trace_sink {
	int (*label)(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len);
	/*
	 * A run of samples of one epoch, all their stacks defined in *ep.  The arrays grow but
	 * never change within an epoch; a new epoch number means all earlier ids are dead.
	 * A sample whose stack was in a lost chunk has stack = UINT32_MAX.
	 */
	int (*samples)(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep);
	/*
	 * A run of dispatches and interrupts, in the order of the file; its times may go back between runs.
	 */
	int (*sched)(void *ctx, const struct rec_sched *r, size_t nr);
	/* int (*proc)(void *ctx, const struct rec_proc *r), and so on. */
#define RECORD(s, ...) int (*s)(void *ctx, const struct rec_##s *r);
#include "trace/table.h"
	/* Checked: every branch of the run can be read. */
	int (*branches)(void *ctx, const struct rec_branches *r);
	int (*call_consumer)(void *ctx, const struct rec_call_consumer *r);
	int (*call_nodes)(void *ctx, const struct rec_call_nodes *r);
	int (*call_values)(void *ctx, const struct rec_call_values *r);
	int (*call_events)(void *ctx, const struct rec_call_events *r);
};

struct trace_damage {
	uint64_t nr_places;		/* separate damaged stretches */
	uint64_t nr_bytes;		/* skipped */
	uint64_t nr_bad_records;	/* inside whole chunks */
	bool truncated;			/* the file ends without its end chunk: cut, or still being written */
	uint64_t span_ns;		/* from the file's beginning to its latest record */
	char first[160];		/* the first damage in words, with its offset; "" when none */
};

/* Opens path ("-" is stdin, read to memory). */
int trace_reader_open(struct trace_reader **t, const char *path, struct err *e);
/* Do the same with a descriptor, which the reader closes; path is its name in messages. */
int trace_reader_open_fd(struct trace_reader **t, int fd, const char *path, struct err *e);
/* Do the same with memory that outlives the reader; for tests and fuzzers. */
int trace_reader_open_memory(struct trace_reader **t, const void *data, size_t len, struct err *e);
/*
 * Give a reader over memory the bytes that the writer made since; those before are not needed any more.
 * Stacks that were read before stay known.
 */
void trace_reader_go_on(struct trace_reader *t, const void *data, size_t len);
/*
 * Prepare to add the trace to others: if it is one of several files of a recording, samples of what
 * outlives its end are left to the file after it.
 */
void trace_reader_no_standing(struct trace_reader *t);
void trace_reader_close(struct trace_reader *t);

/* Return when the recording began by both clocks, or 0 when the file header is damaged. */
void trace_reader_start(const struct trace_reader *t, uint64_t *mono_ns, uint64_t *real_ns);

/* Read the whole file once; may be called again. Returns 0 also if it was damaged. */
int trace_read(struct trace_reader *t, const struct trace_sink *sink, void *ctx, struct err *e);
const struct trace_damage *trace_reader_damage(const struct trace_reader *t);

#endif
