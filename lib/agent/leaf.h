/* SPDX-License-Identifier: MIT */
/*
 * leaf.h - numbers of what samples end in beside methods: classes, and reasons of waits.
 */
#ifndef AGENT_LEAF_H
#define AGENT_LEAF_H

#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

/* Return the leaf's number, told to the recorder if it is new; 0: out of memory. Not for signal handlers. */
uint32_t leaf_number(enum jvm_leaf_kind kind, const char *name, size_t len);
/* The same of one that has been told before; 0: it has not. */
uint32_t leaf_known(enum jvm_leaf_kind kind, const char *name, size_t len);
/* Another recorder comes, which knows none. */
void leaf_forget_all(void);

#endif
