/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * natives.h - a picture of the threads of a process, seen from outside: no thread is stopped, no signal is
 * sent, and no system call interrupted.  Each thread is seen at a moment of its own.
 *
 * A thread that waits tells the kernel's system call, stack pointer and program counter; its stack is read
 * from its memory, and counts if it has not run meanwhile.  A thread that runs has no stack here.
 */
#ifndef THREADS_NATIVES_H
#define THREADS_NATIVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "jvm/threads.h"

struct native_frame {
	const char *function;	/* NULL: not known */
	const char *module;	/* the file's name without its folder; NULL: none */
	const char *file;	/* of the source; NULL: not known */
	uint32_t line;
	uint64_t addr;
};

enum native_end {		/* how its stack ends */
	NATIVE_COMPLETE,
	NATIVE_RUNS,		/* there is none: it was never found waiting */
	NATIVE_DENIED,		/* nor here: this user may not look at it */
	NATIVE_CUT,		/* the rest is not known */
	NATIVE_NO_CODE,		/* nor here: it belongs to the kernel, or has ended */
};

struct native_thread {
	int tid;
	const char *name;	/* the kernel's */
	char state;		/* as /proc/PID/stat has it: R, S, D, T ... */
	uint64_t cpu_ns;
	const char *reason;	/* "[read: pipe]"; NULL: it does not wait, or that is not known */
	const char *file;	/* that it waits for: a path; NULL: not known, or it has none */
	enum native_end end;
	size_t first_frame, nr_frames;	/* innermost first */
};

struct natives {
	struct native_thread *threads;	/* in the order of their numbers */
	size_t nr_threads, alloc_threads;
	struct native_frame *frames;
	size_t nr_frames, alloc_frames;
	struct arena text;
	const char *command;		/* the process's name */
	size_t nr_ended;		/* while they were looked at */
};

#define NATIVES_INIT { .text = ARENA_INIT }
void natives_release(struct natives *n);

/*
 * List all threads of pid except those whose numbers are keys of known (NULL: none). -ESRCH: there is no such
 * process.
 */
int natives_look(int pid, const struct map *known, struct natives *n, struct err *e);
/* Return "running", "waiting", "stopped" ... */
const char *natives_state(char state);

/* ---- all threads of a process at one moment: those of Java, as the agent shows them, and others ---- */

struct picture {
	int pid;
	bool jvm;			/* java is of it */
	struct threads java;
	struct natives natives;		/* without those of Java */
};

/* Take a picture of the process; it must be released in any case. */
int picture_take(struct picture *p, int pid, struct err *e);
void picture_release(struct picture *p);

#endif
