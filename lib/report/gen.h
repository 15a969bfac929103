/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gen.h - the events of a call trace, a line each. */
#ifndef REPORT_GEN_H
#define REPORT_GEN_H

#include "model/profile.h"
#include "report/report.h"

/*
 * Prints the events that o selects, in order of time; initialises p and m, with the names of the trace.
 * 1: it selects none. -ENODATA: the trace has none.
 */
int gen_print(struct profile *p, struct model *m, struct trace_reader *t, const struct profile_opts *po,
	      const struct report_opts *o, FILE *out, struct err *e);

#endif
