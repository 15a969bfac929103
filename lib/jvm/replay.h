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

/* hello() is called. NULL: out of memory or descriptors. It goes with the server. */
struct jvm *jvm_replay_begin(struct jvm_server *s, int pid);
/* Set where the VM has its code. */
void jvm_replay_code_cache(struct jvm *j, uint64_t lo, uint64_t hi);
/* Whole records, 8-aligned. -EILSEQ: one contradicts itself, and those from there on were not looked at. */
int jvm_replay_records(struct jvm *j, const void *data, size_t len, struct err *e);
/* A piece of what the VM logged. */
int jvm_replay_vm_log(struct jvm *j, const void *data, size_t len, struct err *e);
/* It has said all: gone() follows when the server closes. */
void jvm_replay_end(struct jvm *j);

#endif
