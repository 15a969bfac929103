/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.h - lists of traces: those of folders, and those that a recording is compared with. */
#ifndef CMD_FOLDER_H
#define CMD_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The traces of a folder that began at a time, in the order of their names. */
struct fleet_paths {
	uint64_t since_s, until_s;	/* until 0: no end */
	/* returns whether to leave a path out, before it is opened; NULL: none */
	bool (*leave_out)(void *ctx, const char *path);
	void *ctx;
	char **list;
	int nr, alloc;
};

/*
 * -ENODATA: there is none. Files that are not traces are left out, and so is the one that a recorder writes;
 * that of one that was killed is the last.
 */
int fleet_list(struct fleet_paths *p, const char *dir, struct err *e);
/* List files as they are named, and in their places the traces of folders. */
int list_traces(struct fleet_paths *p, int nr, char **names, struct err *e);
void fleet_list_release(struct fleet_paths *p);

/* ---- what a recording is compared with: files, or the traces that a store has of a commit ---- */

/*
 * List the traces that text names: FILE[,FILE...]; or from a store, a folder with a folder of traces for
 * each commit, STORE@COMMIT or STORE alone, the commit that was stored last. The beginning of a commit is
 * enough, if it is the only one. Release the list with fleet_list_release(), also after an error.
 */
int baseline_list(struct fleet_paths *p, const char *text, struct err *e);

#endif
