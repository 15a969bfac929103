/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wallthreads.h - the report "threads" of the source wall, where no dispatches were recorded. */
#ifndef REPORT_WALLTHREADS_H
#define REPORT_WALLTHREADS_H

#include "report/report.h"

/* As struct report's print_trace. -ENODATA, and *e as it was: the trace has no such source. */
int wall_threads_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);

#endif
