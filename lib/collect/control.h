/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - commands for a running recording: "arcprof ctl" asks, the recorder answers.
 *
 * A recorder listens on an abstract Unix socket, named after its process: nothing is left in any
 * folder, however it ends. A command is one line; the answer begins with a line "ok", or "error" and a
 * text, and ends with the connection. Each end checks the user of the other: only root and the
 * recorder's own user are accepted.
 */
#ifndef COLLECT_CONTROL_H
#define COLLECT_CONTROL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* --- the recorder's end --- */

/* Carries out a command; its output is added to *reply. An error is sent to the client. */
typedef int (*control_fn)(void *ctx, const char *command, struct buf *reply, struct err *e);

/* A descriptor that is readable when a client connects; -1: none could be opened. */
int control_open(void);
/* Answers waiting clients; a client that sends nothing is soon dropped. */
void control_serve(int fd, control_fn fn, void *ctx);

/* --- the client's end --- */
/* Recorders that would accept us, in *pids, which the caller frees. */
size_t control_list(int **pids);
/* The answer of the recorder pid, without its first line, in *reply. */
int control_ask(int pid, const char *command, struct buf *reply, struct err *e);

#endif
