/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - a picture of a JVM's threads, as its agent wrote it: states, stacks, locks, and which threads
 * are deadlocked.
 *
 * All in it is what the JVM says. It is put together record by record (jvm/record.h: dump_begin to
 * dump_end), by who asks a running JVM, or by a recording whose agent noticed threads that are stuck.
 */
#ifndef JVM_THREADS_H
#define JVM_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "jvm/proto.h"
#include "jvm/record.h"

struct threads_frame {
	const char *class_name, *method;	/* java.lang.Object, wait */
	const char *file;			/* "": not known */
	uint32_t line;				/* 0: not known; JVM_DUMP_NATIVE: a native method */
};

struct threads_lock {
	uint32_t role;		/* enum jvm_dump_role */
	uint32_t depth;		/* of one held: in which frame of the thread it was locked, 0 innermost */
	uint32_t hash;
	uint64_t owner;		/* Java's id; 0: nobody, or not known */
	const char *class_name;
};

struct threads_thread {
	uint64_t id;		/* Java's */
	int tid;		/* the kernel's, as we see it; 0: a virtual thread's, or not known */
	uint32_t state, flags;	/* JVMTI's bits; enum jvm_dump_thread_flags */
	uint32_t priority;
	uint64_t carrier, cpu_ns;	/* 0: none; not known */
	const char *name, *group;	/* group: "" of a thread that ends */
	size_t first_frame, nr_frames, first_lock, nr_locks;
	uint32_t rounds;	/* further looks at which it wanted the same from the same thread */
	uint32_t deadlock;	/* of which cycle it is, counted from 1; 0: of none */
	bool is_owner;		/* of what another thread wants */
	/* what it wants leads there, but it is not in the cycle: nor will it ever get it */
	bool behind_deadlock;
};

struct threads {
	struct threads_thread *threads;
	size_t nr_threads, alloc_threads;
	struct threads_frame *frames;
	size_t nr_frames, alloc_frames;
	struct threads_lock *locks;
	size_t nr_locks, alloc_locks;
	struct map by_id;		/* index by Java's id, cut to what a key holds */
	struct arena text;
	uint32_t flags;			/* enum jvm_dump_flags */
	uint32_t nr_lost;		/* ended meanwhile */
	uint32_t nr_hidden;		/* virtual threads that this JDK does not let anybody look at */
	uint32_t nr_deadlocks;
	const char *why;		/* it is not complete; NULL: it is */
	bool open, complete;		/* dump_begin and dump_end were there */
};

#define THREADS_INIT { .by_id = MAP_INIT, .text = ARENA_INIT }
void threads_release(struct threads *t);

/*
 * Takes in a record; others than those of a picture are ignored. True: it was the last, and deadlocks have
 * been looked for. A dump_begin starts anew.
 */
bool threads_add(struct threads *t, enum jvm_rec_type type, const union jvm_record *r);

/* Return what it waits for, NULL for nothing. */
const struct threads_lock *threads_wanted(const struct threads *t, const struct threads_thread *x);
/* Return a thread of the picture, or NULL. */
const struct threads_thread *threads_find(const struct threads *t, uint64_t id);
/*
 * Return the next thread of the same cycle, which has what this one wants; the first is that of the
 * lowest index.
 */
const struct threads_thread *threads_cycle_first(const struct threads *t, uint32_t deadlock);
const struct threads_thread *threads_cycle_next(const struct threads *t, const struct threads_thread *x);

/*
 * Take the picture of a running JVM that target_check() allows, of any of our users, whether it is being
 * recorded or not. The agent is loaded into it, and stays there, idle.
 */
int threads_look(int pid, struct threads *t, struct err *e);

#endif
