/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * completed.h - the calls that the events of a call trace make, each when it ends: what --calls, --flow and
 * --condu show. Bad nesting is repaired as in flow/events.h, so there are as many calls as in the tree that
 * "report --replay" builds.
 */
#ifndef REPORT_COMPLETED_H
#define REPORT_COMPLETED_H

#include "model/columns.h"
#include "report/gensel.h"

/* the conditions that filters of these reports may have; "phase" selects calls that were entered in it */
enum { FILTERS_OF_CALLS = RULE_BIT(RULE_EVENT) | RULES_OF_THREADS | RULE_BIT(RULE_PHASE) };

struct completed_call {
	uint64_t id;		/* in the order of entries, from 1, the same in each pass; 0: it had none */
	uint64_t parent;	/* id of the call that it was made in; 0: of none that is known */
	uint64_t start_ns;	/* when it was entered; without an entry that of the thread's first event */
	uint64_t end_ns;	/* when it was left; without that the time of the thread's last event */
	uint64_t self, elapsed;	/* of the measure: in it alone, and with what it called */
	/*
	 * consumption of the measure by other threads between its entry and its end, as far as known by then;
	 * a thread's is known when it enters or leaves a call, or has a sample
	 */
	uint64_t others;
	uint64_t before;	/* what all threads had consumed when it was entered */
	uint32_t consumer;	/* what was called */
	uint32_t tree;		/* index in calls.trees */
	uint32_t level;		/* how many calls it is in */
	uint32_t nr_inside;	/* calls that it made itself */
	uint8_t how;		/* enum call_event_kind; CALL_ENTERED: it was not left, as far as is known */
	bool open;		/* it was entered before the trace, or a loss: it counts there */
	bool whole;		/* its entry and its end are in the trace: elapsed is known */
	bool selected;		/* by its thread, the calls around it, and when it was entered */
};

struct completed_sink {
	/* c is the call as far as it is known: all but its end and what it consumed. NULL: not wanted */
	void (*entered)(void *ctx, const struct completed_call *c);
	void (*left)(void *ctx, const struct completed_call *c);
	/* A thread with calls lost or got a CPU.  NULL: not wanted. */
	void (*dispatch)(void *ctx, const struct timeline_event *x);
};

struct completed_tree {
	struct completed_call *open;	/* outermost first */
	size_t nr_open, alloc_open;
	bool begun;
	uint64_t first_ns, last_ns;	/* of its events */
	uint64_t outside;		/* of the measure, in no call */
	uint64_t inside;		/* in calls that no call contained */
};

/* The measure: a metric of calls, by its index in the trace, or one of these. */
enum { MEASURE_TIME = -1, MEASURE_SAMPLES = CALL_MAX_METRICS };

struct completed {
	struct model m;
	struct names names;
	struct calls calls;
	struct call_columns columns;
	struct timeline timeline;
	struct gen_opts all_kinds;
	struct report_opts opts;	/* with those in place of the report's own */
	struct gen_select select;
	struct window window;
	int metric;
	const char *measure, *unit;	/* the metric's; NULL: time */
	struct flow_times samples;	/* of MEASURE_SAMPLES, by time */
	size_t at_sample;		/* those before it are behind us */
	struct map tree_of;		/* thread of the trace -> the tree of its last event, for samples */
	uint64_t consumed;		/* of the measure, by all threads so far */
	struct completed_tree *trees;	/* [calls.nr_trees] */
	uint64_t nr_entered;
	bool ended;			/* a sink sets it: it wants no more */
	const struct completed_sink *sink;
	void *ctx;
};

/* for struct report */
extern const struct report_reason calls_have_no_cpu[];
int completed_check(const struct report_opts *o, struct err *e);
/*
 * Read names and the number of events from t; o is borrowed. c must be released also on failure. -EINVAL:
 * unknown metric; -ENODATA: no call trace.
 */
int completed_init(struct completed *c, struct trace_reader *t, const struct report_opts *o, struct err *e);
/* Read all calls once, including those that are not selected. */
int completed_read(struct completed *c, struct trace_reader *t, const struct completed_sink *sink, void *ctx,
		   struct err *e);
void completed_release(struct completed *c);

/* Return the thread of a call in the model; 0: not selected. */
uint32_t completed_thread(const struct completed *c, uint32_t tree);
bool completed_in_ns(const struct completed *c);	/* the measure */
/* Return whether it is known what other threads consumed, which means nothing for time. */
bool completed_has_others(const struct completed *c);
/* Return names, borrowed until the next event is read. */
const char *completed_unit(const struct completed *c);
const char *completed_name(const struct completed *c, uint32_t consumer);
/*
 * Append a line, with "\n" before it, about what "record --trace" left out; nothing if the trace has all
 * calls.
 */
void completed_put_only(const struct names *x, struct buf *b);
/* Write the same in JSON. */
void completed_json_only(const struct names *x, struct json *j);
/* Append "24 events of 2 threads, 0 lost", then the measure, and the line of completed_put_only(). */
void completed_head(const struct completed *c, struct buf *b);
/* Write the same in JSON: open an object with "arcprof" and "source" in it. */
void completed_json(const struct completed *c, struct json *j);

#endif
