/* SPDX-License-Identifier: GPL-2.0-or-later */
/* follow.h - what single instructions do to the stack pointer, on the way to a return (epilogue.c). */
#ifndef UNWIND_FOLLOW_H
#define UNWIND_FOLLOW_H

#include "unwind/rules.h"

enum { FOLLOW_INSN_MAX = 16 };	/* bytes that the longest instruction of any CPU may take */

/* Registers are numbered as instructions do. */
struct path {
	uint64_t pc;		/* file offset */
	int64_t sp;		/* from the base register's value at the start */
	uint8_t base;		/* the stack pointer or the frame pointer */
	bool fp_known;		/* the frame pointer is still what it was at the start */
	uint32_t saved;		/* bit a register that was loaded back */
	int32_t at[32];		/* where from, as sp */
	/* Used where calls leave the return address in a register, which functions store and load back: */
	uint32_t lost;		/* bit a register that has another value now, from nowhere that is known */
	uint32_t kept;		/* bit a register that was stored on the way */
	uint32_t kept_saved;	/* that had been loaded back before, from kept_from */
	int32_t kept_at[32], kept_from[32];
};

enum follow_outcome { FOLLOW_ON, FOLLOW_RETURNED, FOLLOW_DEAD };

struct follow {
	enum follow_outcome outcome;
	bool is_call;
	uint64_t branch;	/* where it may go as well, file offset; 0: nowhere */
};

struct follow_cpu {
	uint8_t sp;
	/*
	 * Takes p past the instruction at code, of which len bytes can be read; after_call: a call is
	 * before it. FOLLOW_DEAD: where it goes on is not known, or it belongs to another function.
	 */
	struct follow (*one)(struct path *p, const uint8_t *code, size_t len, bool after_call);
	/* p is at a return: may it be that of the function it began in, behind a call if at_call? */
	bool (*is_sound)(const struct path *p, bool at_call);
	/* The rules for where p began. */
	void (*to_state)(const struct path *p, struct rule_state *s);
};

extern const struct follow_cpu follow_x86, follow_arm64;

#endif
