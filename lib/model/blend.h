/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blend.h - counts from exact calls, consumption from samples of a run that nothing disturbed.
 *
 * Probes make a call more expensive, and may keep a compiler from inlining: their times say little of small
 * functions.  Samples disturb little and count nothing.  Of two runs of the same work, one of each kind, the
 * first gives n and the second what that consumed.
 */
#ifndef MODEL_BLEND_H
#define MODEL_BLEND_H

#include "base/err.h"
#include "flow/model.h"

/* The share of the first sampled metric that has no calls to belong to, 0 to 1. */
struct blend {
	double unmatched;		/* in counted functions, in contexts in which the calls have none */
	double outside;			/* in threads that the calls do not have */
};

/*
 * *out becomes a model of calls and samples, whatever the result; samples is changed on the way. Functions
 * that no call was counted of are charged to the counted function they are below. The metrics of calls that
 * are times stay out, as do numbers of threads and processes; threads whose names differ in numbers are one.
 * -EINVAL: calls has no calls, or samples no samples; -E2BIG: too many metrics.
 */
int blend_models(struct model *out, const struct model *calls, struct model *samples, struct blend *b,
		 struct err *e);

#endif
