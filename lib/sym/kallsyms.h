/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms.h - the kernel's own symbols, its modules included.
 */
#ifndef SYM_KALLSYMS_H
#define SYM_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ksym {
	uint64_t addr, size;	/* size reaches to the next symbol */
	const char *name;
	const char *module;	/* "" for the kernel image */
};

struct kallsyms;

struct cache;

/*
 * Asks the kernel by address where that is possible (ksym_bpf.h), else looks into the cache (or
 * NULL) for what an earlier recording read since the machine was booted, else reads the file.
 * -EPERM when kptr_restrict hides the addresses; the hint says how to get them.
 */
int kallsyms_open(struct kallsyms **k, struct cache *c, struct err *e);
/* Reads the file in any case. */
int kallsyms_read(struct kallsyms **k, struct err *e);
/* The same without asking the kernel by address: the cache, then the file. */
int kallsyms_read_cached(struct kallsyms **k, struct cache *c, struct err *e);
int kallsyms_parse(struct kallsyms **k, const char *text, size_t len, struct err *e);
void kallsyms_close(struct kallsyms *k);
/* NULL: no symbol covers addr. What is returned holds until the next call. */
const struct ksym *kallsyms_find(struct kallsyms *k, uint64_t addr);

#endif
