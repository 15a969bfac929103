/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - what was found out about a file on disk, kept for the next recording of this user.
 *
 * An entry belongs to exactly one file: device, inode, size, times and build-id are its key, so
 * that a file that somebody else made with the build-id of another one is not taken for it.  The folder
 * is /var/cache/arcprof for root, else $XDG_CACHE_HOME/arcprof or ~/.cache/arcprof; it and its files
 * are used only while they belong to this user and nobody else may read or write them, and
 * an entry only while version, key, length and checksum are right.  All of it can be removed at any time.
 *
 * Nothing here fails loudly: without a cache everything is worked out again.
 */
#ifndef SYM_CACHE_H
#define SYM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_BYTES_MAX (512ull << 20)	/* all entries */
#define CACHE_ENTRY_MAX (128ull << 20)

struct cache;

/* what an entry holds; a changed layout gets a new number */
enum cache_kind {
	CACHE_DEBUG_SECTIONS = 1,	/* unpacked.h */
	CACHE_SYMBOLS,			/* symtab_cache.c */
	CACHE_UNITS,			/* lines.c: the ranges of compilation units */
	CACHE_KERNEL,			/* kallsyms_cache.c; its key has the boot instead of a file */
};

struct cache_key {
	uint64_t kind;			/* enum cache_kind */
	uint64_t dev, ino, size, mtime_ns, ctime_ns;
	uint8_t build_id[64];
};

struct cache_entry {
	const uint8_t *data;		/* aligned to 8 bytes; NULL: none */
	size_t len;
	void *map;
	size_t map_len;
};

/* Open the cache; NULL: there is no directory that only this user can write. */
struct cache *cache_open(void);
/* Do the same in this folder, which is made if its parent exists. max_bytes bounds all entries. */
struct cache *cache_open_at(const char *dir, uint64_t max_bytes);
void cache_close(struct cache *c);

/* Make the key for what is derived from the regular file fd; return false for another file. */
bool cache_key_of(struct cache_key *k, enum cache_kind kind, int fd, const uint8_t *build_id, size_t id_len);
/* Get an entry; return false if it is not there, or not as it was put. c may be NULL. */
bool cache_get(struct cache *c, const struct cache_key *k, struct cache_entry *e);
void cache_entry_release(struct cache_entry *e);
/* Replaces an older entry of k; the entries used longest ago make room. c may be NULL. */
void cache_put(struct cache *c, const struct cache_key *k, const void *data, size_t len);

#endif
