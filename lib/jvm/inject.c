// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inject.c - places the agent's file and those of lib/preload (inject.h).
 *
 * A path in LD_PRELOAD outlives us in every process that inherits it, and the dynamic linker
 * complains about a file that it does not find. So the files stay for good, under names that their
 * content decides, in a folder that lasts and that no other user can write to, and only where mmap
 * allows execution. In the files of another process they are made by foreign.h's rules, as that
 * process's user.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/place.h"
#include "jvm/inject.h"

extern const char jvm_agent_file[], jvm_agent_file_end[];
extern const char preload_file[], preload_file_end[], preload_empty32[], preload_empty32_end[];
extern const char preload_memory_file[], preload_memory_file_end[];
extern const char preload_waits_file[], preload_waits_file_end[];
extern const char preload_both_file[], preload_both_file_end[];

struct image {
	const char *data, *end;		/* an ELF file in the binary */
};

static const struct image agent = { jvm_agent_file, jvm_agent_file_end };
static const struct image preloads[] = {
	[0] = { preload_file, preload_file_end },
	[INJECT_MEMORY] = { preload_memory_file, preload_memory_file_end },
	[INJECT_WAITS] = { preload_waits_file, preload_waits_file_end },
	[INJECT_MEMORY | INJECT_WAITS] = { preload_both_file, preload_both_file_end },
};
static const struct image empty32 = { preload_empty32, preload_empty32_end };

/* Return the build-id, NULL if there is none. */
static const uint8_t *find_build_id(const struct image *im, size_t *len)
{
	const Elf64_Ehdr *eh = (const void *)im->data;
	const Elf64_Phdr *ph = (const void *)(im->data + eh->e_phoff);
	const Elf64_Nhdr *n;
	size_t i;

	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type != PT_NOTE)
			continue;
		n = (const void *)(im->data + ph[i].p_offset);
		if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4)
			continue;
		*len = n->n_descsz;
		return (const uint8_t *)(n + 1) + 4;
	}
	return NULL;
}

static void add_build_id(struct buf *b, const struct image *im)
{
	size_t len = 0;
	const uint8_t *id = find_build_id(im, &len);

	if (id)
		buf_hex(b, id, len);
	else
		buf_str(b, "unversioned");
}

static bool has_build_id(const struct image *im, const uint8_t *build_id, size_t len)
{
	size_t its_len = 0;
	const uint8_t *its = im->data != im->end ? find_build_id(im, &its_len) : NULL;

	return its && its_len == len && !memcmp(its, build_id, len);
}

bool inject_is_ours(const uint8_t *build_id, size_t len)
{
	return len && (has_build_id(&agent, build_id, len) || has_build_id(&preloads[0], build_id, len) ||
		       inject_calls_on(build_id, len));
}

bool inject_calls_on(const uint8_t *build_id, size_t len)
{
	size_t i;

	for (i = 1; i < ARRAY_SIZE(preloads); i++)
		if (len && has_build_id(&preloads[i], build_id, len))
			return true;
	return false;
}

const void *inject_agent_file(size_t *len)
{
	*len = agent.end - agent.data;
	return agent.data;
}

void inject_build_id(struct buf *b)
{
	add_build_id(b, &agent);
}

/*
 * Open the folder name in parent, made if need be. It must be its user's (NULL: ours), writable only by that
 * user, and with mode searchable by everyone who may run such JVMs. -1: there is none.
 */
static int inject_open_folder(int parent, const char *name, mode_t mode, const struct foreign_user *u)
{
	struct stat st;
	int r = foreign_mkdir(parent, name, mode, u), fd;

	if (r && r != -EEXIST)
		return -1;
	fd = foreign_opendir(parent, name, u);
	/* a umask may have made it narrower */
	if (fd >= 0 && !fstat(fd, &st) && st.st_uid == (u ? u->uid : geteuid()) && !(st.st_mode & 022) &&
	    ((st.st_mode & mode) == mode || (!u && !fchmod(fd, mode))))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static size_t image_bytes(const struct image *im)
{
	return im->end - im->data;
}

/* Read, not mapped: whoever may truncate a file that we have mapped may end us. */
static bool same_content(int fd, const struct image *im)
{
	size_t at = 0, want = image_bytes(im);
	char piece[16384];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		if ((size_t)n > want - at || memcmp(piece, im->data + at, n))
			return false;
		at += n;
	}
	return !n && at == want;
}

/* Return whether executable mappings are allowed: on a noexec mount, a JVM could not load it either. */
static bool executable(int fd)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return false;
	munmap(p, 4096);
	return true;
}

