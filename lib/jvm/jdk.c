// SPDX-License-Identifier: GPL-2.0-or-later
/* jdk.c - finds the Java installations of this machine (jdk.h). */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/span.h"
#include "jvm/jdk.h"

/* Return the value of KEY="value" in the file "release" of a JDK, for the caller to free. */
static char *release_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text) {
		if (!strncmp(text, key, len) && text[len] == '=') {
			const char *v = text + len + 1;

			v += *v == '"';
			return xstrndup(v, strcspn(v, "\"\r\n"));
		}
		text = strchr(text, '\n');
		text += !!text;
	}
	return NULL;
}

/* "1.8.0_402" is 8, "17.0.15" is 17. */
static int major_of(const char *version)
{
	if (!strncmp(version, "1.", 2))
		version += 2;
	return atoi(version);
}

static void add_home(struct jdk_list *l, const char *dir, bool on_path)
{
	char path[PATH_MAX + 16], home[PATH_MAX];
	const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = 1 << 20, .links = true };
	struct buf b = BUF_INIT;
	struct jdk *j;
	struct err e;
	size_t i;

	if (!realpath(dir, home))
		return;
	snprintf(path, sizeof(path), "%s/bin/java", home);
	if (access(path, X_OK))
		return;
	for (i = 0; i < l->nr_jdks; i++)
		if (!strcmp(l->jdks[i].home, home)) {
			l->jdks[i].on_path |= on_path;
			return;
		}
	j = VEC_ADD(l->jdks, l->nr_jdks, l->alloc_jdks);
	memset(j, 0, sizeof(*j));
	j->home = xstrdup(home);
	j->on_path = on_path;
	snprintf(path, sizeof(path), "%s/bin/javac", home);
	j->has_javac = !access(path, X_OK);
	snprintf(path, sizeof(path), "%s/release", home);
	if (!foreign_read(AT_FDCWD, path, &rule, &b, &e) && b.len) {
		j->version = release_value(b.data, "JAVA_VERSION");
		j->vendor = release_value(b.data, "IMPLEMENTOR");
	}
	buf_release(&b);
	j->version = j->version ? j->version : xstrdup("?");
	j->vendor = j->vendor ? j->vendor : xstrdup("");
	j->major = major_of(j->version);
}

static void add_below(struct jdk_list *l, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[PATH_MAX];

	if (!d)
		return;
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < (int)sizeof(path))
			add_home(l, path, false);
	}
	closedir(d);
}

/* Add the installation whose java the shell would find, following the links of update-alternatives. */
static void add_from_path(struct jdk_list *l)
{
	const char *p = getenv("PATH");
	char path[PATH_MAX], real[PATH_MAX];

	while (p && *p) {
		size_t len = strcspn(p, ":");
		char *bin;

		snprintf(path, sizeof(path), "%.*s/java", (int)len, p);
		if (len && io_is_program(path) && realpath(path, real)) {
			bin = strstr(real, "/bin/java");
			if (bin)
				*bin = '\0';
			if (bin && bin - real > 4 && !strcmp(bin - 4, "/jre"))
				bin[-4] = '\0';	/* JDK 8 */
			add_home(l, real, true);
			return;
		}
		p += len + !!p[len];
	}
}

static int by_major(const void *a, const void *b)
{
	const struct jdk *x = a, *y = b;

	return COMPARE(x->major, y->major) ?: strcmp(x->home, y->home);
}

void jdk_list_find(struct jdk_list *l)
{
	const char *home = getenv("HOME"), *java_home = getenv("JAVA_HOME");
	char path[PATH_MAX];

	memset(l, 0, sizeof(*l));
	add_from_path(l);
	if (java_home && *java_home)
		add_home(l, java_home, false);
	add_below(l, "/usr/lib/jvm");
	add_below(l, "/usr/java");
	add_below(l, "/opt");
	add_below(l, "/opt/java");
	if (home && snprintf(path, sizeof(path), "%s/.sdkman/candidates/java", home) < (int)sizeof(path))
		add_below(l, path);
	if (l->nr_jdks)
		qsort(l->jdks, l->nr_jdks, sizeof(*l->jdks), by_major);
}

void jdk_list_release(struct jdk_list *l)
{
	size_t i;

	for (i = 0; i < l->nr_jdks; i++) {
		free(l->jdks[i].home);
		free(l->jdks[i].version);
		free(l->jdks[i].vendor);
	}
	free(l->jdks);
	memset(l, 0, sizeof(*l));
}

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

/* Map the program; return false if there is none, or it cannot be read. */
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
