/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native.h - what can be found out about the memory of any process: stacks, and what the C library allocates.
 */
#ifndef RESIDENT_NATIVE_H
#define RESIDENT_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resident/claims.h"
#include "resident/smaps.h"

struct native_process {
	int pid;
	int pagemap;			/* /proc/PID/pagemap; -1: it could not be opened */
};

/* free memory of malloc(), in arenas that could be read */
struct native_free {
	uint64_t bytes, resident;
	uint64_t unknown;		/* bytes of other arenas */
	uint64_t nr_steps;		/* chunks that were looked at: not without end, whatever is there */
};

/* Claim the stacks of all threads but the first, by their names; return how many threads there are. */
size_t native_stacks(int pid, const struct smaps *s, struct claims *c);
/*
 * Blocks and arenas of glibc's malloc() that are not in [heap], and what is free in all arenas; false: its
 * memory may not be read.
 */
bool native_malloc(const struct native_process *p, const struct smaps *s, struct claims *c,
		   struct native_free *f);
/* Claim zeroed data of libraries, which follows what is in their files. */
void native_zeroed_data(const struct smaps *s, struct claims *c);

/* Return whether it is mapped, private, without a file, and usable. */
bool native_is_anonymous(const struct smap *m);

/* ---- what glibc's malloc() keeps of its memory without its being in use ---- */

/*
 * Adds what is free in [start, end), which begins with chunks, or with what the C library has of the arena
 * and then chunks. The process goes on meanwhile: false if no chain of chunks led from the start to the end,
 * and nothing was added.
 */
bool chunks_free(const struct native_process *p, uint64_t start, uint64_t end, struct native_free *f);

#endif
