/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - every file that was seen mapped executable, once: its number in the trace,
 * its symbols and its unwind rules.  Two processes that map the same file share it.
 */
#ifndef COLLECT_MODULES_H
#define COLLECT_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "sym/cache.h"
#include "sym/symfile.h"
#include "trace/writer.h"
#include "unwind/unwind.h"

struct module {
	char *path;
	uint32_t flags;			/* enum module_flags */
	bool passes_on;			/* a caller in it is in the program's way, and in no stack */
	struct symfile *file;		/* NULL: cannot be read */
	struct unwind_module *unwind;	/* made at the first need */
};

struct modules {
	struct module *items;		/* [number - 1] */
	size_t nr_items, alloc_items;
	struct map by_key;		/* hash of identity and path */
	uint32_t kernel;		/* number of the kernel's own entry */
	struct cache *cache;		/* ours; NULL: nothing is kept */
};

/* How a mapping names its file; inode 0 when the kernel did not say. */
struct module_id {
	const char *path;
	uint64_t dev, inode, generation;
	/* whose mapping: its root and /proc/PID/map_files are used to open it */
	int pid;
	uint64_t start, end;
};

/* cache: whether what is worked out about files is kept for the next recording. */
void modules_init(struct modules *m, struct trace_writer *w, bool cache);
void modules_release(struct modules *m);
/* The module's number, written to the trace when new; 0 for memory without a file. */
uint32_t modules_get(struct modules *m, const struct module_id *id, struct trace_writer *w);
static inline struct module *modules_at(struct modules *m, uint32_t number)
{
	return &m->items[number - 1];
}
/* NULL: its file cannot be read. */
struct unwind_module *module_unwind(struct module *m);

#endif
