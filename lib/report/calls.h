/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - from the call trees of a trace to a model: process and thread are the two top levels, as
 * in a model of samples; n counts calls, and base is what was consumed in each context itself.
 */
#ifndef REPORT_CALLS_H
#define REPORT_CALLS_H

#include "report/profile.h"

/* p->names is filled; builds p->m.  -EINVAL: a metric is asked that the trace has not. */
int calls_read(struct profile *p, struct trace_reader *t, struct err *e);

#endif
