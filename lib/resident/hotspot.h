/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotspot.h - what a HotSpot JVM says of its memory, in the words of its diagnostic commands. All of it is
 * the JVM's word, and no line of it need be there: what is not said is not known.
 */
#ifndef RESIDENT_HOTSPOT_H
#define RESIDENT_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "resident/claims.h"
#include "resident/smaps.h"

struct hotspot_category {
	char name[32];			/* as the JVM calls it: "Java Heap" */
	uint64_t malloc, mapped;	/* bytes that it has of each, arenas with malloc; mapped: committed */
};

/* The JVM's native memory tracking. */
struct hotspot_nmt {
	struct hotspot_category items[64];
	size_t nr;			/* 0: it is off */
};

/* Read the answer to VM.info: heap, code, classes, tables of the garbage collector. */
void hotspot_info(const char *text, struct claims *c);
/*
 * Copy version and collector from the same text, for display: "OpenJDK 64-Bit Server VM (17.0.15 ...". "":
 * missing.
 */
void hotspot_version(const char *text, char *to, size_t bytes);
/* Read the answer to "VM.metaspace vslist". */
void hotspot_metaspace(const char *text, struct claims *c);
/* Read the answer to "VM.native_memory detail": where the JVM has mapped what. */
void hotspot_regions(const char *text, struct claims *c);
/* Read the answer to System.map (JDK 24 on): whose each mapping is, if native memory tracking is on. */
void hotspot_map(const char *text, struct claims *c);
/* Read the answer to VM.native_memory. */
void hotspot_nmt(const char *text, struct hotspot_nmt *n);

/* Have a JVM execute a diagnostic command, and append its output. */
int hotspot_ask(int pid, const char *command, uint64_t patience_ns, struct buf *reply, struct err *e);

/*
 * buffers.c: how many direct buffers of Java a JVM has, as its class java.nio.Bits counts them: read
 * from its memory, without its knowing. What is read may be anything, and changes meanwhile.
 */
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
