/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calibrate.h - takes what counting the calls cost from a model of them, by the trace's own figures. */
#ifndef MODEL_CALIBRATE_H
#define MODEL_CALIBRATE_H

#include "model/names.h"
#include "model/origin.h"

struct calibrate_opts {
	bool wanted;
	bool from_events;		/* the model is of events, which do not say what they cost */
	bool deltas;			/* what was taken becomes metrics of its own, where there is room */
	bool needs_deltas;		/* without room nothing is calibrated */
};

/* Calibrate x->m, whose tree is finished. Sets in *origin what was done, or why nothing was. */
void calibrate(struct names *x, const struct calibrate_opts *o, struct origin *origin);

#endif
