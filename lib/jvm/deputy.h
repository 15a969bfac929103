/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deputy.h - a JVM without an agent, of which a process of ours tells what the agent would: by the same
 * records, in the same rings. The callbacks are those of server.h, but for hello().
 */
#ifndef JVM_DEPUTY_H
#define JVM_DEPUTY_H

#include "base/err.h"
#include "jvm/server.h"

/*
 * Forks the process, in which run() is called. It has no descriptors but keep_fd and those of its standard
 * streams, takes no signals that we block, ends with us, and with the JVM in the server. When it ends, what
 * it has told is taken in and gone() is called. NULL: *e says why not; nothing was called.
 */
struct jvm *jvm_deputy(struct jvm_server *s, int pid, int keep_fd,
		       void (*run)(void *ctx, struct jvm_ctl *area, int keep_fd), void *ctx, struct err *e);

#endif
