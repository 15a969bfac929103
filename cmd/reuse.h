/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reuse.h - what commands do for each other: diff, merge, budget and export. */
#ifndef CMD_REUSE_H
#define CMD_REUSE_H

#include <stdbool.h>

#include "base/opt.h"
#include "diff/diff.h"
#include "fleet/table.h"

struct model;
struct origin;
struct report_request;

/* ---- diff ---- */

/*
 * Adds the recording at path, read as q says, to a comparison; path is borrowed until diff_release(). The
 * error names the path.
 */
int diff_add_run(struct diff *d, unsigned int side, const char *path, const struct report_request *q,
		 struct err *e);

/*
 * Writes the page of the difference of two sides to path; a and b are as on the command line of diff, and
 * are changed. Returns the exit status.
 */
int diff_page(char *a, char *b, const char *path);

/* ---- merge ---- */

/* Takes away what is not wanted of the model of a trace; 1: all of it. Called for one trace at a time. */
typedef int merge_choose(void *ctx, const char *path, const struct origin *origin, struct model *m,
			 struct err *e);

/*
 * Adds up the traces as merge does without options; choose NULL: all is wanted. Returns the exit status; what
 * is wrong has been said.
 */
int merge_files(const char *output, int nr, char **paths, merge_choose *choose, void *ctx);

/* ---- budget, which "arcprof fleet budget" runs on what it fetched ---- */

struct budget_opts {
	const char *input, *import, *tree, *file, *output, *baseline;
	const char *name;	/* of the recording, in what is printed; NULL: its path */
	int format;
	bool all, strict, calibrate;
};

/* ---- export: traces as rows of tables, as fleet has them ---- */

/* A recording on its way to a server. */
struct export_source {
	const char *path;		/* of a trace */
	int64_t id;			/* 0: the number of its file */
	bool received;			/* from elsewhere: the files that it names are not this machine's */
};

/*
 * Adds the trace: 0, 1 if it was damaged, which has been said, or -errno. *rec gets its number and its start,
 * and no host. No metrics: all of them.
 */
int export_trace(struct fleet_table *t, const struct export_source *from, const struct opt_list *metrics,
		 bool calibrate, struct fleet_recording *rec, struct err *e);

/* Get the number of a recording, made from the bytes of its file, wherever it lies. */
int trace_number(const char *path, int64_t *id, struct err *e);

#endif
