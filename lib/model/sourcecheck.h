/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sourcecheck.h - compares a model with its trace: n of each source must be the number of its records, and
 * the sum of base their weight.
 */
#ifndef MODEL_SOURCECHECK_H
#define MODEL_SOURCECHECK_H

#include "model/profile.h"

struct source_check {
	uint64_t nr_checked, nr_bad;	/* sums; models of branches or events are not checked */
	char first[160];		/* of the bad ones */
};

/*
 * m is what profile_read() made of the trace with these options, before any view of it; x are its names.
 * Fills out[m->nr_sources] from a pass of its own.
 */
int sources_check(const struct model *m, const struct names *x, struct trace_reader *t,
		  const struct profile_opts *o, struct source_check *out, struct err *e);

#endif
