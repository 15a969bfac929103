/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms.h - the kernel's own symbols, its modules included.
 */
#ifndef SYM_KALLSYMS_H
#define SYM_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sym/cache.h"

struct ksym {
	uint64_t addr, size;	/* size reaches to the next symbol */
	const char *name;
	const char *module;	/* "" for the kernel image */
};

struct kallsyms;

struct cache;

/*
 * Asks the kernel by address where that is possible, else looks into the cache (or
 * NULL) for what an earlier recording read since the machine was booted, else reads the file.
 * -EPERM when kptr_restrict hides the addresses; the hint says how to get them.
 */
int kallsyms_open(struct kallsyms **k, struct cache *c, struct err *e);
/* Reads the file in any case. */
int kallsyms_read(struct kallsyms **k, struct err *e);
/* Do the same without asking the kernel by address: from the cache, then the file. */
int kallsyms_read_cached(struct kallsyms **k, struct cache *c, struct err *e);
int kallsyms_parse(struct kallsyms **k, const char *text, size_t len, struct err *e);
void kallsyms_close(struct kallsyms *k);
/* Return the symbol that covers addr, valid until the next call; NULL: there is none. */
const struct ksym *kallsyms_find(struct kallsyms *k, uint64_t addr);

/*
 * The functions of the kernel image, without its modules, as read once since the
 * machine was booted.
 *
 * Where the image lies changes with each boot, and nothing of it before the next.  What modules and BPF
 * programs there are changes at any time, so they are never kept.
 */

/*
 * Text up to the end of its first line says where the image is, and that addresses are shown: it is
 * part of the key.
 */
bool kallsyms_key(struct cache_key *k, const char *first_line, size_t len);
/* Keep syms, which are sorted. Nothing is kept when a module lies between functions of the image. */
void kallsyms_put(struct cache *c, const struct cache_key *k, const struct ksym *syms, size_t nr);
/* Return false if e is not such an entry. */
bool kallsyms_is_sound(const struct cache_entry *e);
/* Look up addr. Return 1: *s is the function; 0: there is none; -1: addr is not in the image. */
int kallsyms_cached(const struct cache_entry *e, uint64_t addr, struct ksym *s);

/*
 * A BPF program that has the kernel name single addresses, by formatting them as %pS, and find functions by
 * name. The kernel needs a microsecond for an address, but 40 ms to print /proc/kallsyms, and only a few
 * hundred functions are hit. As in the file, modules are found while they are loaded.
 */
struct ksym;
struct ksym_bpf;

/* Load the program. Returns NULL without the right to load BPF programs, or on a kernel before 5.14. */
struct ksym_bpf *ksym_bpf_open(void);
void ksym_bpf_close(struct ksym_bpf *b);
/*
 * Find the symbol that covers addr; return false for none. The strings in *s are valid until the next
 * call.
 */
bool ksym_bpf_find(struct ksym_bpf *b, uint64_t addr, struct ksym *s);
/*
 * Find the first function of that name; strings as above. -ENOENT: there is none; other errors: the kernel
 * does not tell. A kernel before 6.2 has no index of names, and takes milliseconds.
 */
int ksym_bpf_named(struct ksym_bpf *b, const char *name, struct ksym *s);
/* Split "name+0x1/0x20 [module]", as the kernel prints addr, in place; return false for other text. */
bool ksym_bpf_parse(char *text, uint64_t addr, struct ksym *s);

#endif
