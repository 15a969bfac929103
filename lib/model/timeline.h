/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - the events of a call trace in order of time: calls, and, where they were recorded, when
 * the threads that made them lost and got a CPU.
 */
#ifndef MODEL_TIMELINE_H
#define MODEL_TIMELINE_H

#include "model/calls.h"

/* Kinds beside those of calls (enum call_event_kind): a thread loses a CPU, and gets one. */
enum { TIMELINE_OFF = CALL_EVENT_NR, TIMELINE_ON, TIMELINE_NR_KINDS };

const char *timeline_kind_name(uint32_t kind);	/* "entry", "exit" and so on; NULL: no kind */

struct timeline_event {
	uint64_t time_ns, seq;		/* seq: distinguishes events of one moment */
	uint64_t delta[CALL_MAX_METRICS];	/* what its tree consumed since its event before */
	uint32_t kind;
	uint32_t before, function_before;	/* its tree's event before; CALL_EVENT_NR: none */
	uint32_t tree;			/* of a call: index in calls.trees */
	uint32_t function;		/* of a call: as struct call_event.consumer */
	uint32_t thread;		/* of a dispatch: the trace's number */
	uint16_t cpu;			/* of a dispatch */
	uint8_t state;			/* why it lost the CPU: enum sched_state */
};

struct timeline_sink {
	/* Called in any order; returns false when the event is not needed, which keeps it out of memory. */
	bool (*needs)(void *ctx, const struct timeline_event *x);
	/* Called in order of time. Non-zero ends it. */
	int (*event)(void *ctx, const struct timeline_event *x);
};

struct timeline {
	struct calls *c;
	uint64_t nr_calls, nr_dispatches;	/* in the trace */
	uint64_t *starts;		/* of each batch: the earliest time of all that follow it */
	size_t nr_starts, alloc_starts;
};

/* Learns the trees and functions, and counts the events.  -ENODATA: the trace has none of calls. */
int timeline_init(struct timeline *l, struct calls *c, struct trace_reader *t, struct err *e);
void timeline_release(struct timeline *l);
/* Passes all needed events to the sink. */
int timeline_read(struct timeline *l, struct trace_reader *t, const struct timeline_sink *sink, void *ctx,
		  struct err *e);

#endif
