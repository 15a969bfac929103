/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - commands for a recording that runs: "arcprof ctl" asks, the recorder answers.
 *
 * A recorder listens on a Unix socket of the abstract kind, named by its process: nothing is left in any
 * folder, however it ends. A command is one line; the answer begins with a line "ok", or "error" and a
 * text, and ends with the connection. Each end looks who is at the other: only root and the
 * recorder's own user are heard.
 */
#ifndef COLLECT_CONTROL_H
#define COLLECT_CONTROL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* --- the recorder's end --- */

/* Carries out a command; what it has to say is added to *reply. An error is told to who asked. */
typedef int (*control_fn)(void *ctx, const char *command, struct buf *reply, struct err *e);

/* A descriptor that is readable when somebody has something to say; -1: there is none to be had. */
int control_open(void);
/* Answers who is there; who is there and says nothing is not waited for long. */
void control_serve(int fd, control_fn fn, void *ctx);

/* --- who asks --- */

/* Processes that record and would hear us, in *pids, which is the caller's to free. */
size_t control_list(int **pids);
/* The answer of the recorder pid, without its first line, in *reply. */
int control_ask(int pid, const char *command, struct buf *reply, struct err *e);

#endif
