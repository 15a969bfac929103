/* SPDX-License-Identifier: MIT */
/*
 * elf.h - finds exported symbols of an object that the dynamic linker has loaded, by its
 * own tables: dlsym would need libc.
 */
#ifndef AGENT_ELF_H
#define AGENT_ELF_H

#include <stdbool.h>
#include <stdint.h>

/* Start of the loaded file that contains addr, from /proc/self/maps; 0 when unknown. */
uintptr_t elf_base_of(uintptr_t addr);
/* Start of the loaded file of that name, whatever its folder; 0: there is none. */
uintptr_t elf_base_named(const char *name);
/* Address of a symbol in the dynamic table (DT_GNU_HASH, else DT_HASH); NULL when it is not there. */
void *elf_symbol(uintptr_t base, const char *name);
/*
 * Those that are not found yet, in the object with this dynamic section, mapped so far from its own
 * addresses (struct link_map). True: now all are.
 */
bool elf_symbols_of(uintptr_t bias, const void *dynamic, const char *const *names, void **found, int nr);
/*
 * Makes the object at base call "to" where it calls the imported function; *was gets what it
 * called. False: it does not import it.
 */
bool elf_replace_import(uintptr_t base, const char *name, void *to, void **was);
/*
 * Of each function that is named, has the object at base call "to" where it calls "from" now, or would find
 * it at its first call; other functions of that name stay.
 */
struct elf_swap {
	const char *name;
	void *from, *to;
};
void elf_swap_imports(uintptr_t base, const struct elf_swap *swaps, int nr);
/* Bounds of the executable segments of the object at base. */
bool elf_text(uintptr_t base, uintptr_t *lo, uintptr_t *hi);

#endif
