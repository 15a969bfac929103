/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - standard output into a file that is either complete or left as it was: base/newfile.h. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "base/err.h"
#include "base/newfile.h"

struct output {
	struct newfile file;
	int saved_fd;		/* standard output as it was; -1: as it is */
	bool printed;
};

/* Direct stdout to the file that path will name; NULL leaves it. */
int output_begin(struct output *o, const char *path, struct err *e);
/* Do the same for output that no other user may read. */
int output_begin_secret(struct output *o, const char *path, struct err *e);
/*
 * Standard output is what it was before, and the file takes its name, unless nothing was printed or
 * not all could be written: then it goes.
 */
int output_end(struct output *o, struct err *e);
/* Called in place of output_end() after a failure: a file that was there stays as it was. */
void output_abandon(struct output *o);
/* One of the two. */
int output_close(struct output *o, bool failed, struct err *e);

/* output_end() in two steps, for files that belong together: the second where the first returned 0. */
int output_finish(struct output *o, struct err *e);
int output_commit(struct output *o, struct err *e);

#endif
