/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge.h - models of any number of recordings become one, which goes into a trace of its own.
 *
 * Adding and the minimum do not depend on the order of the models, nor on which were merged before: what
 * merge_write() writes is the same.  Memory is that of the result and of one model.
 */
#ifndef MODEL_MERGE_H
#define MODEL_MERGE_H

#include "base/mem.h"
#include "flow/union.h"
#include "model/origin.h"
#include "model/same.h"
#include "trace/reader.h"

enum merge_op {
	MERGE_ADD,
	MERGE_SUBTRACT,		/* from the first model the others: two metrics where the sign differs */
	MERGE_MINIMUM,		/* of each context, in all models */
};

struct merge {
	struct model m;			/* the result, after merge_finish() */
	enum merge_op op;
	struct same_opts same;
	struct union_opts opts;
	struct model_union sum;		/* of all, or of MERGE_SUBTRACT of all but the first */
	struct model others;		/* of MERGE_SUBTRACT, these */
	size_t nr_models;
	uint64_t below_zero;		/* values of MERGE_SUBTRACT that are, in metrics "minus-..." */
	struct recording *parts;
	size_t nr_parts, alloc_parts;
	struct arena text;
};

void merge_init(struct merge *g, enum merge_op op, const struct same_opts *same);
/* Add a finished model, which may be released afterwards. -E2BIG: too many metrics in all. */
int merge_add(struct merge *g, const struct model *m, const struct origin *origin, struct err *e);
/* -E2BIG: as merge_add(), of MERGE_SUBTRACT. */
int merge_finish(struct merge *g, struct err *e);
/* Write the result as a trace. path is as for trace_writer_open(). */
int merge_write(struct merge *g, const char *path, struct err *e);
void merge_release(struct merge *g);

const char *merge_op_name(enum merge_op op);

/* ---- reading ---- */

struct profile_opts;

/* Return whether the trace is a merged one. */
bool merged_is(const struct names *x);
/* Do what profile_read() does for such a trace. */
int merged_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct profile_opts *o,
		struct err *e);

#endif
