/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch.h - of an x86-64 instruction, what its execution step by step needs to know: whether it
 * is a branch, and then its length.  Other lengths are not known here.
 */
#ifndef ARCPROF_BRANCH_H
#define ARCPROF_BRANCH_H

#include "arcprof_uapi.h"

#define BRANCH_CODE_MAX 15

enum branch_class {
	CLASS_PLAIN,
	CLASS_BRANCH,			/* kind says which; all but ARCPROF_BRANCH_COND always branch */
	CLASS_SYSCALL,			/* no trap comes behind it, but behind the instruction after it */
	CLASS_REPEATED,			/* a trap comes after each round; it is one instruction */
	CLASS_PUSHF,			/* writes the flags where the program sees them */
	CLASS_IRET,			/* takes the flags from there */
	CLASS_TRAP,			/* sends its thread a signal, when it is done */
};

struct branch_insn {
	__u8 cls;			/* enum branch_class */
	__u8 kind;			/* of a branch: enum arcprof_branch_kind */
	__u8 len;			/* 0: not known */
};

/* Decode an instruction; bytes beyond len read as 0. */
struct branch_insn branch_decode(const __u8 *code, unsigned int len);

#endif
