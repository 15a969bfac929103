// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inject.c - places the agent's file and those of lib/preload (inject.h).
 *
 * A path in LD_PRELOAD outlives us in every process that inherits it, and the dynamic linker complains about a
 * file that it does not find. So the files stay for good, under names that their content decides,
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
extern const char preload_file[], preload_file_end[], preload_empty32[], preload_empty32_end[];

struct image {
	const char *data, *end;		/* an ELF file in the binary */
};

static const struct image agent = { jvm_agent_file, jvm_agent_file_end };
static const struct image preload = { preload_file, preload_file_end };
static const struct image empty32 = { preload_empty32, preload_empty32_end };

static void add_build_id(struct buf *b, const struct image *im)
{
	const Elf64_Ehdr *eh = (const void *)im->data;
	const Elf64_Phdr *ph = (const void *)(im->data + eh->e_phoff);
	const Elf64_Nhdr *n;
	const uint8_t *id;
	size_t i, k;

	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type != PT_NOTE)
			continue;
		n = (const void *)(im->data + ph[i].p_offset);
		if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4)
			continue;
		id = (const uint8_t *)(n + 1) + 4;
		for (k = 0; k < n->n_descsz; k++)
			buf_fmt(b, "%02x", id[k]);
		return;
	}
	buf_str(b, "unversioned");
}

void inject_build_id(struct buf *b)
{
	add_build_id(b, &agent);
}

/* Ours, nobody else may write, and everyone who may run our JVMs can search it. */
static bool usable_dir(const char *dir, mode_t mode)
{
	struct stat st;

	if (mkdir(dir, mode) && errno != EEXIST)
		return false;
	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

static bool same_content(int fd, const struct image *im)
{
	size_t len = im->end - im->data;
	struct io_map m;
	struct stat st;
	struct err e;
	bool same;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) ||
	    st.st_size != (off_t)len || io_map_fd(fd, "", &m, &e))
		return false;
	same = !memcmp(m.data, im->data, len);
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

static bool good_file(const char *path, const struct image *im)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool good = fd >= 0 && same_content(fd, im) && executable(fd);

	if (fd >= 0)
		close(fd);
	return good;
}

static bool write_file(const char *path, const struct image *im)
{
	struct buf tmp = BUF_INIT;
	bool done = false;
	int fd;

	buf_fmt(&tmp, "%s.%d.tmp", path, (int)getpid());
	unlink(tmp.data);
	fd = open(tmp.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (fd >= 0) {
		done = !io_write_all(fd, im->data, im->end - im->data) &&
		       !fchmod(fd, 0755);
		done = !close(fd) && done && !rename(tmp.data, path);
		if (!done)
			unlink(tmp.data);
	}
	buf_release(&tmp);
	return done;
}

static bool place_file(const char *path, const struct image *im)
{
	return good_file(path, im) || (write_file(path, im) && good_file(path, im));
}

/* Characters that end a path in LD_PRELOAD or in -agentpath. */
static bool is_plain(const char *path)
{
	return !strpbrk(path, " \t\n:;$=");
}

/* The agent in dir, or nothing added to *path. */
static bool place_in(const char *dir, mode_t mode, struct buf *path)
{
	struct buf p = BUF_INIT;
	bool placed;

	if (!dir || dir[0] != '/' || !is_plain(dir) || !usable_dir(dir, mode))
		return false;
	buf_fmt(&p, "%s/agent-", dir);
	inject_build_id(&p);
	buf_str(&p, ".so");
	placed = place_file(p.data, &agent);
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
	return agent.end != agent.data;
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

/*
 * What the dynamic linkers of this machine put for $PLATFORM: glibc x86_64, or until 2.36 a name for the CPU's
 * generation, and i686 for programs of 32 bits, which cannot load the file and would say so; musl nothing.
 */
static const struct {
	const char *platform;
	const struct image *im;
} preloads[] = {
	{ "x86_64", &preload }, { "haswell", &preload }, { "xeon_phi", &preload }, { "$PLATFORM", &preload },
	{ "i686", &empty32 },
};

/* Beside the agent; appends what LD_PRELOAD is to name. */
static int place_preloads(const char *agent_path, struct buf *path, struct err *e)
{
	struct buf stem = BUF_INIT, p = BUF_INIT;
	bool placed = true;
	size_t i;

	buf_add(&stem, agent_path, strrchr(agent_path, '/') - agent_path);
	buf_str(&stem, "/preload-");
	add_build_id(&stem, &preload);
	for (i = 0; i < ARRAY_SIZE(preloads) && placed; i++) {
		buf_reset(&p);
		buf_fmt(&p, "%s-%s.so", stem.data, preloads[i].platform);
		placed = place_file(p.data, preloads[i].im);
	}
	buf_fmt(path, "%s-$PLATFORM.so", stem.data);
	buf_release(&stem);
	if (!placed)
		err_set(e, EACCES, "cannot place %s", p.data);
	buf_release(&p);
	return placed ? 0 : -EACCES;
}

/* Adds value at the end, behind a colon. */
static int extend_variable(const char *name, const char *value, struct err *e)
{
	const char *old = getenv(name);
	struct buf b = BUF_INIT;
	int r = 0;

	if (old && old[0])
		buf_fmt(&b, "%s:", old);
	buf_str(&b, value);
	if (setenv(name, b.data, 1))
		r = err_errno(e, "setenv %s", name);
	buf_release(&b);
	return r;
}

int inject_setenv(const char *file, const char *option, struct err *e)
{
	struct buf path = BUF_INIT, variable = BUF_INIT;
	int r = place_preloads(file, &path, e);

	buf_fmt(&variable, "%s -agentpath:%s=%s", path.data, file, option);
	if (!r)
		r = extend_variable("LD_PRELOAD", path.data, e);
	if (!r && setenv("ARCPROF_AGENT", variable.data, 1))
		r = err_errno(e, "setenv ARCPROF_AGENT");
	/* AddressSanitizer refuses to run when another library was loaded before it. */
	if (!r)
		r = extend_variable("ASAN_OPTIONS", "verify_asan_link_order=0", e);
	buf_release(&path);
	buf_release(&variable);
	return r;
}
