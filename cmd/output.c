// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - redirects standard output into a file that appears only when complete (output.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

static int output_start(struct output *o, const char *path, const struct newfile_opts *how, struct err *e)
{
	int r;

	*o = (struct output){ .saved_fd = -1 };
	if (!path)
		return 0;
	r = newfile_open(&o->file, path, how, e);
	if (r)
		return r;
	fflush(stdout);
	o->saved_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (o->saved_fd >= 0 && dup2(o->file.fd, STDOUT_FILENO) >= 0)
		return 0;
	r = err_errno(e, "%s", path);
	if (o->saved_fd >= 0)
		close(o->saved_fd);
	newfile_abandon(&o->file);
	return r;
}

int output_begin(struct output *o, const char *path, struct err *e)
{
	return output_start(o, path, &(struct newfile_opts){ .secret = false }, e);
}

int output_begin_secret(struct output *o, const char *path, struct err *e)
{
	return output_start(o, path, &(struct newfile_opts){ .secret = true }, e);
}

/* Restore standard output. */
static void output_restore(struct output *o)
{
	__fpurge(stdout);	/* what could not be written does not belong on the terminal */
	clearerr(stdout);	/* nor is it to blame for that */
	dup2(o->saved_fd, STDOUT_FILENO);
	close(o->saved_fd);
}

void output_abandon(struct output *o)
{
	if (o->saved_fd < 0)
		return;
	output_restore(o);
	newfile_abandon(&o->file);
}

int output_finish(struct output *o, struct err *e)
{
	int r = 0;

	o->printed = !o->file.regular || ftello(stdout) > 0;
	errno = 0;
	if (ferror(stdout) | fflush(stdout))
		r = err_set(e, errno ? errno : EIO, "%s: %s", o->file.path, errno ? strerror(errno) : "write error");
	output_restore(o);
	if (r)
		newfile_abandon(&o->file);
	return r;
}

int output_commit(struct output *o, struct err *e)
{
	if (o->printed)
		return newfile_close(&o->file, e);
	newfile_abandon(&o->file);
	return 0;
}

int output_end(struct output *o, struct err *e)
{
	int r = o->saved_fd < 0 ? 0 : output_finish(o, e);

	return r || o->saved_fd < 0 ? r : output_commit(o, e);
}

int output_close(struct output *o, bool failed, struct err *e)
{
	if (!failed)
		return output_end(o, e);
	output_abandon(o);
	return 0;
}
