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

#endif
