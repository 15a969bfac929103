/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * java.h - samples of JVM threads: two halves that are joined here.
 *
 * One interrupt writes the kernel's half (time, weight, kernel chain) into a perf ring and
 * traps the thread; the agent's handler walks the user half.  The thread takes the trap when it
 * returns to user mode, so a user half belongs to every kernel half of its thread that is not
 * younger and not joined yet: while in the kernel, the user stack did not change.
 */
#ifndef COLLECT_JAVA_H
#define COLLECT_JAVA_H

#include "collect/engine/tasks.h"
#include "collect/jvm/deadlocks.h"
#include "collect/jvm/javacode.h"
#include "collect/jvm/javalines.h"
#include "collect/jvm/roots.h"
#include "collect/parts/memory.h"
#include "jvm/server.h"
#include "trace/writer.h"

struct pending {			/* half a sample */
	struct pending *next;
	struct rec_sample sample;	/* kernel half; of a user half: time and event */
	bool late;			/* a user half whose signal was blocked, */
	uint64_t skipped_ns;		/* and that stands for what was skipped up to then; 0: for none */
	size_t nr_frames;
	struct frame frames[];		/* outermost first */
};

struct java {
	struct jvm *jvm;
	struct proc *proc;
	bool gone;
	bool marks;			/* no JVM: a program that sends marks */
	bool sampled;			/* its agent walks stacks, since since_ns */
	bool away;			/* it is in no control group that is recorded */
	bool lacks;			/* a fact that something rests on */
	uint64_t since_ns;	/* UINT64_MAX: a BPF program passes to it what is its */
	struct outside *outside;	/* who walks its stacks (outside.h); NULL: its agent, or nobody */
	bool walls;			/* its agent walks threads that wait (wall.h) */
	bool program;			/* no JVM's agent: its native memory is sampled (memory.h) */
	struct memory_blocks blocks;
	struct roots roots;
	struct javalines lines;
	struct javacode code;
	struct deadlocks deadlocks;
	struct lives *lives;		/* NULL: none of its objects are watched (live.h) */
	struct thread **queued;		/* threads with pending halves */
	size_t nr_queued, alloc_queued;
	struct java_code *codes;	/* by address, for samples the agent does not walk */
	size_t nr_codes, alloc_codes;
	uint64_t nr_unpaired;		/* user halves whose kernel half was lost */
	uint64_t nr_throttled;		/* hits without a sample of their own: others stand for them */
	struct java *next;
};

/*
 * Return a new one, owned by the process and keeping it: a process may connect twice, and a process forked
 * from it keeps a connection that it left.
 */
struct java *java_new(struct jvm *jvm, struct proc *proc);
/* Return the same of a program: that is not the process's, in which there may be a JVM as well. */
struct java *java_new_program(struct jvm *jvm, struct proc *proc);
/* Free it. Its blocks and its live objects must have been freed before. */
void java_free(struct java *j);

/* Return whether a JVM of the process with that number in the trace is connected; list: of all. */
bool java_is_there(const struct java *list, uint32_t proc);

/* Keeps a kernel half of th until the user half comes. */
void java_kernel_half(struct java *j, struct thread *th, const struct rec_sample *s,
		      const struct frame *frames, size_t nr_frames);
/*
 * Keeps a user half: frames are complete, native stretches unwound.  The sample's thread: the number of
 * the virtual thread whose it is, 0 when it is th's own.
 */
struct java_hit {
	bool late;			/* its signal was blocked */
	uint64_t skipped_ns;		/* it stands for the hits up to then, too; 0: none were skipped */
};
void java_user_half(struct java *j, struct thread *th, const struct rec_sample *s, struct java_hit hit,
		    const struct frame *frames, size_t nr_frames);
/*
 * called with each complete stack; writes the sample and counts what is missing in it. th ran for itself or
 * for a virtual thread, as the sample's thread says.
 */
typedef void (*java_emit_fn)(void *ctx, const struct thread *th, struct rec_sample *s,
			     const struct frame *frames, size_t nr_frames);

/*
 * Emits what is complete up to until_ns.  With all, also kernel halves that will get no user
 * half any more: they end in a MARK_NO_USER_STACK.
 */
void java_join(struct java *j, uint64_t until_ns, bool all, java_emit_fn emit, void *ctx);

/* Name a program counter that was not walked: FRAME_JIT when the code is known, else FRAME_ANON. */
void java_add_code(struct java *j, const struct jvm_code *c);
void java_code_gone(struct java *j, uint64_t addr);
void java_name_pc(struct java *j, uint64_t pc, struct frame *f);

#endif
