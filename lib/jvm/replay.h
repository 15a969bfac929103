/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - a JVM that wrote a journal, as if it told its recorder all that now: the callbacks are those of
 * server.h. Nothing is asked of the process, which is not there any more, or somewhere else.
 */
#ifndef JVM_REPLAY_H
#define JVM_REPLAY_H

#include <stddef.h>

#include "base/err.h"
#include "jvm/server.h"

/* Begin a JVM, which calls hello(). NULL: without memory or descriptors. The server releases it. */
struct jvm *jvm_replay_begin(struct jvm_server *s, int pid);
/* Set where the VM has its code. */
void jvm_replay_code_cache(struct jvm *j, uint64_t lo, uint64_t hi);
/* Process whole records, 8-aligned. -EILSEQ: one is invalid, and it and all after it were ignored. */
int jvm_replay_records(struct jvm *j, const void *data, size_t len, struct err *e);
/* Process a piece of the VM's log. */
int jvm_replay_vm_log(struct jvm *j, const void *data, size_t len, struct err *e);
/* End the JVM: gone() follows when the server closes. */
void jvm_replay_end(struct jvm *j);

#endif
