/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment.h - whether a file is one of several of a recording, and whether it is complete. */
#ifndef TRACE_SEGMENT_H
#define TRACE_SEGMENT_H

#include <stdbool.h>

/* name: in the folder dir, no link, and a regular file that begins as a segment does. */
bool segment_is_one(int dir, const char *name);
/* The same for a trace that is not a segment, such as a dump, which is joined from segments. */
bool segment_is_dump(int dir, const char *name);
/* Return whether the trace at path was closed in order, so that no recorder writes to it any more. */
bool segment_is_closed(const char *path);

#endif
