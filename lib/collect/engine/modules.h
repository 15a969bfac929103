/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - every file that is mapped executable, once: its number in the trace, its symbols and its
 * unwind rules.  Two processes that map the same file share it.  cleanup.c says when one is dropped.
 */
#ifndef COLLECT_MODULES_H
#define COLLECT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "sym/cache.h"
#include "sym/symfile.h"
#include "trace/writer.h"
#include "unwind/unwind.h"

struct module {
	uint32_t number;
	uint64_t key;			/* in by_key */
	uint64_t used_ns;		/* when a process was last known to have it mapped */
	uint64_t walked;		/* the trim before which it was last needed */
	char *path;
	uint32_t flags;			/* enum module_flags */
	bool passes_on;			/* a caller in it is in the program's way, and in no stack */
	struct symfile *file;		/* NULL: cannot be read */
	struct unwind_module *unwind;	/* made at the first need */
};

struct modules {
	struct module *items;
	size_t nr_items, alloc_items;
	struct map by_number;		/* -> index */
	uint32_t nr_numbers;		/* given so far */
	uint32_t nr_new;		/* of them, since modules_forget() */
	uint64_t nr_trims;
	struct map by_key;		/* hash of identity and path -> number */
	uint32_t kernel;		/* number of the kernel's own entry */
	struct cache *cache;		/* ours; NULL: nothing is kept */
	bool fetch;			/* names may come from a server (sym/places.h): sampling is over */
};

/* The file of a mapping; inode 0 when the kernel did not say. */
struct module_id {
	const char *path;
	uint64_t dev, inode, generation;
	/* whose mapping: its root and /proc/PID/map_files are used to open it */
	int pid;
	uint64_t start, end;
	/* a journal has it, begun then: a file that has changed since is another one. 0: it is mapped now */
	uint64_t replayed_ns;
	bool other_kernel;	/* and ran on one that is not ours */
};

/* Its file, to be closed; NULL: it cannot be read. For who has no trace. */
struct symfile *modules_open_file(const struct module_id *id);
struct stat;
/* A descriptor to read the mapped file with, and what fstat(2) says of it; -1: it cannot be read. */
int modules_open_mapped(const struct module_id *id, struct stat *st);
/* Return whether the mapping is of a program, not of plain memory. */
bool modules_has_file(const struct module_id *id);

/* cache: whether what is worked out about files is kept for the next recording. */
void modules_init(struct modules *m, struct trace_writer *w, bool cache);
void modules_release(struct modules *m);
/* Return the module's number, written to the trace when new; 0 for memory without a file. */
uint32_t modules_get(struct modules *m, const struct module_id *id, struct trace_writer *w);
/* NULL: it was forgotten, and no process has it mapped. Valid until the next modules_get(). */
static inline struct module *modules_at(const struct modules *m, uint32_t number)
{
	uint32_t at = map_get(&m->by_number, number);

	return at == MAP_NONE ? NULL : &m->items[at];
}
/* NULL: its file cannot be read. Valid until modules_forget() and modules_trim(). */
struct unwind_module *modules_unwind(struct modules *m, uint32_t number);

/* Return the file for its symbols and lines, or NULL if it cannot be read. Valid as long. */
struct symfile *modules_file(struct modules *m, uint32_t number);

/* A process has it mapped. */
void modules_use(struct modules *m, uint32_t number, uint64_t now_ns);
/*
 * Closes the files that no process has had mapped since before_ns, and forgets them: who maps one again gets
 * another number. Their addresses have names in the trace (trace_writer_forget_modules()).
 */
void modules_forget(struct modules *m, uint64_t before_ns, struct trace_writer *w);
/*
 * Where tables of symbols and rules take more than max_bytes, drops those that were not needed for the
 * longest time. They are made anew when they are.
 */
void modules_trim(struct modules *m, size_t max_bytes);

#endif
