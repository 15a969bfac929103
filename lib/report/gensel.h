/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gensel.h - which events of a call trace "report --gen" shows: by kind, time, thread, and by the
 * functions in whose calls they happen.
 */
#ifndef REPORT_GENSEL_H
#define REPORT_GENSEL_H

#include "model/events.h"
#include "model/filter.h"
#include "model/timeline.h"
#include "report/report.h"

struct gen_opts {
	struct opt_list events;	/* kinds; empty: all */
};

struct gen_select {
	struct calls *c;
	const struct selection *selection;
	struct filter *kept;		/* of threads, and of phases at the time of an event */
	uint64_t nr_left_out;		/* threads, by it */
	struct window window;
	bool kinds[TIMELINE_NR_KINDS];
	uint32_t jvm_kinds;	/* bits 1 << enum event_kind */
	bool samples;
	uint8_t want;		/* what a path of open calls must have: a symbol, a module */
	uint8_t *matches;	/* [consumer]: which of those it has; KNOWN: it was looked up */
	size_t nr_matches;
	struct map thread_of;	/* trace's number -> index */
	struct gen_thread {
		uint32_t process, thread;	/* consumers of the model */
		uint32_t proc;			/* of the trace */
		bool selected;
		uint32_t nr_open[2];	/* calls of a symbol, and of a module, that is wanted */
	} *threads;
	size_t nr_threads, alloc_threads;
	struct gen_tree {
		uint32_t thread;	/* index */
		uint32_t *open;		/* functions of its open calls, outermost first; only with want */
		size_t nr_open, alloc_open;
	} *trees;		/* [index in calls.trees], of those the trace says something of */
	size_t nr_trees;
};

/* Called when all trees are in c, of the trace t; o is borrowed. Returns -EINVAL for an unknown event. */
int gen_select_init(struct gen_select *s, struct calls *c, struct trace_reader *t,
		    const struct window *window, const struct report_opts *o, struct err *e);
void gen_select_release(struct gen_select *s);
/* NULL: nothing of this thread is shown. */
const struct gen_thread *gen_select_thread(const struct gen_select *s, const struct timeline_event *x);
/* Before they are in order: false when the event is not needed, not even to know what is open. */
bool gen_select_needs(const struct gen_select *s, const struct timeline_event *x);
/* Is it to be shown? Asked of each event that is needed, in order of time. */
bool gen_select_shows(struct gen_select *s, const struct timeline_event *x);
/* Appends a line about the filter, where there is one, and "\n" before it; and the same in JSON. */
void gen_select_put_filter(const struct gen_select *s, struct buf *b);
void gen_select_json_filter(const struct gen_select *s, struct json *j);
/* An event of a JVM, in that order, too; its thread and time were selected when it was read. */
bool gen_select_shows_jvm(const struct gen_select *s, const struct event *x);

#endif
