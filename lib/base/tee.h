/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tee.h - a stream whose text goes to stdout and, if there is one, to a file as well. */
#ifndef BASE_TEE_H
#define BASE_TEE_H

#include <stdio.h>

#include "base/err.h"
#include "base/newfile.h"

struct tee {
	FILE *out;		/* write here */
	struct newfile file;	/* if out is not stdout */
	const char *path;	/* of the file; borrowed */
	int code;		/* errno value of the first write to the file that failed, or 0 */
};

/* Open a stream; path NULL: stdout alone. An existing file is replaced as soon as something is written. */
int tee_open(struct tee *t, const char *path, struct err *e);
/*
 * Sends on what was written.  A failure of the file is kept for tee_close(), one of stdout in
 * ferror(stdout).
 */
void tee_flush(struct tee *t);
/* Flushes; an error when something did not reach the file.  stdout stays open. */
int tee_close(struct tee *t, struct err *e);

#endif
