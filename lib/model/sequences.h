/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sequences.h - what counting cost between two events of a call trace. It depends on the kinds of both,
 * entry, exit or exit by an exception, and on whose they are: native functions, or methods in a JVM, of some
 * tier if the recording knows it.
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
		/* [tier][metric as the trace numbers them]; where one tier has none, the first one's */
		struct calibration_cost of[CALIBRATION_NR_TIERS][CALL_MAX_METRICS];
	} kinds[1 + CALIBRATION_JVMS];	/* native functions first */
	int nr_kinds;
	bool any;			/* some cost is known */
};

/* Read what the trace says, whose names are in x. */
void sequences_init(struct sequences *s, const struct names *x);
struct sequence_step {
	int kind;			/* whose call it is: of kinds, or SEQUENCES_NONE */
	uint32_t event;			/* enum call_event_kind */
	enum calibration_tier tier;
};

/* Return the step that is an event of a call of a consumer, in a process, by its number in the trace. */
struct sequence_step sequences_step(const struct sequences *s, const struct consumer *c, uint32_t proc,
				    uint32_t event);
/*
 * Return what counting consumed of a metric from an event to the next one, in its unit, at most measured.
 * Between two tiers it is that of the cheaper one. 0: the calls of both are not of one kind, or their cost is
 * not known.
 */
uint64_t sequences_cost(const struct sequences *s, unsigned int metric, struct sequence_step before,
			struct sequence_step now, uint64_t measured);

#endif
