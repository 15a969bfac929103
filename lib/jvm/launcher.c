// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "jvm/launcher.h"

static bool find_in_path(const char *program, char path[PATH_MAX])
{
	const char *p = getenv("PATH");

	while (p && *p) {
		size_t len = strcspn(p, ":");

		snprintf(path, PATH_MAX, "%.*s/%s", (int)len, p, program);
		if (len && !access(path, X_OK))
			return true;
		p += len + !!p[len];
	}
	return false;
}

static bool names_jvm(const void *data, size_t len)
{
	static const char jli[] = "libjli.so", jvm[] = "libjvm.so";

	if (!data || len < SELFMAG || memcmp(data, ELFMAG, SELFMAG))
		return true;
	return memmem(data, len, jli, sizeof(jli) - 1) || memmem(data, len, jvm, sizeof(jvm) - 1);
}

bool launcher_names_jvm(const char *program)
{
	char path[PATH_MAX];
	struct io_map m;
	struct err e;
	bool names;

	if (!strchr(program, '/')) {
		if (!find_in_path(program, path))
			return false;
		program = path;
	}
	if (io_map(program, &m, &e))
		return false;
	names = names_jvm(m.data, m.len);
	io_unmap(&m);
	return names;
}
