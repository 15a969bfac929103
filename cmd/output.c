// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/mem.h"
#include "output.h"

/* As a file that a shell makes. */
static void give_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask)) {
		/* it stays readable for its owner alone */
	}
}

/* A device, a pipe or a link is written to where it is: only a file is replaced. */
static bool is_replaced(const char *path)
{
	struct stat st;

	return lstat(path, &st) || S_ISREG(st.st_mode);
}

static int open_output(struct output *o, struct err *e)
{
	int fd;

	if (!is_replaced(o->path)) {
		fd = open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		return fd < 0 ? err_errno(e, "%s", o->path) : fd;
	}
	o->temporary = xasprintf("%s.XXXXXX", o->path);
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0) {
		err_errno(e, "%s", o->path);
		free(o->temporary);
		return -e->code;
	}
	give_usual_mode(fd);
	foreign_give_to_caller(fd);
	return fd;
}

static void drop_temporary(struct output *o)
{
	if (o->temporary)
		unlink(o->temporary);
}

int output_begin(struct output *o, const char *path, struct err *e)
{
	int fd, r = 0;

	*o = (struct output){ .path = path };
	fd = open_output(o, e);
	if (fd < 0)
		return fd;
	fflush(stdout);
	o->saved_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (o->saved_fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		r = err_errno(e, "%s", path);
		drop_temporary(o);
		free(o->temporary);
	}
	close(fd);
	return r;
}

/* Standard output is what it was before. */
static void restore(struct output *o)
{
	__fpurge(stdout);	/* what could not be written does not belong on the terminal */
	dup2(o->saved_fd, STDOUT_FILENO);
	close(o->saved_fd);
	free(o->temporary);
}

void output_abandon(struct output *o)
{
	drop_temporary(o);
	restore(o);
}

int output_end(struct output *o, struct err *e)
{
	bool printed = !o->temporary || ftello(stdout) > 0;
	int r = 0;

	if (fflush(stdout) || ferror(stdout) || (o->temporary && printed && rename(o->temporary, o->path)))
		r = err_errno(e, "%s", o->path);
	if (!printed || r)
		drop_temporary(o);
	restore(o);
	return r;
}
