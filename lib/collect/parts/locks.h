/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.h - the source "lock": what agents say of waits, added up lock by lock, and what a stack of a wait
 * stands for.
 *
 * All waits are reported, so the table of locks is exact. Stacks are taken of waits as long as the interval
 * or longer, and of shorter ones in proportion to their length; what a stack stands for is sent with the wait
 * (agent/locks/share.h). What no stack stands for is charged at the end to the lock's class, with no context
 * but its thread: so the source adds up to exactly what was waited.
 *
 * Who has a lock is charged with the same time ("blame"), piece by piece while others wait: where an agent
 * looks at who has it, at random moments, or, of native code, where it is given back. What a wait took after
 * the last piece, all of it if nobody looked, is collected lock by lock as well, and goes to who has that
 * lock at the next look; at the end, what is left goes to nobody. So both add up to the same.
 */
#ifndef COLLECT_LOCKS_H
#define COLLECT_LOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "collect/jvm/java.h"
#include "jvm/proto.h"
#include "jvm/record.h"
#include "trace/record.h"

struct collect;
struct proc;

/*
 * nativelocks.c: what locks of native code are called: the variable in which one lies, where the program's or
 * library's symbols have it, else its type.
 */
struct nativelocks {
	struct map functions;		/* process and address -> function of the trace */
	uint32_t types[JVM_NR_WAIT_KINDS];	/* the same of those without a name; 0: none yet */
};

void nativelocks_release(struct nativelocks *n);
/* Reset at the end of one of several files. */
void nativelocks_forget(struct nativelocks *n);
/* Return the function of the trace that has its name. */
uint32_t nativelocks_function(struct collect *c, struct proc *p, uint64_t addr, enum jvm_wait_kind kind);

/*
 * notified.c: which threads ended waits of which others by notify(), lock by lock; zeroed to begin with.
 */
struct notified {
	struct map by_key;		/* lock and threads -> index */
	struct notified_row {
		uint32_t proc, function, identity;	/* the lock */
		uint32_t notifier, waiter;		/* threads */
		uint64_t n, ns;				/* waits */
	} *rows;
	size_t nr, alloc;
};

void notified_add(struct notified *n, const struct notified_row *wait);
/* Write the rows of a file that ends, and start again. */
void notified_write(struct notified *n, struct collect *c);
void notified_release(struct notified *n);

enum { LOCKS_NR_REASONS = JVM_NR_BLAMED + 3 };	/* of charging nobody, or no context */

struct locks {
	struct map by_key;		/* what a wait names -> index */
	struct map waiters;		/* (index, thread) that are known */
	struct map latest_by_tid;	/* tid -> index in latest */
	struct latest {			/* of a thread: what its next stack is of */
		uint32_t lock;		/* index in all; MAP_NONE: none that is wanted */
		uint64_t weight_ns;	/* what it stands for, */
		uint32_t waits;		/* that of so many others; 0: its own */
	} *latest;
	size_t nr_latest, alloc_latest;
	struct map nobody;		/* process -> the thread that is charged when none is */
	struct nativelocks natives;
	struct notified notified;
	uint32_t reasons[LOCKS_NR_REASONS];	/* functions of the trace; 0: none yet */
	struct lock_sum *all;
	size_t nr_all, alloc_all;
};

/*
 * Add the stack of a thread that released a lock for which others waited, as its latest struct
 * jvm_native_wait says.
 */
void locks_gave_back(struct collect *c, const struct jvm_sample *s, struct rec_sample *r);
/* Return the object of the thread's latest sampled wait: a function of the trace, 0 if not known. */
uint32_t locks_function(struct collect *c, uint32_t tid);
/*
 * Get the weight of the stack of the thread's latest wait. Returns false if it belongs to no known wait
 * and must not be written.
 */
bool locks_weigh(struct collect *c, const struct jvm_sample *s, uint64_t *weight_ns, double *waits);
/* Add an open wait for a lock of native code, with its one segment of stack, which may be empty. */
void locks_native_open(struct collect *c, struct java *j, const struct jvm_native_wait *r,
		       const struct jvm_sample *stack);

/*
 * openwaits.c: write waits for locks of native code that are open when the recording or the process ends
 * (jvm/waiting.h), for a program with the library in it. They last until then, or until their thread ended.
 * The threads themselves do not report them any more.
 */
void openwaits_tell(struct collect *c, struct java *program, uint64_t now_ns);

#endif
