/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newfile.h - every file that is written, from its opening to its name.
 *
 * A file is made under another name in the same folder, and takes its own when it is complete: under that
 * name there is the old file or the new one, never a part. What is a device, a pipe or an open file of this
 * process (/dev/stdout) is written to as it is. What must not be written over is not: a file that this
 * process reads (inputs.h), and a recording, unless another recording takes its place. Links are followed as
 * place.h says.
 */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/place.h"

struct newfile_opts {
	bool recording;		/* an older file of that name becomes PATH.old; links are refused */
	bool part;		/* a recording is .PATH.part until then, and none becomes PATH.old */
	bool own;		/* what arcprof keeps from run to run: no input, whatever it is */
	bool secret;		/* readable by its owner alone; else by whom the umask and the inputs allow */
	int dir;		/* the folder that path is in; 0: path says it all */
};

struct newfile {
	int fd;			/* to write to; -1: none */
	struct newfile_opts opts;
	struct place at;
	char *path;		/* for messages */
	char *temp;		/* its name until then; NULL: it has its own, or none */
	bool regular;		/* it was made here, and can be cut back */
};

/* Create a file; path "-" is standard output. A failure leaves nothing behind. */
int newfile_open(struct newfile *f, const char *path, const struct newfile_opts *o, struct err *e);
/* Use another name in the same folder than the one it was opened with. */
void newfile_rename(struct newfile *f, const char *name);
/* Give the file its name; what is written later is appended. */
int newfile_commit(struct newfile *f, struct err *e);
/* Closes it, which can fail as writing does, and commits it unless that has been done. */
int newfile_close(struct newfile *f, struct err *e);
/* Closes it; without newfile_commit() before, nothing has happened. */
void newfile_abandon(struct newfile *f);

/* Create a file without a name, which no other process can open, in TMPDIR or, without that, in folder. */
int newfile_unnamed(const char *folder, struct err *e);

/* ---- a stream whose text goes to stdout and, if there is one, to a file as well ---- */
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
