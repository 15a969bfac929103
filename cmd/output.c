// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

int output_begin(struct output *o, const char *path, struct err *e)
{
	int fd;

	*o = (struct output){ path, xasprintf("%s.XXXXXX", path), -1 };
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0) {
		free(o->temporary);
		return err_errno(e, "%s", path);
	}
	give_usual_mode(fd);
	fflush(stdout);
	o->saved_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (o->saved_fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		err_errno(e, "%s", path);
		unlink(o->temporary);
		free(o->temporary);
		close(fd);
		return -e->code;
	}
	close(fd);
	return 0;
}

int output_end(struct output *o, struct err *e)
{
	bool good = ftello(stdout) > 0;
	int r = 0;

	if (good && (fflush(stdout) || ferror(stdout) || rename(o->temporary, o->path)))
		r = err_errno(e, "%s", o->path);
	if (!good || r)
		unlink(o->temporary);
	dup2(o->saved_fd, STDOUT_FILENO);
	close(o->saved_fd);
	free(o->temporary);
	return r;
}
