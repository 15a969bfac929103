/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfdata.h - what a HotSpot JVM says of itself in its performance data, the file hsperfdata_USER/PID. */
#ifndef JVM_PERFDATA_H
#define JVM_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/*
 * Appends the file, which must be owner's, to *data; maps is the text of /proc/PID/maps, which names
 * it.  0, or -1: there is none that may be read.
 */
int perfdata_read(int pid, uid_t owner, const char *maps, struct buf *data);

/* Return whether the JVM can be attached to; true also if that is not known. */
bool perfdata_allows_attach(const void *data, size_t len);

/* Appends the value of that name, which is a text; false: there is none. */
bool perfdata_text(const void *data, size_t len, const char *name, struct buf *text);

struct perfdata_heap {
	uint64_t used, committed;	/* bytes, as of the last garbage collection */
};

/* Read the heap's sizes; return false if there are none. */
bool perfdata_heap(const void *data, size_t len, struct perfdata_heap *heap);

#endif
