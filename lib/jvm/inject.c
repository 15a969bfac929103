// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inject.c - places the agent's file (inject.h).
 *
 * A path in JAVA_TOOL_OPTIONS outlives us in every process that inherits it, and a JVM that
 * cannot load it exits. So the file stays for good, under a name that its content decides,
 * in a folder that lasts and that no other user can write to, and only where mmap allows
 * execution.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "jvm/inject.h"

extern const char jvm_agent_file[], jvm_agent_file_end[];

void inject_build_id(struct buf *b)
{
	const Elf64_Ehdr *eh = (const void *)jvm_agent_file;
	const Elf64_Phdr *ph = (const void *)(jvm_agent_file + eh->e_phoff);
	const Elf64_Nhdr *n;
	const uint8_t *id;
	size_t i, k;

	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type != PT_NOTE)
			continue;
		n = (const void *)(jvm_agent_file + ph[i].p_offset);
		if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4)
			continue;
		id = (const uint8_t *)(n + 1) + 4;
		for (k = 0; k < n->n_descsz; k++)
			buf_fmt(b, "%02x", id[k]);
		return;
	}
	buf_str(b, "unversioned");
}

/* Ours, nobody else may write, and everyone who may run our JVMs can search it. */
static bool usable_dir(const char *dir, mode_t mode)
{
	struct stat st;

	if (mkdir(dir, mode) && errno != EEXIST)
		return false;
	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

static bool same_content(int fd)
{
	size_t len = jvm_agent_file_end - jvm_agent_file;
	struct io_map m;
	struct stat st;
	struct err e;
	bool same;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) ||
	    st.st_size != (off_t)len || io_map_fd(fd, "", &m, &e))
		return false;
	same = !memcmp(m.data, jvm_agent_file, len);
	io_unmap(&m);
	return same;
}

/* Where executable mappings are refused (noexec), a JVM could not load it either. */
static bool executable(int fd)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return false;
	munmap(p, 4096);
	return true;
}

static bool good_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool good = fd >= 0 && same_content(fd) && executable(fd);

	if (fd >= 0)
		close(fd);
	return good;
}

static bool write_file(const char *path)
{
	struct buf tmp = BUF_INIT;
	bool done = false;
	int fd;

	buf_fmt(&tmp, "%s.%d.tmp", path, (int)getpid());
	unlink(tmp.data);
	fd = open(tmp.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (fd >= 0) {
		done = !io_write_all(fd, jvm_agent_file, jvm_agent_file_end - jvm_agent_file) &&
		       !fchmod(fd, 0755);
		done = !close(fd) && done && !rename(tmp.data, path);
		if (!done)
			unlink(tmp.data);
	}
	buf_release(&tmp);
	return done;
}

/* The agent in dir, or nothing added to *path. */
static bool place_in(const char *dir, mode_t mode, struct buf *path)
{
	struct buf p = BUF_INIT;
	bool placed;

	if (!dir || dir[0] != '/' || !usable_dir(dir, mode))
		return false;
	buf_fmt(&p, "%s/agent-", dir);
	inject_build_id(&p);
	buf_str(&p, ".so");
	placed = good_file(p.data) || (write_file(p.data) && good_file(p.data));
	if (placed)
		buf_str(path, p.data);
	buf_release(&p);
	return placed;
}

static bool place_below(const char *parent, const char *name, struct buf *path)
{
	struct buf dir = BUF_INIT;
	bool placed = false;

	if (parent && parent[0] == '/') {
		buf_fmt(&dir, "%s/%s", parent, name);
		placed = place_in(dir.data, 0755, path);
	}
	buf_release(&dir);
	return placed;
}

bool inject_possible(void)
{
	return &jvm_agent_file_end[0] != &jvm_agent_file[0];
}

int inject_place(struct buf *path, struct err *e)
{
	const char *home = getenv("HOME");
	char shared[64];
	bool placed = false;

	if (!inject_possible())
		return err_set(e, ENOTSUP, "this arcprof has no JVM agent: there is none for this CPU yet");
	snprintf(shared, sizeof(shared), "/var/tmp/arcprof-%u", (unsigned)geteuid());
	/* root's JVMs may run as other users, who cannot look into its home */
	if (!geteuid())
		return place_in(shared, 0755, path) ? 0 :
		       err_set(e, EACCES, "cannot place the JVM agent in %s", shared);
	placed = place_below(getenv("XDG_CACHE_HOME"), "arcprof", path);
	if (!placed && home && home[0] == '/') {
		struct buf cache = BUF_INIT;

		buf_fmt(&cache, "%s/.cache", home);
		mkdir(cache.data, 0700);
		placed = place_below(cache.data, "arcprof", path);
		buf_release(&cache);
	}
	if (placed || place_in(shared, 0755, path))
		return 0;
	return err_set(e, EACCES, "cannot place the JVM agent in ~/.cache/arcprof nor %s", shared);
}

int inject_place_below(const char *root, struct buf *path, struct err *e)
{
	static const char *const folders[] = { "/var/tmp", "/tmp" };
	struct buf b = BUF_INIT;
	bool placed = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders) && !placed; i++) {
		char name[64];

		buf_reset(&b);
		buf_fmt(&b, "%s%s", root, folders[i]);
		snprintf(name, sizeof(name), "arcprof-%u", (unsigned)geteuid());
		buf_reset(path);
		placed = place_below(b.data, name, path);
	}
	buf_release(&b);
	if (!placed)
		return err_set(e, EACCES, "cannot place the JVM agent in /var/tmp nor /tmp below %s", root);
	memmove(path->data, path->data + strlen(root), path->len - strlen(root) + 1);
	path->len -= strlen(root);
	return 0;
}

int inject_options(struct buf *b, const char *old, const char *file, const char *option, struct err *e)
{
	bool quote = strpbrk(file, " \t\n") || strpbrk(option, " \t\n");

	if (strchr(file, '\'') || strchr(file, '"') || strchr(file, '=') || strchr(option, '\''))
		return err_set(e, EINVAL, "%s: a JVM option cannot hold this path", file);
	if (old && old[0])
		buf_fmt(b, "%s ", old);
	buf_fmt(b, "%s-agentpath:%s=%s%s", quote ? "'" : "", file, option, quote ? "'" : "");
	return 0;
}

int inject_setenv(const char *file, const char *option, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = inject_options(&b, getenv("JAVA_TOOL_OPTIONS"), file, option, e);

	if (!r && setenv("JAVA_TOOL_OPTIONS", b.data, 1))
		r = err_errno(e, "setenv JAVA_TOOL_OPTIONS");
	buf_release(&b);
	return r;
}
