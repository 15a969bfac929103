/* SPDX-License-Identifier: MIT */
/*
 * hashes.h - numbers of names that are sent to the recorder once: a growing hash from names to a number each.
 *
 * Of the names only 128 bits of hash are kept: that two names of a program agree in them is less likely
 * than a fault of its memory. Not for signal handlers; the caller has a lock.
 */
#ifndef AGENT_HASHES_H
#define AGENT_HASHES_H

#include <stddef.h>
#include <stdint.h>

struct hashes {
	struct hashes_entry *entries;
	size_t nr, alloc;		/* alloc: a power of two */
};

/* A key made of several texts, one after the other; the first fills h. */
struct hashes_key {
	uint64_t h[2];
};
#define HASHES_KEY { { 0xcbf29ce484222325ull, 0xcbf29ce484222325ull } }
void hashes_text(struct hashes_key *k, const char *s, size_t len);

/* The number of the key, 0 where it has none yet, to be set; NULL: out of memory. */
uint32_t *hashes_put(struct hashes *t, const struct hashes_key *k);
/* Return the number of a name, or 0 if it has none. */
uint32_t hashes_get(const struct hashes *t, const struct hashes_key *k);
/* Empties it, and gives its memory back. */
void hashes_forget(struct hashes *t);

#endif
