// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/cache.h"
#include "sym/symfile.h"
#include "unit.h"

enum { LEN = 1000 };

static char dir[] = "/tmp/arcprof-cache.XXXXXX";

static struct cache *open_new(uint64_t max_bytes)
{
	struct cache *c;

	CHECK(mkdtemp(dir));
	c = cache_open_at(dir, max_bytes);
	CHECK(c);
	return c;
}

/* The path of the only or first entry. */
static const char *entry_path(void)
{
	static char path[300];
	struct dirent *e;
	DIR *d = opendir(dir);

	path[0] = '\0';
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
	closedir(d);
	return path;
}

static size_t nr_entries(uint64_t *bytes)
{
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(dir);
	size_t nr = 0;

	*bytes = 0;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &st, 0)) {
			nr++;
			*bytes += st.st_size;
		}
	closedir(d);
	return nr;
}

static void clean_up(struct cache *c)
{
	const char *path;

	cache_close(c);
	while (*(path = entry_path()) && !unlink(path))
		;
	rmdir(dir);
}

static struct cache_key key_of(uint64_t ino)
{
	struct cache_key k = { .kind = CACHE_DEBUG_SECTIONS, .dev = 1, .ino = ino, .size = 2,
		.build_id = { 7 } };

	return k;
}

static void put(struct cache *c, uint64_t ino, char fill, size_t len)
{
	struct cache_key k = key_of(ino);
	char *data = malloc(len);

	memset(data, fill, len);
	cache_put(c, &k, data, len);
	free(data);
}

static bool has(struct cache *c, uint64_t ino, char fill, size_t len)
{
	struct cache_key k = key_of(ino);
	struct cache_entry e;
	bool same;

	if (!cache_get(c, &k, &e))
		return false;
	same = e.len == len && e.data[0] == (uint8_t)fill && !memcmp(e.data, e.data + 1, len - 1);
	cache_entry_release(&e);
	return same;
}

TEST(cache_gives_back_what_was_put_and_only_for_that_file)
{
	struct cache *c = open_new(1 << 20);
	struct cache_key k = key_of(1), other;
	struct cache_entry e;
	size_t i;

	put(c, 1, 'a', LEN);
	CHECK(has(c, 1, 'a', LEN));
	put(c, 1, 'b', LEN + 1);
	CHECK(has(c, 1, 'b', LEN + 1));
	for (i = 0; i < sizeof(k) / sizeof(uint64_t); i++) {
		other = k;
		((uint64_t *)&other)[i] ^= 1;
		CHECK(!cache_get(c, &other, &e));
	}
	clean_up(c);
}

/* The entry's file is made by put(), then one thing about it is changed. */
static bool survives(struct cache *c, void (*harm)(const char *path))
{
	put(c, 1, 'a', LEN);
	harm(entry_path());
	return has(c, 1, 'a', LEN);
}

static void nothing(const char *path)
{
	(void)path;
}

static void overwrite(const char *path, off_t at)
{
	int fd = open(path, O_WRONLY);

	CHECK(pwrite(fd, "?", 1, at) == 1);
	close(fd);
}

static void last_byte(const char *path)
{
	struct stat st;

	CHECK(!stat(path, &st));
	overwrite(path, st.st_size - 1);
}

static void version(const char *path)
{
	overwrite(path, 8);
}

static void one_byte_less(const char *path)
{
	struct stat st;

	CHECK(!stat(path, &st) && !truncate(path, st.st_size - 1));
}

static void emptied(const char *path)
{
	CHECK(!truncate(path, 0));
}

static void readable_by_others(const char *path)
{
	CHECK(!chmod(path, 0644));
}

static void a_link(const char *path)
{
	char to[400];

	snprintf(to, sizeof(to), "%s.away", path);
	CHECK(!rename(path, to) && !symlink(to, path));
}

TEST(cache_entries_that_were_changed_are_not_used)
{
	struct cache *c = open_new(1 << 20);

	CHECK(survives(c, nothing));
	CHECK(!survives(c, last_byte));
	CHECK(!survives(c, version));
	CHECK(!survives(c, one_byte_less));
	CHECK(!survives(c, emptied));
	CHECK(!survives(c, readable_by_others));
	CHECK(survives(c, nothing));
	CHECK(!survives(c, a_link));
	clean_up(c);
}

