/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calibrate.h - takes what counting the calls cost from a model of them, by the trace's own figures. */
#ifndef MODEL_CALIBRATE_H
#define MODEL_CALIBRATE_H

#include "calibrate/table.h"
#include "model/names.h"
#include "model/origin.h"

struct calibrate_opts {
	bool wanted;
	bool from_events;		/* the model is of events, which do not say what they cost */
	bool deltas;			/* what was taken becomes metrics of its own, where there is room */
	bool needs_deltas;		/* without room nothing is calibrated */
	const uint64_t *thrown;		/* [node]: exits by exceptions, as far as it goes */
	size_t nr_thrown;
	const uint8_t *sites;		/* [consumer], as far as it goes: a call site; NULL: there are none */
	size_t nr_sites;
};

/*
 * Return the tier of calls of a method, as far as the model knows it: its consumer has a kind of its own, or
 * with split_tiers a key.
 */
enum calibration_tier calibrate_tier(const struct consumer *c);
/* Return the trace's number of the metric with that name, -1 if it has none. */
int calibrate_metric(const struct names *x, const char *metric);
/*
 * Return why nothing of a recording is calibrated that has calls of Java methods, or of native functions
 * alone: what "record" found out, or the command that was not run. The text lives as long as the names.
 */
const char *calibrate_why_not(struct names *x, bool of_java);
/* Calibrate x->m, whose tree is finished. Sets in *origin what was done, or why nothing was. */
void calibrate(struct names *x, const struct calibrate_opts *o, struct origin *origin);

#endif
