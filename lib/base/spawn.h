/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spawn.h - starts a program, held before its first instruction. */
#ifndef BASE_SPAWN_H
#define BASE_SPAWN_H

#include <sys/types.h>

#include "base/err.h"

struct spawn {
	pid_t pid;
	int go_fd;	/* closing or writing lets it exec */
	int error_fd;	/* carries errno when exec failed */
};

/* Forks; the child waits.  argv ends with NULL; env is the caller's environ. */
int spawn_start(struct spawn *s, char *const *argv, struct err *e);
/* Lets it exec and waits until that is done.  -ENOENT, -EACCES..., of ERR_EXEC: it is not a program. */
int spawn_go(struct spawn *s, const char *name, struct err *e);

#endif
