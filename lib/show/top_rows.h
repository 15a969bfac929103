/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top_rows.h - rows of arcprof top: samples folded to functions, modules, threads or processes. */
#ifndef SHOW_TOP_ROWS_H
#define SHOW_TOP_ROWS_H

#include "base/hash.h"
#include "flow/model.h"

enum top_fold { TOP_FUNCTION, TOP_MODULE, TOP_THREAD, TOP_PROCESS, TOP_NR_FOLDS };
enum top_sort { TOP_SELF, TOP_TOTAL, TOP_N, TOP_NR_SORTS };
extern const char *const top_folds[], *const top_sorts[];	/* for OPT_ENUM */

struct top_row {
	uint32_t consumer;		/* one of those it stands for */
	uint64_t self, total, n;	/* by the first metric; samples that ended in it */
};

struct top_rows {
	enum top_fold fold;
	struct top_row *list;
	size_t nr, alloc;
	uint64_t total, n;		/* of all samples, filtered or not */
	struct map row_of;
};

/*
 * Make rows of the finished tree f, whose consumers are m's, and order them. filter: unless empty, only rows
 * with this in their name or module, in upper or lower case.
 */
void top_rows_make(struct top_rows *r, const struct model *m, const struct flow *f, enum top_fold fold,
		   enum top_sort sort, const char *filter);
void top_rows_release(struct top_rows *r);

/* Return the name of a row, or its module or ""; both are strings of m, not escaped. */
const char *top_row_name(const struct top_rows *r, const struct model *m, const struct top_row *row);
const char *top_row_module(const struct top_rows *r, const struct model *m, const struct top_row *row);
/* Return the pid of a process or the tid of a thread; 0: neither. */
uint32_t top_row_id(const struct model *m, const struct top_row *row);

#endif
