/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doorway.h - the socket that agents connect to, in a folder of its own.
 *
 * Nobody but those who are to come can find it: its folder is the target's alone (mode 700), or where JVMs of
 * several users may come, cannot be listed, and the socket's name in it is random and told to the
 * programs we start only. The kernel's list of sockets does not have that name. A door for one process has a
 * key (key.h).
 */
#ifndef JVM_DOORWAY_H
#define JVM_DOORWAY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/foreign.h"
#include "jvm/key.h"

struct doorway {
	int fd;			/* listening; -1: closed */
	char path[108];		/* of the socket, as those see it who are to come */
	struct jvm_key key;	/* doorway_open_in() makes it, and a file of it beside the socket */
	int parent, dir;	/* our folder lies in parent; dir is locked as long as we live */
	char folder[48], name[40], key_name[48];
	bool foreign;
	struct foreign_user user;
};

#define DOORWAY_CLOSED { .fd = -1, .parent = -1, .dir = -1 }

/*
 * Open a doorway for programs that we start: in /tmp or, where that is impossible, in a folder of this
 * user.
 */
int doorway_open(struct doorway *d, struct err *e);
/* Open a doorway for one process: in the /tmp below root (foreign_root()), as that user. */
int doorway_open_in(struct doorway *d, int root, const struct foreign_user *u, struct err *e);
/* Removes socket and folder. */
void doorway_close(struct doorway *d);

#endif
