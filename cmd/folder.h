/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.h - folders of traces, for commands that read several. */
#ifndef CMD_FOLDER_H
#define CMD_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The traces of a folder that began at a time, in the order of their names. */
struct fleet_paths {
	uint64_t since_s, until_s;	/* until 0: no end */
	/* Which paths are left out before anybody looks into them; NULL: none. */
	bool (*leave_out)(void *ctx, const char *path);
	void *ctx;
	char **list;
	int nr, alloc;
};

/*
 * -ENODATA: there is none. Files that are no traces are left out, and so is the one that a recorder writes;
 * that of one that was killed is the last.
 */
int fleet_list(struct fleet_paths *p, const char *dir, struct err *e);
/* Files as they are named, and the traces of folders among them. */
int list_traces(struct fleet_paths *p, int nr, char **names, struct err *e);
void fleet_list_release(struct fleet_paths *p);

#endif
