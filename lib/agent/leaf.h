/* SPDX-License-Identifier: MIT */
/*
 * leaf.h - numbers of what samples end in beside methods: classes, and reasons of waits.
 */
#ifndef AGENT_LEAF_H
#define AGENT_LEAF_H

#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

/* Return the leaf's number, sent to the recorder if it is new; 0: out of memory. Not for signal handlers. */
uint32_t leaf_number(enum jvm_leaf_kind kind, const char *name, size_t len);
/* Return the number of a leaf that has been sent before, or 0. */
uint32_t leaf_known(enum jvm_leaf_kind kind, const char *name, size_t len);
/* Forget all leaves: another recorder comes, which knows none. */
void leaf_forget_all(void);

#endif
