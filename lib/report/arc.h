/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arc.h - an instruction trace as it is, block by block. */
#ifndef REPORT_ARC_H
#define REPORT_ARC_H

#include "model/branches.h"
#include "report/report.h"

enum arc_rows { ARC_BLOCKS, ARC_VISITS, ARC_INSTRUCTIONS };

struct arc_opts {
	int format;			/* FORMAT_TEXT, FORMAT_JSON or FORMAT_CSV */
	enum arc_rows rows;
	bool fold_plt, fold_kernel;
	uint64_t limit;			/* rows; 0: all */
	struct resolve_opts names;
	struct branches_opts branches;
	struct selection select;
};

/*
 * The arc file of Performance Inspector: a row a block. 1: o selects none. -EINVAL: not an instruction
 * trace.
 */
int arc_print(struct trace_reader *t, const struct arc_opts *o, FILE *out, struct err *e);

#endif
