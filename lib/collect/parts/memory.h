/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - the source native-memory: samples of what programs allocate, and of the blocks that were not
 * freed when a program ended (jvm/memory.h). The latter are samples of native-live, with stack, time and size
 * of the allocation.
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
 * Keep a sample, whose stack is set here, with these frames; now and then forget those that are no longer in
 * the table. table: that of the process, or NULL.
 */
void memory_keep(struct memory_blocks *m, const struct memory_sample *s, const struct frame *frames,
		 size_t nr, const struct memory_table *table);
/* Call live once for each block in the table, in order of their numbers there. */
void memory_live(const struct memory_blocks *m, const struct memory_table *table,
		 void (*live)(void *ctx, const struct memory_sample *s), void *ctx);

/* ---- during a recording ---- */

/*
 * Fail if native-memory is recorded and the program or a process cannot report it, or lock is recorded and a
 * process is not a JVM, so that nothing in it reports waits.
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
