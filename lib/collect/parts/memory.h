/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - the source native-memory: samples of what programs allocate, and at the end of each which of
 * those blocks it had not freed (jvm/memory.h). The latter are samples of native-live: stack, time and size
 * are those of the allocation.
 */
#ifndef COLLECT_MEMORY_H
#define COLLECT_MEMORY_H

#include "base/hash.h"
#include "collect/parts/keptstacks.h"
#include "jvm/memory.h"
#include "jvm/server.h"
#include "trace/frame.h"

struct collect;
struct java;

/* A sampled block. */
struct memory_sample {
	uint32_t id, thread;
	uint32_t stack;			/* in memory_blocks.stacks */
	uint64_t time_ns, value;
};

/* The blocks of one process that may live; zero: none. */
struct memory_blocks {
	struct memory_sample *items;
	size_t nr, alloc, purge_at;
	struct map by_id;		/* index in items */
	struct keptstacks stacks;
};

void memory_release(struct memory_blocks *m);
/*
 * Keeps a sample, whose stack is set here, with these frames; now and then forgets those that the table does
 * not have any more. table: NULL, or that of the process.
 */
void memory_keep(struct memory_blocks *m, const struct memory_sample *s, const struct frame *frames,
		 size_t nr, const struct memory_table *table);
/* Calls live for each that the table has, once, in order of their numbers in it. */
void memory_live(const struct memory_blocks *m, const struct memory_table *table,
		 void (*live)(void *ctx, const struct memory_sample *s), void *ctx);

/* ---- during a recording ---- */

/*
 * Fails where native-memory is recorded and cannot be of the program or the processes, or lock and a process
 * is no JVM: there is nothing in it that tells of either.
 */
int memory_check_program(const struct collect *c, struct err *e);
/* Return how many frames of a sample are left without the innermost ones, which are our library's. */
size_t memory_without_ours(struct collect *c, const struct frame *frames, size_t nr);
void memory_program_sample(struct collect *c, struct java *j, const struct jvm_sample *s);
/* Write what was not freed at the end of a program, or of the recording. */
void memory_end_program(struct collect *c, struct java *j);
/* Return the frame of the called function, such as malloc. */
uint32_t memory_function(struct collect *c, uint32_t call);

#endif