static bool good_file(int dir, const char *name, const struct image *im, const struct foreign_user *u)
{
	const struct foreign_rule rule = { .owner = u ? u->uid : geteuid(), .max_bytes = image_bytes(im) };
	struct stat st;
	struct err e;
	int fd = foreign_open(dir, name, &rule, &e);
	bool good =
		fd >= 0 && !fstat(fd, &st) && !(st.st_mode & 022) && same_content(fd, im) && executable(fd);

	if (fd >= 0)
		close(fd);
	return good;
}

static bool write_file(int dir, const char *name, const struct image *im, const struct foreign_user *u)
{
	char tmp[NAME_MAX + 1];
	bool done = false;
	int fd;

	snprintf(tmp, sizeof(tmp), "%s.%d.tmp", name, (int)getpid());
	foreign_unlink(dir, tmp, 0, u);
	fd = foreign_create(dir, tmp, 0755, u);
	if (fd >= 0) {
		done = !io_write_all(fd, im->data, image_bytes(im)) && !fchmod(fd, 0755);
		done = !close(fd) && done && !foreign_rename(dir, tmp, name, u);
		if (!done)
			foreign_unlink(dir, tmp, 0, u);
	}
	return done;
}

static bool place_file(int dir, const char *name, const struct image *im, const struct foreign_user *u)
{
	return good_file(dir, name, im, u) || (write_file(dir, name, im, u) && good_file(dir, name, im, u));
}

/* Return whether the path lacks characters that end a path in LD_PRELOAD or in -agentpath. */
static bool is_plain(const char *path)
{
	return !strpbrk(path, " \t\n:;$=");
}

struct folder {
	int parent;		/* -1: it could not be opened */
	const char *called;	/* how the image's users see parent */
	const char *name;
	mode_t mode;
};

/* Place the image in the folder and append its path; on failure *path is unchanged. */
static bool place_in(const struct image *im, const struct folder *f, const struct foreign_user *u,
		     struct buf *path)
{
	int dir = f->parent < 0 ? -1 : inject_open_folder(f->parent, f->name, f->mode, u);
	struct buf file = BUF_INIT;
	bool placed;

	if (dir < 0)
		return false;
	buf_str(&file, im == &agent ? "agent-" : "memory-");
	add_build_id(&file, im);
	buf_str(&file, ".so");
	placed = place_file(dir, file.data, im, u);
	if (placed)
		buf_fmt(path, "%s/%s/%s", f->called, f->name, file.data);
	buf_release(&file);
	close(dir);
	return placed;
}

/*
 * Place the image among our own files, where others may have put links. make: create the folder parent, if it
 * is missing.
 */
static bool place_below(const struct image *im, const char *parent, bool make, const char *name, mode_t mode,
			struct buf *path)
{
	bool usable = parent && parent[0] == '/' && is_plain(parent);
	struct err e;
	int dir = usable ? place_open_folder(parent, make ? 0700 : 0, &e) : -1;
	bool placed = place_in(im, &(struct folder){ dir, parent, name, mode }, NULL, path);

	if (dir >= 0)
		close(dir);
	return placed;
}

bool inject_possible(void)
{
	return agent.end != agent.data;
}

static bool place_at_home(const struct image *im, struct buf *path)
{
	const char *home = getenv("HOME");
	struct buf cache = BUF_INIT;
	bool placed = place_below(im, getenv("XDG_CACHE_HOME"), false, "arcprof", 0700, path);

	if (!placed && home && home[0] == '/') {
		buf_fmt(&cache, "%s/.cache", home);
		placed = place_below(im, cache.data, true, "arcprof", 0700, path);
		buf_release(&cache);
	}
	return placed;
}

/*
 * Place the image elsewhere, if the lasting folders are not writable, or others have taken our name in them.
 */
static bool place_elsewhere(const struct image *im, const char *ours, struct buf *path)
{
	const char *const folders[] = { "/dev/shm", getenv("TMPDIR"), getenv("XDG_RUNTIME_DIR"), "/tmp" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders); i++)
		if (place_below(im, folders[i], false, ours, 0755, path))
			return true;
	return false;
}

static int place_for_us(const struct image *im, struct buf *path, struct err *e)
{
	bool root = !geteuid();
	char ours[32];

	if (!inject_possible())
		return err_set(e, ENOTSUP, "this arcprof has no JVM agent: there is none for this CPU yet");
	snprintf(ours, sizeof(ours), "arcprof-%u", (unsigned)geteuid());
	/*
	 * root's JVMs may run as other users, who cannot look into its home; nobody else can take the name in
	 * /var/cache
	 */
	if ((!root && place_at_home(im, path)) || place_below(im, "/var/tmp", false, ours, 0755, path) ||
	    (root && place_below(im, "/var/cache", false, "arcprof-agent", 0755, path)) ||
	    place_elsewhere(im, ours, path))
		return 0;
	return err_set(e, EACCES, "cannot place the JVM agent in %s, /var/tmp, /dev/shm or /tmp",
		       root ? "/var/cache" : "~/.cache");
}

