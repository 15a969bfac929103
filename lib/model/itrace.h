/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itrace.h - reports of an instruction trace. */
#ifndef MODEL_ITRACE_H
#define MODEL_ITRACE_H

#include "report/arcflow.h"

struct itrace_model_opts {
	struct branches_opts branches;
	bool fold_plt;			/* linkage stubs are part of their callers */
};

/*
 * The model of a trace whose names were read already into x: n counts calls, the metric is
 * instructions.  Fills *src.
 */
int itrace_model(struct names *x, struct report_source *src, struct trace_reader *t,
		 const struct itrace_model_opts *o, struct err *e);

enum arc_rows { ARC_BLOCKS, ARC_VISITS, ARC_INSTRUCTIONS };

struct arc_opts {
	enum report_format format;	/* text, JSON or CSV */
	enum arc_rows rows;
	bool fold_plt, fold_kernel;
	uint64_t limit;			/* rows; 0: all */
	struct resolve_opts names;
	struct branches_opts branches;
	const struct opt_list *pids, *tids, *comms, *threads, *modules, *symbols;
};

/*
 * The arc file of Performance Inspector: a row a block. 1: o selects none. -EINVAL: not an instruction
 * trace.
 */
int arc_print(struct trace_reader *t, const struct arc_opts *o, FILE *out, struct err *e);

#endif
