/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callcheck.h - the CPU time charged to the calls of each thread against the kernel's. */
#ifndef MODEL_CALLCHECK_H
#define MODEL_CALLCHECK_H

#include "trace/reader.h"

/* how far they may be apart: the sum of both */
enum { CALLS_CHECK_PERCENT = 5, CALLS_CHECK_NS = 10000000 };

struct calls_check {
	uint64_t nr_checked, nr_bad;	/* threads, or processes with virtual threads */
	char first[160];		/* of the bad ones */
};

/* A trace without either passes. */
int calls_check(struct trace_reader *t, struct calls_check *out, struct err *e);

#endif
