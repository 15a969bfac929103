/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.h - "record --segment": when a file of a recording is closed and the next begun (rotate.h), how
 * they are named, and which are removed. Documentation/technical/segments.adoc.
 */
#ifndef COLLECT_SEGMENTS_H
#define COLLECT_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct collect;

/* With segments: opens and locks the folder, and sets the writer's options. */
int segments_open(struct collect *c, struct err *e);
/* After the writer was closed. */
void segments_close(struct collect *c);
/* Return the folder; NULL: there is one file. */
const char *segments_folder(const struct collect *c);
/* Sampling begins. */
void segments_begin(struct collect *c, uint64_t now_ns);
/* Write for how long the folder had no recorder, once the trace is open. */
void segments_label(const struct collect *c);
/* Names what was hit, now and then, so that little is left for a change; and changes when it is due. */
void segments_turn(struct collect *c, uint64_t now_ns);
/* When the next turn is to be, at the latest; turn_ns: what others want, 0 nothing. */
uint64_t segments_turn_ns(const struct collect *c, uint64_t turn_ns);
/* Changes now, between two turns of the loop. */
void segments_change(struct collect *c, uint64_t now_ns);
/* Return whether there is room for another file. */
bool segments_has_room(const struct collect *c);
/*
 * A folder of segments that an earlier recorder has left gets the name path.old, and segments in one of
 * that name are removed. -EBUSY: a recorder writes there.
 */
int segments_set_aside(const char *path, struct err *e);
/* The file cannot be written: true when it is waited for room. */
bool segments_wait(struct collect *c);

#endif
