/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine.h - who steps: a source of branches of the threads that it is to trace, with what the
 * addresses in them meant at that time.  The caller polls the engine's descriptor and reads;
 * everything comes in the order in which it happened to each process.
 */
#ifndef ITRACE_ENGINE_H
#define ITRACE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/branch.h"

enum itrace_stop {
	ITRACE_ALL_GONE,	/* the program, or what was attached to, has ended */
	ITRACE_ASKED,		/* itrace_engine.stop() */
	ITRACE_LIMIT,		/* as many instructions as were asked for */
	ITRACE_LAST_BRACKET,	/* the program says that none will follow */
};

struct itrace_opts {
	char *const *argv;	/* the program to run, or NULL */
	const int *pids;	/* running processes with all their threads, or */
	uint32_t nr_pids;
	const int *tids;	/* these threads alone */
	uint32_t nr_tids;
	bool forks;		/* child processes too */
	bool bracket;		/* only between arcprof_itrace_on() and arcprof_itrace_off() */
	bool single_steps;	/* no other way, though the machine has one */
	uint64_t limit;		/* instructions in all; 0: no limit */
};

struct itrace_totals {
	uint64_t nr_insns, nr_branches, nr_threads;
	uint64_t nr_foreign;	/* threads left alone because they run 32-bit code */
	uint64_t nr_refused;	/* and because too many were traced already */
	uint64_t nr_stops;	/* of threads that were traced: what it cost; 0: nothing stops */
	/* where the kernel put a thread elsewhere: what it executed then is not known */
	uint64_t nr_gaps;
	bool breakpoints;	/* the machine has some that help */
	enum itrace_stop why;
	int status;		/* of the program, as a shell gives it, or -1: it has not ended */
};

struct itrace_sink {
	/* A thread appears; when ppid is another process it is a new process. 0: found running. */
	void (*thread)(void *ctx, uint64_t time_ns, int pid, int tid, int ppid);
	void (*exec)(void *ctx, uint64_t time_ns, int pid, int old_tid, const char *comm);
	/* Text of /proc/PID/maps, after what is executable there may have changed. */
	void (*maps)(void *ctx, uint64_t time_ns, int pid, char *text);
	void (*gone)(void *ctx, uint64_t time_ns, int pid, int tid);
	void (*code)(void *ctx, int tid, const struct rec_branch_code *r);	/* r->proc is not set */
	void (*branches)(void *ctx, int tid, const struct rec_branches *r);	/* r->thread is not set */
	/* Stepping is over; the program may run on. */
	void (*stopped)(void *ctx, const struct itrace_totals *t);
};

struct itrace;

struct itrace_engine {
	const char *name;
	/* 0, or why it cannot trace these here. */
	int (*usable)(const struct itrace_opts *o, struct err *e);
	/* Starts the program, held before its first instruction, or attaches. */
	int (*start)(struct itrace **it, const struct itrace_opts *o, struct err *e);
	int (*fd)(const struct itrace *it);
	/* After fd became readable: 1 go on, 0 all has ended, -errno. */
	int (*read)(struct itrace *it, const struct itrace_sink *sink, void *ctx, struct err *e);
	void (*stop)(struct itrace *it);	/* soon: branches may still come */
	void (*signal)(struct itrace *it, int sig);	/* to the program that was started */
	const struct itrace_totals *(*totals)(const struct itrace *it);
	void (*close)(struct itrace *it);
};

extern const struct itrace_engine itrace_ptrace;
extern const struct itrace_engine itrace_module;	/* by the kernel module: module.h */

#endif
