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

/* Open the file, for the caller to close; NULL: it cannot be read. For users without a trace. */
struct symfile *modules_open_file(const struct module_id *id);
struct stat;
/* Return a descriptor for reading the mapped file, and its fstat(2) data; -1: it cannot be read. */
int modules_open_mapped(const struct module_id *id, struct stat *st);
/* Return whether the mapping is of a program, not of plain memory. */
bool modules_has_file(const struct module_id *id);

/* Prepare; cache: keep what is computed about files for the next recording. */
void modules_init(struct modules *m, struct trace_writer *w, bool cache);
void modules_release(struct modules *m);
/* Return the module's number, written to the trace when new; 0 for memory without a file. */
uint32_t modules_get(struct modules *m, const struct module_id *id, struct trace_writer *w);
/* Return a module, valid until the next modules_get(); NULL: it was dropped, and no process has it mapped. */
static inline struct module *modules_at(const struct modules *m, uint32_t number)
{
	uint32_t at = map_get(&m->by_number, number);

	return at == MAP_NONE ? NULL : &m->items[at];
}
/* Return the unwind rules, valid until modules_forget() and modules_trim(); NULL: the file cannot be read. */
struct unwind_module *modules_unwind(struct modules *m, uint32_t number);

/* Return the file for its symbols and lines, or NULL if it cannot be read. Valid as long. */
struct symfile *modules_file(struct modules *m, uint32_t number);

/* Note that a process has it mapped. */
void modules_use(struct modules *m, uint32_t number, uint64_t now_ns);
/*
 * Closes the files that no process has had mapped since before_ns, and forgets them: who maps one again gets
 * another number. Their addresses have names in the trace (trace_writer_forget_modules()).
 */
void modules_forget(struct modules *m, uint64_t before_ns, struct trace_writer *w);
/*
 * Drop the tables of symbols and rules that were not used for the longest time, if all take more than
 * max_bytes. They are read again when needed.
 */
void modules_trim(struct modules *m, size_t max_bytes);

#endif
