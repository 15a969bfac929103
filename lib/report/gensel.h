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

/*
 * Prepare for the trees of trace t, all of which are in c; o is borrowed. Returns -EINVAL for an unknown
 * event.
 */
int gen_select_init(struct gen_select *s, struct calls *c, struct trace_reader *t,
		    const struct window *window, const struct report_opts *o, struct err *e);
void gen_select_release(struct gen_select *s);
/* Return the thread of an event, or NULL if nothing of it is shown. */
const struct gen_thread *gen_select_thread(const struct gen_select *s, const struct timeline_event *x);
/* Return whether the event is needed, at least to know what is open; for events in any order. */
bool gen_select_needs(const struct gen_select *s, const struct timeline_event *x);
/* Return whether an event is shown; called for each needed event in order of time. */
bool gen_select_shows(struct gen_select *s, const struct timeline_event *x);
/* Append a line about the filter, if there is one, with "\n" before it; write the same in JSON. */
void gen_select_put_filter(const struct gen_select *s, struct buf *b);
void gen_select_json_filter(const struct gen_select *s, struct json *j);
/*
 * Return whether an event of a JVM is shown, called in that order, too; its thread and time were selected
 * when it was read.
 */
bool gen_select_shows_jvm(const struct gen_select *s, const struct event *x);

#endif
