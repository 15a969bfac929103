/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wallcheck.h - the samples of the source wall against what the kernel's side counted for each thread. */
#ifndef MODEL_WALLCHECK_H
#define MODEL_WALLCHECK_H

#include "trace/reader.h"

struct wall_check {
	/* sums of processes, as what a thread did on behalf of a virtual one is the latter's */
	uint64_t nr_checked, nr_bad;
	char first[160];		/* of the bad ones */
};

/* A trace without the source passes. */
int wall_check(struct trace_reader *t, struct wall_check *out, struct err *e);

#endif
