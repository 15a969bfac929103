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
/* Return the address of a symbol in the dynamic table (DT_GNU_HASH, else DT_HASH), or NULL. */
void *elf_symbol(uintptr_t base, const char *name);
/*
 * Find the symbols that are not found yet, in the object with this dynamic section, mapped so far from
 * its own addresses (struct link_map). Returns true if all are found now.
 */
bool elf_symbols_of(uintptr_t bias, const void *dynamic, const char *const *names, void **found, int nr);
/*
 * A function of ours that an object calls in place of one that it imports. Others may hook the slot, too,
 * before and after us: a slot is changed only from the value that we have seen, and restored only while it is
 * ours. "ours" must pass calls on to "was" for ever, since later hooks may call it.
 */
enum { ELF_HOOK_SLOTS = 4 };
struct elf_slot {
	void **at, *was;
};
struct elf_hook {
	void *ours;			/* the caller's; all else zero at first */
	void *was;			/* what the object called; NULL: not hooked yet */
	struct elf_slot slots[ELF_HOOK_SLOTS];
	uint32_t nr;
};
/*
 * Hook a function, also again after elf_unhook(). Returns false if the object at base does not import it,
 * or cannot be changed.
 */
bool elf_hook(uintptr_t base, const char *name, struct elf_hook *h);
void elf_unhook(struct elf_hook *h);
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
