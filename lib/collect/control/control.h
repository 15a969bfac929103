/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - commands for a running recording: "arcprof ctl" asks, the recorder answers.
 *
 * A recorder listens on an abstract Unix socket, named after its process: nothing is left in any
 * folder, however it ends. Anybody can bind such a name first. Then the recorder has one with a random end,
 * and whoever asks finds out by the listener's credentials which of them is a recorder. A command is one
 * line; the answer begins with a line "ok", or "error" and a text, and ends with the connection. Each end
 * checks the user of the other: only root and the recorder's own user are accepted.
 */
#ifndef COLLECT_CONTROL_H
#define COLLECT_CONTROL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* --- the recorder's end --- */

/* Carries out a command; its output is added to *reply. An error is sent to the client. */
typedef int (*control_fn)(void *ctx, const char *command, struct buf *reply, struct err *e);

/* Return a descriptor that is readable when a client connects, or -1. */
int control_open(void);
/*
 * Return -EADDRINUSE, with a message that names it, if another process listens at the name that
 * control_open() is to take, or had to do without.
 */
int control_check(struct err *e);
/* Answers waiting clients; a client that sends nothing is soon dropped. */
void control_serve(int fd, control_fn fn, void *ctx);

/* --- the client's end --- */
/* Names that were passed over: others have taken them, or a second was not enough; and the first of these. */
struct control_skipped {
	size_t nr;
	int pid;			/* 0: that is not known */
	unsigned int uid;
};
/* List the recorders that would accept us, within a second, in *pids, which the caller frees. */
size_t control_list(int **pids, struct control_skipped *skipped);
/*
 * Ask the recorder pid; *reply gets the answer without its first line. *others_ns: how long recorders may
 * take that belong to another user, or whose name has another number, less what they took before; our own and
 * root's have a minute.
 */
int control_ask(int pid, const char *command, uint64_t *others_ns, struct buf *reply, struct err *e);
/* Return the recorder, another process, that says within a second that it records the JVM pid; 0: none. */
int control_recorder_of(int pid);

#endif
