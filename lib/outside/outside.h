/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside.h - Java stacks of a process that no agent is in. A process of ours does what the agent would: it
 * walks stacks, with the agent's walker, and reports methods and code, in the agent's protocol
 * (jvm/proto.h). With a sample it gets registers and a copy of the stack; everything else it reads in the
 * JVM's memory, some milliseconds later, so it looks again afterwards whether that is still what it
 * was. Where it may not have been the same at the time of the sample, there is a mark instead of frames.
 *
 * Whoever asks has unwound native code already, as far as the JVM's own code: no anchor of the VM's is
 * needed, which would be read too late.
 */
#ifndef OUTSIDE_OUTSIDE_H
#define OUTSIDE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

enum { OUTSIDE_NR_REGS = 17, OUTSIDE_MAX_STACK = 64 << 10 };

struct outside_ask {
	struct jvm_rec h;
	uint64_t time_ns;		/* of the sample: CLOCK_MONOTONIC */
	uint32_t tid, event;		/* as in its answer, a struct jvm_rec_sample */
	uint64_t reg[OUTSIDE_NR_REGS];	/* by their DWARF numbers; 0: not known */
	uint64_t pc, sp;
	uint8_t exact;			/* pc was interrupted, and is not a return address */
	uint8_t cut;			/* the stack may go on where the copy ends */
	uint32_t stack_bytes;		/* a copy of that many, from sp on, follows */
};

enum outside_state {
	OUTSIDE_STARTS,
	OUTSIDE_WALKS,
	OUTSIDE_GAVE_UP,		/* outside_share.why says why */
};

/* Shared by both processes, from before the fork. */
struct outside_share {
	uint32_t state;			/* enum outside_state, set by who walks */
	uint32_t sleeps;		/* nothing is asked, as far as it knows: it is to be woken */
	char why[128];
	/* what is asked: written by reserve.h's functions, with OUTSIDE_RING_BYTES behind it */
	struct jvm_ring ring __attribute__((aligned(4096)));
};

#define OUTSIDE_RING_BYTES (8ull << 20)
#define OUTSIDE_SHARE_BYTES (sizeof(struct outside_share) + JVM_PAGE + OUTSIDE_RING_BYTES)

/* Return whether there is a walker for this CPU. */
bool outside_possible(void);
/*
 * Answer requests for stacks of the JVM pid into the rings of ctl, those of a thread in order, until the
 * end of wake_fd. A byte is read from that while this sleeps and there is a request. It runs in a process
 * of its own, which may crash without harm to others, since the memory that it reads may contain
 * anything.
 */
void outside_run(int pid, struct jvm_ctl *ctl, struct outside_share *share, int wake_fd)
	__attribute__((noreturn));

#endif
