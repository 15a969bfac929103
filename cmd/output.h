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
 * Restore standard output, and give the file its name; it is removed if nothing was printed, or not all could
 * be written.
 */
int output_end(struct output *o, struct err *e);
/* Restore standard output after a failure, in place of output_end(): an earlier file stays as it was. */
void output_abandon(struct output *o);
/* Call one of these two. */
int output_close(struct output *o, bool failed, struct err *e);

/*
 * Do what output_end() does in two steps, for files that belong together: the second if the first returned 0.
 */
int output_finish(struct output *o, struct err *e);
int output_commit(struct output *o, struct err *e);

#endif
