// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache.c - one file an entry, named by the hash of its key, written aside and renamed.
 *
 * A file is never changed once it has its name, so it may be mapped: eviction only unlinks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/place.h"
#include "sym/cache.h"

enum {
	FORMAT_VERSION = 1,
	FILES_MAX = 4096,
	NAME_BYTES = 32,
	USED_AGAIN_SECS = 3600,		/* how exactly the time of the last use is kept */
};

struct cache {
	int dir;
	uint64_t max_bytes;
};

struct head {
	char magic[8];
	uint32_t version, zero;
	struct cache_key key;
	uint64_t len, checksum;		/* of what follows */
};

_Static_assert(sizeof(struct head) % 8 == 0, "the data is aligned");

static const char magic[8] = "arcpcach";

static bool cache_is_ours(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
		!(st.st_mode & 077);
}

/* Return the folder of that name in parent. */
static struct cache *open_in(int parent, const char *name, uint64_t max_bytes)
{
	struct cache *c;
	int dir;

	mkdirat(parent, name, 0700);
	dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return NULL;
	if (!cache_is_ours(dir, S_IFDIR)) {
		close(dir);
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->dir = dir;
	c->max_bytes = max_bytes;
	return c;
}

struct cache *cache_open_at(const char *path, uint64_t max_bytes)
{
	return open_in(AT_FDCWD, path, max_bytes);
}

/* Root takes no folder's name from the environment, where sudo may have left the user's. */
struct cache *cache_open(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct cache *c = NULL;
	struct err e;
	char *path;
	int parent;

	if (!geteuid())
		return cache_open_at("/var/cache/arcprof", CACHE_BYTES_MAX);
	if (xdg && xdg[0] == '/')
		path = xstrdup(xdg);
	else if (home && home[0] == '/')
		path = xasprintf("%s/.cache", home);
	else
		return NULL;
	parent = place_open_folder(path, 0700, &e);
	if (parent >= 0) {
		c = open_in(parent, "arcprof", CACHE_BYTES_MAX);
		close(parent);
	}
	free(path);
	return c;
}

void cache_close(struct cache *c)
{
	if (!c)
		return;
	close(c->dir);
	free(c);
}

static uint64_t timespec_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + t->tv_nsec;
}

bool cache_key_of(struct cache_key *k, enum cache_kind kind, int fd, const uint8_t *build_id, size_t id_len)
{
	struct stat st;

	memset(k, 0, sizeof(*k));
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	k->kind = kind;
	k->dev = st.st_dev;
	k->ino = st.st_ino;
	k->size = st.st_size;
	k->mtime_ns = timespec_ns(&st.st_mtim);
	k->ctime_ns = timespec_ns(&st.st_ctim);
	if (id_len)
		memcpy(k->build_id, build_id, MIN(id_len, sizeof(k->build_id)));
	return true;
}

