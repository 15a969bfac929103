/* SPDX-License-Identifier: GPL-2.0-or-later */
/* holders.h - "--locks=chains": who waits for locks that others have while they wait themselves. */
#ifndef REPORT_HOLDERS_H
#define REPORT_HOLDERS_H

#include "report/report.h"

/* print_trace of the report */
int holders_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);

#endif