int inject_place(struct buf *path, struct err *e)
{
	return place_for_us(&agent, path, e);
}

static int place_below_root(const struct image *im, int root, const struct foreign_user *u, struct buf *path,
			    struct err *e)
{
	static const char *const folders[] = { "/var/tmp", "/tmp", "/dev/shm" };
	bool placed = false;
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "arcprof-%u", (unsigned)u->uid);
	for (i = 0; i < ARRAY_SIZE(folders) && !placed; i++) {
		int dir = foreign_dir(root, folders[i]);

		placed = place_in(im, &(struct folder){ dir, folders[i], name, 0700 }, u, path);
		if (dir >= 0)
			close(dir);
	}
	return placed ? 0 : err_set(e, EACCES, "cannot place the JVM agent in the process's /var/tmp, /tmp or /dev/shm");
}

int inject_place_for(int pid, int root, const struct foreign_user *u, bool memory, struct buf *path,
		     struct err *e)
{
	const struct image *im = memory ? &preloads[INJECT_MEMORY] : &agent;

	return foreign_has_our_files(pid) ? place_for_us(im, path, e) :
					    place_below_root(im, root, u, path, e);
}

/*
 * The values of $PLATFORM in the dynamic linkers of this machine. For glibc they are x86_64, or until
 * 2.36 a name for the CPU's generation, and i686 for 32-bit programs, which cannot load the file and
 * would say so; or aarch64. musl replaces nothing.
 */
static const char *const platforms_x86[] = { "x86_64", "haswell", "xeon_phi", "$PLATFORM", "i686", NULL };
static const char *const platforms_arm64[] = { "aarch64", "$PLATFORM", NULL };

static const struct image *image_for(const char *platform, const struct image *im)
{
	return strcmp(platform, "i686") ? im : &empty32;
}

/* Place them beside the agent, and append what LD_PRELOAD is to name. */
static int place_preloads(const char *agent_path, const struct image *im, struct buf *path, struct err *e)
{
	const char *const *platform = cpu_host == &cpu_arm64 ? platforms_arm64 : platforms_x86;
	struct buf folder = BUF_INIT, stem = BUF_INIT, name = BUF_INIT;
	bool placed;
	int dir;

	buf_add(&folder, agent_path, strrchr(agent_path, '/') - agent_path);
	buf_str(&stem, "preload-");
	add_build_id(&stem, im);
	dir = open(folder.data, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	placed = dir >= 0;
	for (; *platform && placed; platform++) {
		buf_reset(&name);
		buf_fmt(&name, "%s-%s.so", stem.data, *platform);
		placed = place_file(dir, name.data, image_for(*platform, im), NULL);
	}
	buf_fmt(path, "%s/%s-$PLATFORM.so", folder.data, stem.data);
	if (!placed)
		err_set(e, EACCES, "cannot place libraries for JVMs in %s", folder.data);
	if (dir >= 0)
		close(dir);
	buf_release(&folder);
	buf_release(&stem);
	buf_release(&name);
	return placed ? 0 : -EACCES;
}

/* Adds value at the end, or in front; a colon is between them. */
static int extend_variable(const char *name, const char *value, bool first, struct err *e)
{
	const char *old = getenv(name);
	struct buf b = BUF_INIT;
	int r = 0;

	if (old && old[0])
		buf_fmt(&b, "%s:%s", first ? value : old, first ? old : value);
	else
		buf_str(&b, value);
	if (setenv(name, b.data, 1))
		r = err_errno(e, "setenv %s", name);
	buf_release(&b);
	return r;
}

int inject_setenv(const char *file, const char *option, uint32_t what, struct err *e)
{
	struct buf path = BUF_INIT, variable = BUF_INIT;
	int r = place_preloads(file, &preloads[what], &path, e);

	buf_fmt(&variable, "%s -agentpath:%s=%s", path.data, file, option);
	if (!r)
		r = extend_variable("LD_PRELOAD", path.data, what & INJECT_MEMORY, e);
	if (!r && setenv("ARCPROF_AGENT", variable.data, 1))
		r = err_errno(e, "setenv ARCPROF_AGENT");
	/* AddressSanitizer refuses to run when another library was loaded before it. */
	if (!r)
		r = extend_variable("ASAN_OPTIONS", "verify_asan_link_order=0", false, e);
	buf_release(&path);
	buf_release(&variable);
	return r;
}
