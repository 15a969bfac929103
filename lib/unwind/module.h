/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module.h - the decoded rules of one module, by file offset.
 *
 * Most functions share a few hundred different rows, so a row is kept once per module, and
 * an address needs only its number: four bytes. A small table by exact address comes first.
 */
#ifndef UNWIND_MODULE_H
#define UNWIND_MODULE_H

#include "arch/cpu.h"
#include "base/hash.h"
#include "base/mem.h"
#include "sym/symfile_int.h"
#include "unwind/rules.h"

enum row_flags {
	ROW_SIGNAL = 1 << 0,		/* a signal trampoline */
	ROW_SIGNED = 1 << 1,		/* arm64: the return address is signed */
	ROW_DEBUG_FRAME = 1 << 2,	/* expressions are in .debug_frame */
	ROW_SWITCHES = 1 << 3,		/* goes on on another stack: gorules.h */
	ROW_KEEPS_SP = 1 << 4,		/* and has the stack pointer from before in a register */
};

struct row_rule {
	struct rule rule;
	uint8_t reg;
};

struct row {
	struct rule cfa, ra;
	uint8_t flags;
	uint8_t nr_rules;
	struct row_rule rules[];	/* of the other registers that have rules */
};

/* A row with room for all rules. */
union any_row {
	struct row row;
	char room[sizeof(struct row) + UNWIND_NR_REGS * sizeof(struct row_rule)];
};

/* Make the row for s, which no section describes; returns its size in bytes. */
size_t row_init(union any_row *u, const struct rule_state *s, const struct cpu *cpu);

struct pc_slot {
	uint32_t off;		/* UINT32_MAX: free */
	uint32_t row;		/* 0: no rules there */
};

/* Functions of one section that were decoded. */
struct func_rules {
	const struct cfi *c;	/* NULL: no such section */
	bool tried;
	uint32_t *at;		/* an entry of c: place in code + 1, 0: not decoded yet */
};

struct unwind_module {
	struct symfile *f;
	const struct cpu *cpu;
	struct func_rules sections[2];	/* .eh_frame, .debug_frame */
	const struct gopcln *go;	/* NULL: no Go program, or not asked for yet */
	bool go_tried;
	uint32_t *go_at;		/* a function of it: place in code + 1, 0: not decoded yet */
	uint32_t *code;		/* functions: a head word, then pairs of address and row */
	size_t nr_code, alloc_code;
	const struct row **rows;	/* rows[0] is NULL */
	size_t nr_rows, alloc_rows;
	struct map row_ids;	/* hash of a row -> its number */
	struct arena text;	/* the rows */
	struct pc_slot *slots;
	size_t nr_slots, alloc_slots;
	struct map derived;	/* file offset -> row read from the code there, 0: none */
	struct map roots;	/* what unwind_is_root() was asked -> what it said */
	struct map depths;	/* the same -> bytes from the stack pointer to the CFA, 0: not known */
	struct map entries;	/* a function that is called -> whether it may lead into code of a runtime */
	uint64_t nr_damaged;	/* functions whose rules could not be read to their end */
};

/* Return the CPU whose code it is; of memory without a file (m is NULL): this machine's. */
const struct cpu *module_cpu(const struct unwind_module *m);
/* Return the rules at file offset off; NULL: none. Valid until the next call. */
const struct row *module_row(struct unwind_module *m, uint64_t off);
/*
 * Find where the function that off lies in begins, with its return address on top of the stack. Returns
 * false if no rules say so.
 */
bool module_function_start(struct unwind_module *m, uint64_t off, uint64_t *start);
/* Return the number of the row for s, which no section describes. */
uint32_t module_add_row(struct unwind_module *m, const struct rule_state *s);
/* Makes a module without a file, of this machine's CPU: it has the rows of module_decode() alone. */
void module_init_rows(struct unwind_module *m);
void module_release(struct unwind_module *m);
/* Decode what an FDE says, without expressions; returns its place for module_row_in(). */
uint32_t module_decode(struct unwind_module *m, const struct cfi *c, const struct cfi_fde *fde);
/* Return the rules at delta bytes from the start of the decoded function, or NULL. */
const struct row *module_row_in(const struct unwind_module *m, uint32_t place, uint64_t delta);
/* Read len bytes of the file's code at off; return false if they are not there. */
bool module_code(const struct unwind_module *m, uint64_t off, void *to, size_t len);
/* Return whether off is in the program's entry point, which has no caller. */
bool module_is_entry(const struct unwind_module *m, uint64_t off);

/* ---- rules of code that a runtime made in no module, as it describes them itself (unwind.h) ---- */

/* Return the rules at addr; NULL: none. Valid until the next unwind_described_add(). */
const struct row *described_row(const struct unwind_described *d, uint64_t addr);

#endif
