/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - what a reader of a foreign format delivers: records of a trace, by w, and what is here.
 *
 * Numbers come from the functions below. A reader that knows addresses writes modules and frames of
 * FRAME_NATIVE, FRAME_KERNEL and FRAME_ANON, one that knows names alone FRAME_NAMED. A sample of thread 0
 * has no thread: with IMPORT_NO_THREADS its outermost function is a root of the tree. Its time is 0 if it
 * is not known, its CPU IMPORT_NO_CPU, and rec_sample.more says how many samples it sums.
 */
#ifndef FORMATS_SINK_H
#define FORMATS_SINK_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "trace/writer.h"

/* what the profile does not have */
enum import_unknown {
	IMPORT_NO_PROCESSES = 1 << 0,
	IMPORT_NO_THREADS = 1 << 1,
	IMPORT_NO_TIMES = 1 << 2,
	IMPORT_NO_COUNTS = 1 << 3,	/* how many samples a value is the sum of */
	IMPORT_NO_LOST = 1 << 4,	/* how many samples were lost */
	IMPORT_NO_MODES = 1 << 5,	/* whether a sample was taken in user mode or in the kernel */
};

enum {
	IMPORT_NO_CPU = UINT16_MAX,
	IMPORT_HEAD_BYTES = 64 << 10,	/* by which a format is recognised */
};

struct import {
	struct trace_writer *w;
	const char *name;		/* of the process of all that is in none; NULL: that stays in none */
	bool elsewhere;			/* the files that it names are not this machine's */
	uint64_t start_ns;		/* since 1970: import_start(); 0: not known */
	unsigned int unknown;		/* enum import_unknown; the reader sets it before it returns */
	struct strtab names;
	struct map functions;		/* what import_function() got -> its number */
	struct map procs, threads;
	uint32_t nr_functions, nr_procs, nr_threads, nr_events, nr_notes;
	struct import_sum {
		uint64_t weight, samples;
	} *sums;			/* [event], of what was written */
	size_t nr_sums, alloc_sums;
	struct import_labelled {
		uint64_t time_ns, end_ns;
		uint32_t thread, labels;	/* labels: of names */
	} *labelled;
	size_t nr_labelled, alloc_labelled;
	uint64_t nr_changed_labels;	/* that are not as they were */
	uint64_t nr_samples;
	uint64_t too_much_at;		/* the sample that made a sum too large; 0: none */
};

/* Text of the file: len bytes, not terminated. */
struct import_text {
	const char *s;
	size_t len;
};

struct import_function {
	enum function_kind kind;
	struct import_text name, module, file;	/* module, file: "" unknown */
};

/* Return the number of that function, for FRAME_NAMED; equal ones have the same. */
uint32_t import_function(struct import *im, const struct import_function *f);
/*
 * Return the number of a process, or of a thread (proc 0: its process is not known); equal ones have the
 * same.
 */
uint32_t import_proc(struct import *im, uint32_t pid, struct import_text comm);
uint32_t import_thread(struct import *im, uint32_t proc, uint32_t tid, struct import_text name);
/* Do the same for a process that has labels (base/labels.h); with other ones it is another process. */
uint32_t import_proc_labelled(struct import *im, uint32_t pid, struct import_text comm,
			      const struct buf *labels);

/*
 * Cut the number off a name such as "NAME [pid 12]" (before: " [pid ") or "[NAME tid=12]" (" tid=").
 * Return false if the name has another form.
 */
bool import_cut_id(struct import_text *t, const char *before, uint32_t *id);

/* Note when the profile began, since 1970. */
void import_start(struct import *im, uint64_t realtime_ns);

/* Add a source of samples with the unit of its weights. Returns its number for rec_sample.event. */
uint32_t import_event(struct import *im, struct import_text name, const char *unit);

/*
 * Write the sample. The weights of an event's samples must sum to less than 2^63, as wrapped sums would be
 * wrong, and SQL and Java have no larger numbers. Beyond that the import fails when the reader is done.
 */
void import_sample(struct import *im, const struct rec_sample *s);

/*
 * Adds to the labels of a sample, the text "key=value,..." of base/labels.h.  What cannot be in it is
 * replaced, cut or left out, and counted for a note.
 */
void import_label(struct import *im, struct buf *labels, struct import_text key, struct import_text value);
/* Return the outermost frame for labels of a sample without a time. */
struct frame import_labels_frame(struct import *im, const struct buf *labels);
/* Add labels of the thread's samples at that time; or from then until end_ns. */
void import_labels_at(struct import *im, uint32_t thread, uint64_t time_ns, const struct buf *labels);
void import_labels_until(struct import *im, uint32_t thread, uint64_t time_ns, uint64_t end_ns,
			 const struct buf *labels);
/* Write the labels; after the last. */
void import_labels_end(struct import *im);

/* Add a sentence about this profile that readers of reports must know. */
void import_note(struct import *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Note that the last line of a text has no end, if so: it may be half a number. */
void import_note_end(struct import *im, const char *data, size_t len);

/* ---- the formats ---- */

struct import_format {
	const char *name;		/* "perf.data", as reports say it */
	const char *what;		/* "a perf.data file" */
	bool is_lines;			/* text, each line of which has an end */
	/* Return whether these are the first IMPORT_HEAD_BYTES of such a file, or all of it. */
	bool (*is)(const char *data, size_t len);
	/* -EINVAL: damaged, and where. */
	int (*read)(struct import *im, const char *data, size_t len, struct err *e);
};

/* Says why text that no format recognises is not a file of folded stacks either; -EINVAL. */
int import_folded_refuse(const char *data, size_t len, struct err *e);

extern const struct import_format import_jfr, import_perf, import_pprof, import_otlp, import_otlp_json,
	import_speedscope, import_cpuprofile, import_heapprofile, import_chrome, import_firefox,
	import_perf_script, import_massif, import_dhat, import_heaptrack, import_gperftools, import_jemalloc,
	import_hprof_text, import_gclog, import_threads, import_callgrind, import_folded;

#endif
