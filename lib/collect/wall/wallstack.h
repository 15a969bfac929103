/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wallstack.h - where a blocked thread is, seen from outside, and why it waits. */
#ifndef COLLECT_WALLSTACK_H
#define COLLECT_WALLSTACK_H

#include <linux/limits.h>
#include <stdint.h>

#include "base/buf.h"
#include "collect/engine/tasks.h"
#include "trace/frame.h"
#include "wall/wall.h"

struct collect;

/* ---- waitfile.c: for which file a thread waits: what a descriptor is, and how that is called ---- */

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

/* ---- wallstack.c ---- */

/*
 * Frames, outermost first, of the thread whose slot is at s, of which copy was read: the user code that made
 * the system call. 0: it went on meanwhile.
 */
size_t wallstack_walk(struct collect *c, struct proc *p, const struct wall_slot *s,
		      const struct wall_slot *copy, struct frame *out);
/* Return the same of a thread that ended a block, as it was then. 0: not known. */
size_t wallstack_waker(struct collect *c, const struct wall_wake *at, struct frame *out);
/*
 * Append what a thread waits for, "[read: pipe]", and find its file. The slot's process may answer with
 * anything.
 */
void wallstack_reason(const struct wall_slot *s, struct buf *text, struct waitfile *file);
/* Append a reason that the JVM knows better; class: of what a thread is parked for, NULL: not known. */
void wallstack_java_reason(enum wall_reason reason, const char *class, struct buf *text);
/* Return the same of blocks that were not looked at: "[futex]". */
const char *wallstack_class(enum wall_class class);

#endif
