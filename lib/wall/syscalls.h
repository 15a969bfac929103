/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syscalls.h - the system calls in which threads wait. */
#ifndef WALL_SYSCALLS_H
#define WALL_SYSCALLS_H

#include "jvm/wall.h"

struct wall_syscall {
	int nr;
	const char *name;
	enum wall_class class;
	enum wall_files files;
};

/* Return a system call, NULL if it is not known here. */
const struct wall_syscall *wall_syscall(int nr);
/* Return the i-th; NULL after the last. */
const struct wall_syscall *wall_syscall_at(unsigned int i);

#endif
