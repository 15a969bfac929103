/* SPDX-License-Identifier: MIT */
/*
 * blocked.h - another thread, which is blocked: its registers, JavaThread and stack, to be walked (walk.h).
 *
 * A thread that is blocked changes nothing that belongs to it, but it may go on at any time, end, and have
 * its stack unmapped. So nothing of it is loaded where it is: it is copied by loads that survive a bad
 * address, and the copy is good when the thread is in the same block still afterwards. That takes some 2
 * us, and blocks that end meanwhile are missed. What else belongs to the copy, code and the names of
 * methods, was alive when it was made, and is not freed right afterwards: see blocked_holds().
 */
#ifndef AGENT_BLOCKED_H
#define AGENT_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/proto.h"
#include "jvm/wall.h"

enum { BLOCKED_NR_CODES = 4096, BLOCKED_NR_TEXTS = 4 };

struct blocked_code {			/* the number of the method that was compiled with that id */
	uint32_t compile_id, method;
	uint32_t waits;
};

struct blocked {
	bool late;			/* slots are not of this moment: the kernel is asked */
	uint64_t ran_ns;		/* then: its CPU time when we began; it grows when the thread runs */
	uint64_t known_ns;		/* when it was known to be blocked */
	const struct wall_slot *slot;	/* where BPF goes on writing */
	struct wall_slot was;		/* and what was there: syscall, args, regs, since_ns */
	uint64_t begun_ns;		/* when we began to look at it */
	uint32_t epoch;			/* names_epoch() then */
	bool torn;			/* its stack could not be copied in one block */
	bool past;			/* it is not blocked, but was like this when it woke another */
	uintptr_t thread;		/* JavaThread*, as others see it */
	char *fields;			/* a copy of it */
	/*
	 * The stack from lo, the stack pointer, to hi (0: unknown). The part up to loaded is copied to
	 * "stack".
	 */
	uintptr_t lo, loaded, hi;
	char *stack;
	/*
	 * of the heap, when the thread was looked at first: collections so far; objects stay where they are
	 */
	uint32_t nr_collections;
	bool objects_known;
	bool partial;			/* of the registers only pc and sp are known */
	uintptr_t moment;		/* of ZGC's, as in cont.h */
	uintptr_t blocker;		/* Klass* of what it parks for, if it parks; 0: not known */
	bool enters_again;		/* the monitor that it has waited on */
	/* For whoever reads names. */
	char (*text)[JVM_MAX_STRING];	/* BLOCKED_NR_TEXTS */
	struct blocked_code *code;	/* BLOCKED_NR_CODES, by their ids */
};

/* Allocate its memory, which is kept. Returns false without memory. */
bool blocked_init(struct blocked *b);
/* Forget the methods, for another recorder. */
void blocked_forget(struct blocked *b);

/*
 * Begin with the thread of a slot. Returns false if it runs, waits for a CPU, or is not a Java thread that
 * we know.
 */
bool blocked_begin(struct blocked *b, const struct wall_slot *s);
/*
 * Begin with a thread as it was when it ended a block: all of it is a copy, except for its JavaThread, of
 * which only what never changes counts. Return false if it is not a Java thread that we know, or another has
 * taken the copy's place.
 */
bool blocked_begin_wake(struct blocked *b, const struct wall_wake *w, uint32_t block_nr);
/* Return the anchor of its thread, for struct wall_wake, or 0 if this VM does not have all that is needed. */
uintptr_t blocked_anchor(const struct blocked *b);
/* Return whether it has not run since then. */
bool blocked_still(const struct blocked *b);
/* Return whether, in addition, no object was moved. */
bool blocked_objects_hold(const struct blocked *b);
/*
 * Return whether the code and methods on its stack were alive when they were read: it has not run since
 * then, or has run a moment ago and no class was unloaded. Code is freed later: the VM looks at all stacks
 * first.
 */
bool blocked_holds(const struct blocked *b);

/* Return whether the word at p, in [lo, hi), is copied; copy it now if not before. */
bool blocked_load(struct blocked *b, uintptr_t p);
static inline bool blocked_has(struct blocked *b, uintptr_t p)
{
	return p < b->loaded || blocked_load(b, p);
}

#endif
