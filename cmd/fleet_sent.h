/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_sent.h - which files of a folder were put into the spool: they need not be read again. What is
 * written here is at most too little: a recording that is sent twice has the same number, and the server has
 * it.
 */
#ifndef CMD_FLEET_SENT_H
#define CMD_FLEET_SENT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"

struct sent {
	char *path;			/* the file "sent" of the spool */
	uint64_t server;		/* hash of its URL and of what it gets */
	/* A line each: hash of server and folder, hash of server and file. */
	struct sent_file {
		uint64_t folder, file;
	} *items;
	size_t nr_items, alloc_items;
	struct map known;		/* file -> 1 */
};

/* A file that cannot be read is as one that says nothing. */
void sent_open(struct sent *s, const char *spool, const char *url, bool otlp);
/* Get the key of the file at path, as it is now; return false if it cannot be read. */
bool sent_key(const struct sent *s, const char *path, uint64_t *key);
bool sent_has(const struct sent *s, uint64_t key);
/* Note that it is in the spool. */
int sent_add(struct sent *s, const char *folder, uint64_t key, struct err *e);
/* Forget all files of a folder except these: the others are gone. */
int sent_keep(struct sent *s, const char *folder, const struct map *keys, struct err *e);
void sent_close(struct sent *s);

#endif
