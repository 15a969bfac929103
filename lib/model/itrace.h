/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itrace.h - the model of an instruction trace, for profile_read(). */
#ifndef MODEL_ITRACE_H
#define MODEL_ITRACE_H

#include "model/names.h"
#include "model/origin.h"

/*
 * x is filled, and does not show inlined functions from here on: n counts calls, the metric is
 * instructions.  Fills *origin.  collapse_plt: linkage stubs are part of their callers.
 */
int itrace_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct window *w,
		bool collapse_plt, struct err *e);

#endif
