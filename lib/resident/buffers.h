/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffers.h - how many direct buffers of Java a HotSpot JVM has, as its class java.nio.Bits counts them: read
 * from its memory, without its knowing. What is read may be anything, and changes meanwhile.
 */
#ifndef RESIDENT_BUFFERS_H
#define RESIDENT_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "resident/smaps.h"

struct buffers {
	uint64_t nr, bytes;		/* bytes: resident or swapped out, as they were filled with zeros */
	char why[96];			/* why that is not known, "": it is */
};

/*
 * Read the buffers; vm: what the JVM calls itself (hotspot_version()), which names its collector and how it
 * compresses.
 */
void buffers_read(int pid, const struct smaps *s, const char *vm, struct buffers *b);

/*
 * Find the offset of the field whose name has this number among the constants of its class, in the stream
 * that HotSpot uses for fields since JDK 21. Returns false if it is missing.
 */
bool buffers_field_in_stream(const uint8_t *stream, size_t len, bool (*is_it)(void *ctx, uint32_t name),
			     void *ctx, uint32_t *offset);

#endif
