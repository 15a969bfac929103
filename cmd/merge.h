/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.h - "arcprof merge" for other commands. */
#ifndef CMD_MERGE_H
#define CMD_MERGE_H

struct err;
struct model;
struct origin;

/* Takes away what is not wanted of the model of a trace; 1: all of it. Called for one trace at a time. */
typedef int merge_choose(void *ctx, const char *path, const struct origin *origin, struct model *m,
			 struct err *e);

/*
 * Adds up the traces as merge does without options; choose NULL: all is wanted. Returns the exit status; what
 * is wrong has been said.
 */
int merge_files(const char *output, int nr, char **paths, merge_choose *choose, void *ctx);

#endif
