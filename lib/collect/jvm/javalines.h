/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * javalines.h - line tables of a JVM's methods: kept as the agent sends them, and written to the trace
 * for the methods that samples hit, whatever they were inlined into.
 *
 * What code has inlined is kept for what is in the code cache and was not hit yet.
 */
#ifndef COLLECT_JAVALINES_H
#define COLLECT_JAVALINES_H

#include "base/hash.h"
#include "base/mem.h"
#include "jvm/server.h"
#include "trace/writer.h"

struct javalines {
	struct arena mem;
	struct map of_method;		/* number -> index */
	struct method_lines {
		uint32_t method;
		bool hit, written;
		const uint8_t *table;	/* as struct rec_method_lines has it; NULL: none yet */
		size_t len;
	} *methods;
	size_t nr_methods, alloc_methods;
	struct map of_addr, of_compile;	/* -> index */
	struct code_inlines {
		uint64_t addr;
		uint32_t compile_id;
		bool hit;
		uint8_t *inl;		/* NULL: it is gone, or its methods are marked already */
		size_t len;
	} *codes;
	size_t nr_codes, alloc_codes;
};

void javalines_release(struct javalines *l);
void javalines_method(struct javalines *l, uint32_t method, const uint8_t *table, size_t len);
void javalines_code(struct javalines *l, const struct jvm_code *c);
void javalines_code_gone(struct javalines *l, uint64_t addr);
/* Note a frame of this JVM in a sample, FRAME_JIT or FRAME_INTERP. */
void javalines_hit(struct javalines *l, const struct frame *f);
/* Write the lines of methods that were hit, each once. */
void javalines_write(struct javalines *l, uint32_t proc, uint64_t time_ns, struct trace_writer *w);

#endif
