/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arcflow.h - from the branches of an instruction trace to a model: n counts calls, the metric is
 * instructions.  Documentation/technical/instruction-trace.adoc says how calls and
 * returns are matched.
 */
#ifndef MODEL_ARCFLOW_H
#define MODEL_ARCFLOW_H

#include "model/names.h"
#include "model/origin.h"

struct profile_opts;

/*
 * x is filled, and does not show inlined functions from here on: n counts calls, the metric is
 * instructions.  Fills *origin.  Of o it knows collapse_plt and blocks, with which a second metric counts how
 * often each ran.
 */
int itrace_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct window *w,
		const struct profile_opts *o, struct err *e);

#endif
