/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nativelocks.h - what locks of native code are called: the variable in which one lies, where the program's
 * or library's symbols have it, else its type.
 */
#ifndef COLLECT_NATIVELOCKS_H
#define COLLECT_NATIVELOCKS_H

#include <stdint.h>

#include "base/hash.h"
#include "jvm/proto.h"

struct collect;
struct proc;

struct nativelocks {
	struct map functions;		/* process and address -> function of the trace */
	uint32_t types[JVM_NR_WAIT_KINDS];	/* the same of those without a name; 0: none yet */
};

void nativelocks_release(struct nativelocks *n);
/* A file of several is at its end. */
void nativelocks_forget(struct nativelocks *n);
/* The function of the trace that has its name. */
uint32_t nativelocks_function(struct collect *c, struct proc *p, uint64_t addr, enum jvm_wait_kind kind);

#endif
