/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - standard output into a file that is either complete or left as it was. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "base/err.h"

struct output {
	const char *path;
	char *temporary;	/* beside it; NULL: path is no file, and is written to where it is */
	int saved_fd;		/* standard output as it was */
};

/* From now on stdout goes into a temporary file in the folder of path. */
int output_begin(struct output *o, const char *path, struct err *e);
/*
 * Standard output is what it was before, and the file takes its name, unless nothing was printed or
 * not all could be written: then it goes.
 */
int output_end(struct output *o, struct err *e);
/* In place of output_end(), for what is of no use in part: the file stays as it was. */
void output_abandon(struct output *o);

#endif
