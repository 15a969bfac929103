/* SPDX-License-Identifier: GPL-2.0-or-later */
/* invite.h - has a running program with libarcprof.a connect to us (invitation.h). */
#ifndef JVM_INVITE_H
#define JVM_INVITE_H

#include "base/err.h"

/*
 * Write the socket's path where the process reads it at its next mark; "": it should forget one. -ENOENT: the
 * process has not loaded the library; -EBUSY: it works for another recorder; -EPERM: its memory cannot be
 * written.
 */
int invite_process(int pid, const char *path, struct err *e);

#endif
