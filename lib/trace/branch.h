/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch.h - a run of branches of one thread, as an instruction trace holds it: blocks of
 * instructions that follow each other in memory, each ended by what leaves the straight line.
 *
 * A branch takes three varints and a byte.  It has no start of its own: a block begins where
 * the branch before it led to, the first of a run where the run says.
 */
#ifndef TRACE_BRANCH_H
#define TRACE_BRANCH_H

#include "base/buf.h"
#include "base/span.h"
#include "trace/record.h"

/* what ended the block; the numbers are in files */
enum branch_kind {
	BRANCH_INTERRUPT,	/* a signal's handler begins; "from" was not executed yet */
	BRANCH_CALL,
	BRANCH_RETURN,
	BRANCH_JUMP,
	BRANCH_IRET,		/* a handler is left (sigreturn), or iret */
	BRANCH_OTHER,		/* control is elsewhere for no reason that an instruction gives */
	BRANCH_CALL_INDIRECT,
	BRANCH_JUMP_INDIRECT,
	BRANCH_COND,		/* a conditional branch, taken */
	BRANCH_EXEC,		/* the program is replaced; to is 0 */
	BRANCH_EXIT,		/* the thread ends; to is 0 */
	BRANCH_STOP,		/* tracing ends, or pauses: what comes next is not known */
	BRANCH_KIND_NR
};

struct branch {
	enum branch_kind kind;
	uint8_t len;		/* bytes of the instruction that branched; 0: none did */
	uint64_t start;		/* of the block */
	uint64_t end;		/* behind its last instruction; end - len is where the branch is */
	uint64_t to;
	uint64_t nr_insns;	/* in the block, the branch among them */
};

/* Appends b; its start is known already. */
void branch_put(struct buf *bytes, const struct branch *b);

struct branch_cursor {
	struct span s;
	uint64_t nr, start;
};

static inline struct branch_cursor branch_cursor(const struct rec_branches *r)
{
	return (struct branch_cursor){ span_init(r->bytes, r->len), r->nr, r->start };
}

/* Return false at the end, or where the bytes are invalid (c->s.bad). */
bool branch_next(struct branch_cursor *c, struct branch *b);

/* Return "CALL", "RETURN", "JUMP", ... of Performance Inspector's arc files, and its number for them. */
const char *branch_arc_name(enum branch_kind kind);
unsigned int branch_arc_number(enum branch_kind kind);
/* Return "call", "call-indirect", ...: a name for each kind. */
const char *branch_kind_name(enum branch_kind kind);

#endif