static void give_away(const char *path)
{
	CHECK(!chown(path, 65534, 65534));
}

TEST(cache_entries_of_another_user_are_not_used)
{
	struct cache *c;

	if (geteuid())
		unit_skip("only root can give files away");
	c = open_new(1 << 20);
	CHECK(!survives(c, give_away));
	cache_close(c);
	CHECK(!chown(dir, 65534, 65534));
	c = cache_open_at(dir, 1 << 20);
	CHECK(!c);
	clean_up(c);
}

TEST(cache_folders_that_others_can_enter_are_not_used)
{
	char link[64];
	struct cache *c;

	CHECK(mkdtemp(dir));
	CHECK(!chmod(dir, 0755));
	CHECK(!cache_open_at(dir, 1 << 20));
	CHECK(!chmod(dir, 0770));
	CHECK(!cache_open_at(dir, 1 << 20));
	CHECK(!chmod(dir, 0700));
	snprintf(link, sizeof(link), "%s.link", dir);
	CHECK(!symlink(dir, link));
	CHECK(!cache_open_at(link, 1 << 20));
	unlink(link);
	c = cache_open_at(dir, 1 << 20);
	CHECK(c);
	clean_up(c);
}

/* Times of use are far apart, as days would be. */
static void used_at(struct cache *c, uint64_t ino, time_t sec)
{
	struct timespec t[2] = { { .tv_sec = sec }, { .tv_sec = sec } };

	put(c, ino, 'a', LEN);
	/* put() made one file more: the one that has no old time yet. */
	for (DIR *d = opendir(dir); d; closedir(d), d = NULL)
		for (struct dirent *e; (e = readdir(d));) {
			struct stat st;

			if (e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &st, 0) &&
			    st.st_mtime > 1000000)
				utimensat(dirfd(d), e->d_name, t, 0);
		}
}

TEST(cache_what_was_used_longest_ago_makes_room)
{
	struct cache *c = open_new(4 * (LEN + 200));
	uint64_t bytes, ino;

	for (ino = 1; ino <= 3; ino++)
		used_at(c, ino, 1000 * ino);
	CHECK(has(c, 1, 'a', LEN));	/* which makes it the youngest */
	put(c, 4, 'a', LEN);
	put(c, 5, 'a', LEN);
	CHECK(has(c, 1, 'a', LEN) && !has(c, 2, 'a', LEN) && has(c, 4, 'a', LEN) && has(c, 5, 'a', LEN));
	put(c, 6, 'a', 5 * LEN);	/* larger than all may be */
	CHECK(!has(c, 6, 'a', 5 * LEN));
	CHECK(nr_entries(&bytes) <= 4 && bytes <= 4 * (LEN + 200));
	clean_up(c);
}

static size_t lines_at(struct cache *c, uint64_t off, struct srcline *l, size_t max, struct symfile **f)
{
	struct err e;

	CHECK_U64(symfile_open(f, "", unit_source("t/fuzz/corpus/elf/tiny-dwarf4-z.so"), NULL, 0, &e), 0);
	symfile_set_cache(*f, c);
	return symfile_lines(*f, off, l, max);
}

TEST(cache_lines_of_a_compressed_file_are_the_same_from_it)
{
	struct cache *c = open_new(1 << 20);
	struct srcline l[8];
	struct symfile *f;
	uint64_t bytes;
	int turn;

	for (turn = 0; turn < 3; turn++) {
		CHECK_U64(nr_entries(&bytes), turn ? 1 : 0);
		CHECK_U64(lines_at(c, 0x330, l, 8, &f), 3);
		CHECK_STR(l[0].func, "twice");
		CHECK_STR(l[1].func, "more");
		CHECK_STR(l[2].file, "/src/tiny.c");
		CHECK_U64(l[2].line, 4);
		symfile_close(f);
		if (turn == 1)	/* what is damaged is made again */
			last_byte(entry_path());
	}
	clean_up(c);
}
