// SPDX-License-Identifier: MIT
/* objects.c - finds symbols in the loaded objects (objects.h). */
#include <link.h>

#include "agent/elf.h"
#include "agent/sys.h"
#include "preload/objects.h"

__attribute__((weak)) extern int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx);
/* glibc's and musl's */
#pragma weak _r_debug
__attribute__((weak)) extern struct r_debug *_dl_debug_addr;
__attribute__((visibility("hidden"))) extern const ElfW(Ehdr) __ehdr_start;

static uintptr_t base_of(const struct dl_phdr_info *o)
{
	int i;

	for (i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && !o->dlpi_phdr[i].p_offset)
			return o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
	return 0;
}

static bool is_us(uintptr_t base)
{
	return base == (uintptr_t)&__ehdr_start;
}

static int objects_look(struct dl_phdr_info *o, size_t size, void *ctx)
{
	uintptr_t base = base_of(o);
	struct search *s = ctx;
	void *p;

	if (is_us(base)) {
		s->passed_us = true;
		return 0;
	}
	if (!base || (s->after_us && !s->passed_us))
		return 0;
	p = elf_symbol(base, s->name);
	if (!p || (s->at && p != s->at))
		return 0;
	s->found = p;
	s->base = base;
	return 1;
}

bool objects_find(struct search *s)
{
	return dl_iterate_phdr && dl_iterate_phdr(objects_look, s) && s->found;
}

static const struct link_map *first_object(void)
{
	return &_r_debug ? _r_debug.r_map : &_dl_debug_addr && _dl_debug_addr ? _dl_debug_addr->r_map : NULL;
}

void objects_find_next(void **found, const char *const *names, int nr)
{
	const struct link_map *m = first_object();

	while (m && !is_us(m->l_addr))
		m = m->l_next;
	for (m = m ? m->l_next : NULL; m && !elf_symbols_of(m->l_addr, m->l_ld, names, found, nr);
	     m = m->l_next)
		;
}

void objects_find_first(void **found, const char *const *names, int nr)
{
	const struct link_map *m;

	for (m = first_object(); m; m = m->l_next)
		if (!is_us(m->l_addr) && m->l_ld && elf_symbols_of(m->l_addr, m->l_ld, names, found, nr))
			break;
}

static int call(struct dl_phdr_info *o, size_t size, void *ctx)
{
	void (*const *f)(uintptr_t) = ctx;
	uintptr_t base = base_of(o);

	if (base && !is_us(base))
		(*f)(base);
	return 0;
}

void objects_for_each(void (*f)(uintptr_t base))
{
	if (dl_iterate_phdr)
		dl_iterate_phdr(call, &f);
}

static int objects_count(struct dl_phdr_info *o, size_t size, void *ctx)
{
	*(uint64_t *)ctx = o->dlpi_adds;
	return 1;
}

uint64_t objects_loaded(void)
{
	uint64_t nr = 0;

	if (dl_iterate_phdr)
		dl_iterate_phdr(objects_count, &nr);
	return nr;
}
