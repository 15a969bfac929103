/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traces.h - traces for the tests of lib/trace: random records and samples go into a file, and
 * what comes out of it is compared with them.
 */
#ifndef UNIT_TRACES_H
#define UNIT_TRACES_H

#include "base/buf.h"
#include "trace/codec.h"
#include "trace/reader.h"
#include "trace/writer.h"

enum { MAX_FRAMES = 40 };

struct sample {
	struct rec_sample r;
	size_t nr;
	struct frame frames[MAX_FRAMES];	/* outermost first */
};

struct seen {
	struct buf records[CHUNK_CALLS + 1];	/* as text; only within a kind of chunk is their order kept */
	uint64_t nr_meta, nr_samples, nr_damaged;
	uint32_t last_epoch;
	const struct sample *want;	/* time_ns - 1000 is the index */
	size_t nr_want;
};

/* A file of this process's own, for one trace at a time. */
const char *traces_path(void);

/* A new trace there; the test program ends when that fails. */
struct trace_writer *traces_create(const struct trace_writer_opts *o);

/* Closes w, and reads and removes the file; the caller releases the buffer. */
struct buf traces_close(struct trace_writer *w);

/* Keeps a trace in the folder that UNIT_SAVE names, if it does. */
void traces_save(const char *name, const struct buf *b);

/* nr samples with stacks that share their callers, in xmalloc memory; times are 1000, 1001... */
struct sample *traces_random(size_t nr);

void traces_write(struct trace_writer *w, const struct sample *s);

/* All of them, with a flush now and then. */
void traces_fill(struct trace_writer *w, const struct sample *samples, size_t nr);

/* One random record, into the trace and into what is expected of it. */
void traces_write_any(struct trace_writer *w, struct seen *expected);

/* A random record of the row; what it points to is good until the end. */
void traces_any_record(const struct record_row *row, union trace_record *rec);
/* All that it says, as text. */
void traces_put_record(struct buf *b, const struct record_kind *k, const void *rec);

/* Notes all records in a struct seen, and compares samples with seen->want. */
extern const struct trace_sink seen_all;
int seen_samples(void *seen, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep);
/* Whether the same records were noted, samples aside. */
bool seen_same(const struct seen *a, const struct seen *b);
void seen_release(struct seen *s);

#endif
