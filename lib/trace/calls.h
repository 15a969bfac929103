/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - exact call trees in a trace, decoded: the structs of those records that table.h does not make.
 *
 * A tree belongs to one thread (or virtual thread).  Its nodes are numbered from 1 and defined
 * before they have values; a definition that comes again replaces the first, and may name a
 * parent with a higher number.  Values are what was added since the values before: a tree's are
 * the sums over all records, and those of a time window the sums over its part.
 *
 * Consumers are numbered for the whole trace.  The labels name the metrics: "call.metric.N"
 * and "call.metric.N.unit", in the order of base[].
 *
 * A child of the thread's node that is MARK_LABELS has what the thread did while it had those labels:
 * below it are the same contexts again. A call that was open when they changed is counted where it
 * began, and what it consumed is where it was consumed.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "trace/record.h"

enum { CALL_MAX_METRICS = 8 };

struct rec_call_consumer {
	uint32_t consumer;
	/* FRAME_NATIVE, FRAME_ANON, FRAME_METHOD, FRAME_SITE, FRAME_NAMED or FRAME_MARK */
	struct frame frame;
};

enum call_tree_flags {
	CALL_TREE_VIRTUAL = 1 << 0,	/* of a virtual thread */
};

struct call_node {
	uint32_t parent;	/* 0: a root */
	uint32_t consumer;
};

struct rec_call_nodes {		/* nodes first, first + 1, ... of a tree */
	uint64_t time_ns;
	uint32_t tree, first, nr;
	const struct call_node *nodes;
};

struct call_value {
	uint32_t node;		/* ascending */
	uint64_t calls;
	uint64_t base[CALL_MAX_METRICS];
};

struct rec_call_values {
	uint64_t time_ns;
	uint32_t tree, nr_metrics, nr;
	const struct call_value *values;
};

enum call_event_kind {
	CALL_ENTERED,
	CALL_LEFT,
	CALL_LEFT_THROWING,
	CALL_UNWOUND,		/* consumer: number of calls that ended without being left */
	/*
	 * Describes the state when the events that follow began, in a file that continues another, or
	 * after a loss. The first has no consumer: no call is open, and its charges are earlier ones.
	 * Then there is one for each open call, outermost first.
	 */
	CALL_OPEN,
	CALL_EVENT_NR,
};

struct call_event {
	uint64_t time_ns;
	uint32_t kind;		/* enum call_event_kind */
	uint32_t consumer;
	uint64_t charged[CALL_MAX_METRICS];	/* what the thread consumed by then, since its start */
};

struct rec_call_events {	/* of one tree, in order; those of one tree are in order in the file, too */
	uint32_t tree, nr_metrics, nr;
	const struct call_event *events;
};

struct records;
struct trace_writer;

/* at most in one */
enum { CALL_RECORD_NODES = 4096, CALL_RECORD_VALUES = 4096, CALL_RECORD_EVENTS = 4096 };

void trace_write_call_consumer(struct trace_writer *w, const struct rec_call_consumer *r);
void trace_write_call_nodes(struct trace_writer *w, const struct rec_call_nodes *r);
void trace_write_call_values(struct trace_writer *w, const struct rec_call_values *r);
/* Return false if they are not stored, for want of room. */
bool trace_write_call_events(struct trace_writer *w, const struct rec_call_events *r);

/* Appends the record, for records_end() with TRF_MIXED: where it begins. */
size_t calls_encode_nodes(struct records *p, const struct rec_call_nodes *r);
size_t calls_encode_values(struct records *p, const struct rec_call_values *r);
size_t calls_encode_events(struct records *p, const struct rec_call_events *r);

#endif
