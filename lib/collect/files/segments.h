/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.h - "record --segment": when a file of a recording is closed and the next begun (rotate.h), how
 * they are named, and which are removed. Documentation/technical/segments.adoc.
 */
#ifndef COLLECT_SEGMENTS_H
#define COLLECT_SEGMENTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct collect;

/* Open and lock the folder, and set the writer's options, if there are segments. */
int segments_open(struct collect *c, struct err *e);
/* Must be called after the writer was closed. */
void segments_close(struct collect *c);
/* Return the folder; NULL: there is one file. */
const char *segments_folder(const struct collect *c);
/* Note that sampling begins. */
void segments_begin(struct collect *c, uint64_t now_ns);
/* Write for how long the folder had no recorder, once the trace is open. */
void segments_label(const struct collect *c);
/* Names what was hit, now and then, so that little is left for a change; and changes when it is due. */
void segments_turn(struct collect *c, uint64_t now_ns);
/* Return when the next turn must be, at the latest; turn_ns: what others want, 0 for nothing. */
uint64_t segments_turn_ns(const struct collect *c, uint64_t turn_ns);
/* Changes now, between two turns of the loop. */
void segments_change(struct collect *c, uint64_t now_ns);
/* Have the next turn close the current file; no effect where there is one file. */
void segments_end_early(struct collect *c, uint64_t now_ns);
/* Return whether there is room for another file. */
bool segments_has_room(const struct collect *c);
/*
 * Rename a folder of segments that an earlier recorder has left to path.old, and remove the segments in one
 * of that name. -EBUSY: a recorder writes there.
 */
int segments_set_aside(const char *path, struct err *e);
/* Return whether to wait for room, after the file could not be written. */
bool segments_wait(struct collect *c);

/*
 * keep.c: which files of a recording stay in a folder: "--keep", of segments and of dumps. Their age is in
 * their names; what is not named so, or is no such file by its content, is somebody else's and stays.
 */

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
