/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer.h - writes a trace.  One thread uses it.  Records are gathered in chunks
 * that go to the file when they are full or trace_writer_flush() is called, so that
 * what was flushed survives any death.
 *
 * A failed write (disk full, the limit of a file) does not stop the caller: records are counted as lost
 * from then on, trace_writer_error() tells, and trace_writer_close() returns it. At the limit of mode normal
 * storing stops, and what comes then is counted apart. What such a limit stops is samples only: names,
 * symbols and labels go in after it.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "base/err.h"
#include "base/hash.h"
#include "trace/calls.h"

enum trace_mode {
	TRACE_CONTINUOUS,	/* stream until told to stop */
	TRACE_NORMAL,		/* stop storing when limit_bytes are full */
	TRACE_WRAP,		/* keep the last limit_bytes (reserved) */
};

struct trace_writer_opts {
	enum trace_mode mode;
	uint64_t limit_bytes;	/* 0: none */
	uint64_t epoch_bytes;	/* memory of the interned stacks before a new epoch; 0: default, the most */
	bool compress;
	/* trace_writer_next() is to be called: what later files need is kept (carry.h). */
	bool carry;
	/* what samples and events of calls may take in each such file, beside names; 0: any */
	uint64_t file_bytes;
	/* The file has a hidden name beside its own until it is closed: commit does nothing. */
	bool until_closed;
	bool whole;		/* after a failure there is no file: outfile.h */
	int dir_fd;		/* the folder that path is in; 0: path says it all */
	/* Gets the bytes of the trace in place of a file: whole chunks, one or more a call. */
	void (*take)(void *ctx, const void *p, size_t len);
	void *take_ctx;
};

struct trace_writer;

/*
 * Creates the file (0600, of the caller of sudo; "-" is stdout) and writes header and schema. A regular
 * file has a temporary name beside its own at first, so that a recording that does not begin costs
 * no older trace.
 */
int trace_writer_open(struct trace_writer **w, const char *path, const struct trace_writer_opts *o,
		      struct err *e);
/* Commit, as recording has begun: an existing file is renamed to PATH.old, and this one gets its name. */
int trace_writer_commit(struct trace_writer *w, struct err *e);
/* Write what is pending and the index, commit, and free w. Returns the first error. */
int trace_writer_close(struct trace_writer *w, struct err *e);
/*
 * Do the same, and continue in another file, with the labels of the previous one and the names that it needs.
 * -errno: the previous one is incomplete, as *e says; with *opened false there is no other, and w writes
 * nothing until this is called again.
 */
int trace_writer_next(struct trace_writer *w, const char *path, bool *opened, struct err *e);
/* Set, with carry, whether labels written from now on are of all later files, or of this file alone. */
void trace_writer_keep(struct trace_writer *w, bool keep);
/*
 * Set whether samples written from now on are of what is alive when the file ends (TRF_STANDING), or of what
 * was recorded.
 */
void trace_writer_standing(struct trace_writer *w, bool on);
/* Note that no later record refers to the process. */
void trace_writer_forget_proc(struct trace_writer *w, uint32_t proc);
void trace_writer_forget_thread(struct trace_writer *w, uint32_t thread);
void trace_writer_forget_function(struct trace_writer *w, uint32_t function);
/*
 * Note the same of modules, whose numbers are the keys. trace_writer_each_address() has reported all
 * addresses in them.
 */
void trace_writer_forget_modules(struct trace_writer *w, const struct map *modules);
/* Note the symbol of an address that trace_writer_each_address() reported: later files do not ask again. */
void trace_writer_named(struct trace_writer *w, uint32_t module, uint64_t off, bool kernel, uint64_t sym_off);
/* Return how many addresses trace_writer_each_address() has not reported. */
size_t trace_writer_nr_unnamed(const struct trace_writer *w);
/* Forget what symbols and lines stand for when the next file begins, as if they took too much memory. */
void trace_writer_drop_symbols(struct trace_writer *w);
/* Frees w instead; what was not committed is gone. */
void trace_writer_discard(struct trace_writer *w);
int trace_writer_flush(struct trace_writer *w);
int trace_writer_error(const struct trace_writer *w);	/* 0 or -errno */
/* Return whether samples are only counted, since a limit is reached. */
bool trace_writer_is_full(const struct trace_writer *w);
uint64_t trace_writer_bytes(const struct trace_writer *w);	/* in all files */
/* Return how many records were dropped so far because of an error or the limit, in all files. */
uint64_t trace_writer_lost(const struct trace_writer *w);
/* Return how many of them are samples; the trace has the number as LOST_FILE. */
uint64_t trace_writer_lost_samples(const struct trace_writer *w);

/* Return how many dispatches and interrupts were dropped; the trace has the number as LOST_SCHED. */
uint64_t trace_writer_lost_sched(const struct trace_writer *w);
/*
 * Return the time of the first sample that was not stored because mode normal stopped storing
 * (CLOCK_MONOTONIC; 0 if it stores), and how many samples, and dispatches and interrupts, came from then on.
 * The trace has them as LOST_STOPPED and LOST_SCHED_STOPPED.
 */
uint64_t trace_writer_stopped(const struct trace_writer *w, uint64_t *nr_samples, uint64_t *nr_sched);

/* Write a label of the Z vector; a later value for the same key replaces an earlier one. */
void trace_write_label(struct trace_writer *w, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Interns a stack, outermost frame first, and returns its id for rec_sample.stack.
 * The id is good until the next call of any trace_write function but trace_write_sample():
 * intern, then write the sample.
 */
uint32_t trace_write_stack(struct trace_writer *w, const struct frame *frames, size_t nr_frames);
/*
 * Return the same of a stack whose nr_same outermost frames are those of the stack that was written
 * before: time follows from what has changed, however deep the stack is.
 */
uint32_t trace_write_changed_stack(struct trace_writer *w, const struct frame *frames, size_t nr_frames,
				   size_t nr_same);
void trace_write_sample(struct trace_writer *w, const struct rec_sample *r);

/* Write a dispatch, in order of time as far as the caller knows one. */
void trace_write_sched(struct trace_writer *w, const struct rec_sched *r);

/* trace_write_proc(w, const struct rec_proc *), trace_write_thread() and so on. */
#define RECORD(s, ...) void trace_write_##s(struct trace_writer *w, const struct rec_##s *r);
#include "trace/table.h"

/*
 * Write records of instruction traces; what is flushed together comes as metadata, then these and
 * branch_code.
 */
void trace_write_branches(struct trace_writer *w, const struct rec_branches *r);
/* Note an address that gets symbols though no stack has it. */
void trace_writer_note(struct trace_writer *w, const struct frame *f);

/* Call fn with each frame of Java code (FRAME_JIT, FRAME_INTERP), once per epoch. */
void trace_writer_on_java(struct trace_writer *w, void (*fn)(void *ctx, const struct frame *f), void *ctx);

/* Call fn with each sample that is written; it must not write anything itself. */
void trace_writer_on_sample(struct trace_writer *w, void (*fn)(void *ctx, const struct rec_sample *r),
			     void *ctx);

/*
 * Report every (module, offset) and kernel address that any stack of any epoch used or
 * trace_writer_note() named and that no earlier call has reported, in no order: these need symbols.
 */
void trace_writer_each_address(struct trace_writer *w,
			       void (*fn)(void *ctx, uint32_t module, uint64_t off, bool kernel), void *ctx);

#endif
