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

/*
 * A trace without the source passes. In one that was cut off only the accounts themselves are checked, as a
 * thread may have samples there and no account yet.
 */
int wall_check(struct trace_reader *t, struct wall_check *out, struct err *e);

#endif
