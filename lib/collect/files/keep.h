/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.h - which files of a recording stay in a folder: "--keep", of segments and of dumps. Their age is in
 * their names; what is not named so, or is no such file by its content, is somebody else's and stays.
 */
#ifndef COLLECT_KEEP_H
#define COLLECT_KEEP_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name is prefix, time, what middle() takes, suffix: "arcprof-2026-11-23T04.05.06Z-gc.data". */
struct keep {
	const char *prefix, *suffix;
	bool (*middle)(const char *s, size_t len);
	bool (*is_one)(int dir, const char *name);	/* by its content */
	uint64_t max_bytes;		/* of all that stay; 0: any */
	uint64_t max_age_ns;		/* since each was closed; 0: any */
};

/* Adds to name, which has room for size bytes, the time that keep_is_name() looks for, in UTC. */
void keep_put_time(char *name, size_t size, uint64_t real_ns);
/* Open a folder again, to read it from its beginning; NULL on failure. */
DIR *keep_open_folder(int dir);
bool keep_is_name(const struct keep *k, const char *name);
/*
 * Removes the oldest of the files in dir that are beyond the limits; never the one named newest. Names that
 * are later than now are from before the clock was set back: they count as the oldest.
 */
void keep_remove(const struct keep *k, int dir, const char *newest);

#endif
