// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/span.h"
#include "jvm/launcher.h"

static bool find_in_path(const char *program, char path[PATH_MAX])
{
	const char *p = getenv("PATH");

	while (p && *p) {
		size_t len = strcspn(p, ":");

		snprintf(path, PATH_MAX, "%.*s/%s", (int)len, p, program);
		if (len && io_is_program(path))
			return true;
		p += len + !!p[len];
	}
	return false;
}

bool launcher_find(const char *program, char path[PATH_MAX])
{
	if (!strchr(program, '/'))
		return find_in_path(program, path);
	return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
}

static bool names_jvm(const void *data, size_t len)
{
	static const char jli[] = "libjli.so", jvm[] = "libjvm.so";

	if (!data || len < SELFMAG || memcmp(data, ELFMAG, SELFMAG))
		return true;
	return memmem(data, len, jli, sizeof(jli) - 1) || memmem(data, len, jvm, sizeof(jvm) - 1);
}

/* False: there is none, or it cannot be read. */
static bool map_program(const char *program, struct io_map *m)
{
	char path[PATH_MAX];
	struct err e;

	return launcher_find(program, path) && !io_map(path, m, &e);
}

bool launcher_names_jvm(const char *program)
{
	struct io_map m;
	bool names;

	if (!map_program(program, &m))
		return false;
	names = names_jvm(m.data, m.len);
	io_unmap(&m);
	return names;
}

static bool has_interpreter(struct span s)
{
	const Elf64_Ehdr *eh = span_bytes(&s, sizeof(*eh));
	const Elf64_Phdr *ph;
	size_t i;

	if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_phentsize != sizeof(*ph) || eh->e_phoff < sizeof(*eh))
		return true;	/* a script, or what is not ours to judge */
	span_bytes(&s, eh->e_phoff - sizeof(*eh));
	for (i = 0; i < eh->e_phnum && (ph = span_bytes(&s, sizeof(*ph))); i++)
		if (ph->p_type == PT_INTERP)
			return true;
	return s.bad;
}

bool launcher_is_static(const char *program)
{
	struct io_map m;
	bool is_static;

	if (!map_program(program, &m))
		return false;
	is_static = !has_interpreter(span_init(m.data, m.len));
	io_unmap(&m);
	return is_static;
}
