/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms_cache.h - the functions of the kernel image, without its modules, as read once since the
 * machine was booted.
 *
 * Where the image lies changes with each boot, and nothing of it before the next.  What modules and BPF
 * programs there are changes at any time, so they are never kept.
 */
#ifndef SYM_KALLSYMS_CACHE_H
#define SYM_KALLSYMS_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "sym/cache.h"
#include "sym/kallsyms.h"

/*
 * Text up to the end of its first line says where the image is, and that addresses are shown: it is
 * part of the key.
 */
bool kallsyms_key(struct cache_key *k, const char *first_line, size_t len);
/* syms are sorted. Nothing is kept when a module lies between functions of the image. */
void kallsyms_put(struct cache *c, const struct cache_key *k, const struct ksym *syms, size_t nr);
/* Return false if e is not such an entry. */
bool kallsyms_is_sound(const struct cache_entry *e);
/* 1: *s is the function at addr; 0: there is none; -1: addr is not in the image. */
int kallsyms_cached(const struct cache_entry *e, uint64_t addr, struct ksym *s);

#endif
