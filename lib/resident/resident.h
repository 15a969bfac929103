/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resident.h - where the resident memory of a process is.
 *
 * Each page belongs to one part, so the parts sum up to the process's Rss: that of all mappings in one
 * reading of /proc/PID/smaps. All is in bytes.
 */
#ifndef RESIDENT_RESIDENT_H
#define RESIDENT_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "resident/claims.h"
#include "resident/hotspot.h"

struct resident_sum {
	uint64_t rss, swap;
	uint64_t usable;		/* what may be used without asking the kernel: "committed" */
	uint64_t mapped;		/* that, and what is only reserved */
};

/* A mapping, or the piece of one that belongs to one part. */
struct resident_piece {
	uint64_t start, end;
	enum resident_part part;
	char *name;			/* file, thread, kind of memory; "" */
	char perms[5];
	struct resident_sum sum;
};

struct resident {
	int pid;
	char name[16];
	char jvm[256];			/* "": it is none, or has not said */
	bool is_jvm;
	size_t nr_threads;
	struct resident_sum parts[RESIDENT_NR_PARTS], total;
	struct resident_piece *pieces;
	size_t nr_pieces, alloc_pieces;
	struct hotspot_nmt nmt;
	char not_asked[256];		/* why the JVM was not, "" */
	struct buffers buffers;		/* of a JVM: in malloc */
	uint64_t malloc_unknown;	/* bytes of arenas in which what is free is not known */
	bool not_read;			/* its memory might not be: blocks of malloc() are not split */
};

/*
 * Read a process. A JVM that does not answer in that time is read as any other program, and r->not_asked says
 * so. *r must be released in any case.
 */
int resident_read(struct resident *r, int pid, uint64_t patience_ns, struct err *e);
void resident_release(struct resident *r);

/* Names of the parts in the order of the enum, for JSON and for people. */
extern const char *const resident_keys[RESIDENT_NR_PARTS], *const resident_names[RESIDENT_NR_PARTS];

void resident_add(struct resident_sum *to, const struct resident_sum *s);

/*
 * Return our part for a category of the JVM, or RESIDENT_NR_PARTS where there is none. *ours is what of
 * that part corresponds to the JVM's committed memory: stacks it counts as far as they are resident.
 */
enum resident_part resident_part_of(const char *category, const struct resident *r, uint64_t *ours);

#endif
