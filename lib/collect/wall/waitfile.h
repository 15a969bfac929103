/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waitfile.h - for which file a thread waits: what a descriptor of its process is, and how that is called. */
#ifndef COLLECT_WAITFILE_H
#define COLLECT_WAITFILE_H

#include <linux/limits.h>
#include <stdint.h>

#include "base/buf.h"
#include "wall/wall.h"

struct waitfile {
	char kind[32];			/* "pipe", "TCP socket"; "": not known */
	uint64_t inode;			/* 0: not known */
	char name[PATH_MAX];		/* its path; "": it has none, or is a socket's */
};

void waitfile_none(struct waitfile *f);
/*
 * Find out what that descriptor is now. This opens nothing, and asks no file system of the process's own.
 * What is not known, or not ours to look at, stays empty.
 */
void waitfile_look(int pid, uint64_t number, struct waitfile *f);
/*
 * Describe the other end of a socket: "10.0.0.1:5432", or "at *:8080" for one that has none or listens.
 * For a client of ours, whose own port says nothing, it is "10.0.0.1 to port 8080"; for a Unix socket its
 * path. ephemeral: ports from there on are given to clients. *text stays empty if it has none.
 */
void waitfile_peer(const struct wall_where *at, unsigned int ephemeral, struct buf *text);
/* Return the first port of those that the kernel gives to clients. */
unsigned int waitfile_ephemeral(void);

#endif
