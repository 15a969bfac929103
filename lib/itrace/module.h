/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module.h - the engine that lets the kernel module trace; shared by its files.
 *
 *	module.c	a session: who is traced, from its start to its end
 *	blocks.c	a ring's records become runs of branches
 */
#ifndef ITRACE_MODULE_H
#define ITRACE_MODULE_H

#include "arcprof_uapi.h"
#include "base/hash.h"
#include "itrace/engine.h"

enum {
	NR_RINGS = 512, NR_RECORDS = 2048,	/* 27 MB; a thread more than rings is not traced */
	NR_RECENT = 1024,
};

/* A ring, and the thread that has it. */
struct track {
	const volatile struct arcprof_ring *ring;
	const struct arcprof_branch *records;
	uint64_t gen;		/* of the ring: another for each thread */
	bool open;		/* the thread was reported, and has not ended */
	bool busy;		/* its records are being read */
	bool execs;		/* the next START is behind an exec */
	bool exited, cut;
	int pid, tid;
	uint64_t tail;		/* records read */
	uint64_t time_ns;	/* of the latest record with a time */
	uint64_t at;		/* the block began there */
	/* The run of branches being gathered. */
	struct buf run;
	uint64_t run_start, run_ns, run_nr;
};

/* The bytes of a block as last reported. */
struct told_code {
	uint32_t hash;
	uint32_t epoch;		/* looked at when the process was in that state */
};

struct itrace {
	const struct itrace_opts *o;
	int device, epoll, pidfd;
	int program;		/* pid of what was started; 0: none, or it has ended */
	int at_exec;		/* the same until its exec was seen */
	char *area;
	size_t area_len;
	struct track track[NR_RINGS];
	struct map tids;	/* that were reported */
	struct map epochs;	/* pid -> changes with what its addresses mean; none: never reported */
	uint32_t epoch;		/* the latest */
	struct map code_at;	/* process, address and length of a block -> index in code */
	struct told_code *code;
	size_t nr_code, alloc_code;
	struct {		/* blocks that were looked at lately, by a hash of where they begin */
		uint64_t start, end;
		int pid;
	} recent[NR_RECENT];
	bool stopping, stopped;
	bool cut;		/* at the limit: nothing more is reported */
	struct itrace_totals totals;
	const struct itrace_sink *sink;		/* of the read that is under way */
	void *ctx;
};

/* Note that what is known of the code of a process does not hold any more. */
void process_changed(struct itrace *it, int pid);
/* Reads what is in the thread's ring, and gives its place back. */
void blocks_read(struct itrace *it, struct track *t);

#endif
