/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmstructs.h - what the libjvm.so of a running process exports for debuggers (gHotSpotVMStructs), read from
 * the process's memory without its knowing. What is read may be anything: numbers and texts are bounded, and
 * addresses are only ever read from.
 */
#ifndef JVM_VMSTRUCTS_H
#define JVM_VMSTRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vmstructs {
	int pid;
	uint64_t libjvm;			/* where its file begins */
	uint64_t symbols, strings, hash;	/* of its dynamic section */
};

/* Read memory; return false if nothing is there, or it may not be read; then *to is zeroed. */
bool vmstructs_get(const struct vmstructs *v, uint64_t addr, void *to, size_t bytes);
uint64_t vmstructs_word(const struct vmstructs *v, uint64_t addr);	/* 0 where nothing can be read */
uint32_t vmstructs_half(const struct vmstructs *v, uint64_t addr);

/*
 * Read the tables of the libjvm that is mapped at that address. Returns false if it is none, or
 * unreadable.
 */
bool vmstructs_at(struct vmstructs *v, int pid, uint64_t libjvm);
/* Read the tables of the process's libjvm.so, wherever it is. */
int vmstructs_open(struct vmstructs *v, int pid, struct err *e);

/* Return the address of what libjvm exports by that name, or 0. */
uint64_t vmstructs_symbol(const struct vmstructs *v, const char *name);

/* Return whether libjvm calls that function by its table of imports. */
bool vmstructs_imports(const struct vmstructs *v, const char *name);

enum vmstructs_table { VMSTRUCTS_FIELDS, VMSTRUCTS_TYPES, VMSTRUCTS_INTS, VMSTRUCTS_LONGS };
enum { VMSTRUCTS_NAME = 128 };

struct vmstructs_entry {
	enum vmstructs_table table;
	char type[VMSTRUCTS_NAME];		/* of a constant, its name */
	char field[VMSTRUCTS_NAME];		/* of a type or a constant "" */
	bool is_static;
	uint64_t value;				/* offset, address of a static field, bytes, number */
};

/* Calls take() with each entry of a table. False: there is no such table of the known form. */
bool vmstructs_each(const struct vmstructs *v, enum vmstructs_table table,
		    void (*take)(void *ctx, const struct vmstructs_entry *e), void *ctx);

#endif