static void cache_name(const struct cache_key *k, char name[static NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%016" PRIx64, hash_bytes(k, sizeof(*k)));
}

/*
 * Compute a checksum in four lanes, so that the multiplications overlap: 10 GB/s. It finds damage, not
 * intent.
 */
static uint64_t checksum_of(const uint8_t *p, size_t len)
{
	uint64_t lane[4] = { 1, 2, 3, 4 }, x;
	size_t i;

	for (; len >= 32; p += 32, len -= 32) {
		for (i = 0; i < 4; i++) {
			memcpy(&x, p + 8 * i, 8);
			lane[i] = (lane[i] ^ x) * 0xc2b2ae3d27d4eb4full;
			lane[i] ^= lane[i] >> 29;
		}
	}
	return hash_pair(hash_pair(lane[0], lane[1]), hash_pair(lane[2], lane[3])) ^ hash_bytes(p, len);
}

static struct head cache_head(const struct cache_key *k, const uint8_t *data, size_t len)
{
	struct head h = { .version = FORMAT_VERSION, .key = *k, .len = len,
		.checksum = checksum_of(data, len) };

	memcpy(h.magic, magic, sizeof(h.magic));
	return h;
}

/* Compare everything but the checksum, for which all the data must be read. */
static bool head_fits(const struct head *h, const struct cache_key *k, size_t len)
{
	return !memcmp(h->magic, magic, sizeof(magic)) && h->version == FORMAT_VERSION && !h->zero &&
	       !memcmp(&h->key, k, sizeof(*k)) && h->len == len;
}

static bool map_entry(int fd, const struct cache_key *k, struct cache_entry *e)
{
	struct stat st;
	const struct head *h;

	if (!cache_is_ours(fd, S_IFREG) || fstat(fd, &st) || st.st_size < (off_t)sizeof(*h) ||
	    (uint64_t)st.st_size > CACHE_ENTRY_MAX + sizeof(*h))
		return false;
	e->map_len = st.st_size;
	e->map = mmap(NULL, e->map_len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (e->map == MAP_FAILED) {
		e->map = NULL;
		return false;
	}
	h = e->map;
	e->data = (const uint8_t *)(h + 1);
	e->len = e->map_len - sizeof(*h);
	if (head_fits(h, k, e->len) && checksum_of(e->data, e->len) == h->checksum)
		return true;
	cache_entry_release(e);
	return false;
}

static void note_use(int fd)
{
	struct stat st;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!fstat(fd, &st) &&
	    (now.tv_sec < st.st_mtim.tv_sec || now.tv_sec - st.st_mtim.tv_sec > USED_AGAIN_SECS))
		futimens(fd, NULL);
}

bool cache_get(struct cache *c, const struct cache_key *k, struct cache_entry *e)
{
	char name[NAME_BYTES];
	bool ok;
	int fd;

	memset(e, 0, sizeof(*e));
	if (!c)
		return false;
	cache_name(k, name);
	fd = openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = map_entry(fd, k, e);
	if (ok)
		note_use(fd);
	else
		unlinkat(c->dir, name, 0);
	close(fd);
	return ok;
}

void cache_entry_release(struct cache_entry *e)
{
	if (e->map)
		munmap(e->map, e->map_len);
	memset(e, 0, sizeof(*e));
}

struct used {
	char name[NAME_BYTES];
	uint64_t bytes, used_ns;
};

static int by_use(const void *a, const void *b)
{
	const struct used *x = a, *y = b;

	return COMPARE(x->used_ns, y->used_ns);
}

/*
 * Make room for len bytes: what was used longest ago is removed, with what a killed recorder left unfinished.
 */
static void cache_make_room(struct cache *c, uint64_t len)
{
	struct used *files = NULL;
	size_t nr_files = 0, alloc_files = 0, i;
	uint64_t sum = len;
	struct dirent *entry;
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(d))) {
		struct used f = { .name = "" };
		struct stat st;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(f.name) ||
		    fstatat(c->dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(f.name, sizeof(f.name), "%s", entry->d_name);
		f.bytes = st.st_size;
		f.used_ns = timespec_ns(&st.st_mtim);
		sum += f.bytes;
		*VEC_ADD(files, nr_files, alloc_files) = f;
	}
	closedir(d);
	if (nr_files)
		qsort(files, nr_files, sizeof(*files), by_use);
	for (i = 0; i < nr_files && (sum > c->max_bytes || nr_files - i >= FILES_MAX); i++)
		if (!unlinkat(c->dir, files[i].name, 0))
			sum -= files[i].bytes;
	free(files);
}

void cache_put(struct cache *c, const struct cache_key *k, const void *data, size_t len)
{
	char name[NAME_BYTES], aside[NAME_BYTES];
	struct head h;
	bool ok;
	int fd;

	if (!c || len > CACHE_ENTRY_MAX || len + sizeof(h) > c->max_bytes)
		return;
	h = cache_head(k, data, len);
	cache_make_room(c, len + sizeof(h));
	cache_name(k, name);
	snprintf(aside, sizeof(aside), "new.%ld", (long)getpid());
	unlinkat(c->dir, aside, 0);	/* of a recorder that had our number and was killed */
	fd = openat(c->dir, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	ok = !io_write_all(fd, &h, sizeof(h)) && !io_write_all(fd, data, len);
	close(fd);
	if (!ok || renameat(c->dir, aside, c->dir, name))
		unlinkat(c->dir, aside, 0);
}
