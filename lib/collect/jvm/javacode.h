/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * javacode.h - the machine code of a JVM's compiled methods that samples were in, read from the JVM when the
 * first of them is seen, and written to the trace: later the JVM may be gone, or the code another.
 */
#ifndef COLLECT_JAVACODE_H
#define COLLECT_JAVACODE_H

#include "base/hash.h"
#include "jvm/server.h"
#include "trace/writer.h"

enum {
	JAVACODE_METHOD_MAX = 64 << 10,	/* bytes of one method */
	JAVACODE_TRACE_MAX = 16 << 20,	/* of all in a trace */
};

struct javacode {
	struct map of_compile, of_addr;	/* compile id, address -> index */
	struct compiled {
		uint64_t addr;
		uint32_t size;		/* 0: it was hit before its record came, or is gone */
		bool hit, kept;
	} *codes;
	size_t nr_codes, alloc_codes;
};

/* The trace that code of a JVM is written to. */
struct javacode_to {
	struct trace_writer *w;
	uint64_t *nr_left;		/* bytes that the trace still takes */
	uint32_t proc;			/* its number in the trace */
	int pid;
};

void javacode_release(struct javacode *j);
/* Add code at an address; it is read at once if samples were in it before. */
void javacode_add(struct javacode *j, const struct jvm_code *c, const struct javacode_to *to);
/* Note that the code at that address is gone. */
void javacode_gone(struct javacode *j, uint64_t addr);
/* Note that a sample's innermost frame is in it. */
void javacode_hit(struct javacode *j, uint32_t compile_id, const struct javacode_to *to);

#endif
