/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itrace.h - the model of an instruction trace. */
#ifndef MODEL_ITRACE_H
#define MODEL_ITRACE_H

#include "model/branches.h"
#include "model/source.h"

struct itrace_model_opts {
	struct branches_opts branches;
	bool fold_plt;			/* linkage stubs are part of their callers */
};

/*
 * The model of a trace whose names were read already into x: n counts calls, the metric is
 * instructions.  Fills *src.
 */
int itrace_model(struct names *x, struct model_source *src, struct trace_reader *t,
		 const struct itrace_model_opts *o, struct err *e);

#endif
