/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.h - "arcprof diff" as other commands can ask for it. */
#ifndef CMD_DIFF_H
#define CMD_DIFF_H

#include "diff/diff.h"

struct report_request;

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

#endif
