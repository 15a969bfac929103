/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sequences.h - what counting cost between two events of a call trace. It depends on the kinds of both,
 * entry, exit or exit by an exception, and on whose they are: native functions, or methods in a JVM.
 */
#ifndef MODEL_SEQUENCES_H
#define MODEL_SEQUENCES_H

#include "calibrate/table.h"
#include "model/names.h"
#include "trace/calls.h"

enum { SEQUENCES_NONE = -1 };	/* of no kind whose cost is known */

struct sequences {
	const struct names *names;	/* borrowed */
	struct sequences_kind {
		uint64_t jvm;		/* by a hash of its build; 0: native functions */
		const char *version;	/* of the JVM */
		bool has[CALL_MAX_METRICS];
		struct calibration_cost of[CALL_MAX_METRICS];	/* metrics as the trace numbers them */
	} kinds[1 + CALIBRATION_JVMS];	/* native functions first */
	int nr_kinds;
	bool any;			/* some cost is known */
};

/* Read what the trace says, whose names are in x. */
void sequences_init(struct sequences *s, const struct names *x);
/*
 * Return the kind of calls of a consumer, from its kind in the model and its process's number in the trace.
 */
int sequences_kind(const struct sequences *s, uint32_t consumer_kind, uint32_t proc);
struct sequence_step {
	int kind;			/* whose call it is: sequences_kind() */
	uint32_t event;			/* enum call_event_kind */
};

/*
 * Return what counting consumed of a metric from an event to the next one, in its unit, at most measured.
 * 0: the calls of both are not of one kind, or their cost is not known.
 */
uint64_t sequences_cost(const struct sequences *s, unsigned int metric, struct sequence_step before,
			struct sequence_step now, uint64_t measured);

#endif
