/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - decodes what an agent wrote (proto.h). All of it is hostile input: every length
 * is checked against the record, nothing outside it is read.
 */
#ifndef JVM_WIRE_H
#define JVM_WIRE_H

#include <sys/types.h>

#include "jvm/server.h"

/* Where decoded records go; the pointers in them are good for the call. */
struct wire_sink {
	void (*sample)(void *ctx, const struct jvm_sample *s);
	void (*method)(void *ctx, const struct jvm_method *m);
	/*
	 * Right after its method: the line table as struct rec_method_lines has it, whole pairs. May be NULL.
	 */
	void (*lines)(void *ctx, uint32_t method, const uint8_t *table, size_t len);
	void (*code)(void *ctx, const struct jvm_code *c);
	void (*code_gone)(void *ctx, uint64_t time_ns, uint32_t compile_id, uint64_t addr);
	void (*stub)(void *ctx, uint64_t time_ns, uint64_t addr, uint64_t size, const char *name);
	void (*thread)(void *ctx, uint64_t time_ns, uint32_t tid, uint64_t vthread, const char *name);
	void (*refused)(void *ctx, const struct jvm_refused *r);
	void (*bracket)(void *ctx, uint64_t time_ns, uint32_t tid, uint32_t method);
	void *ctx;
};

/* Room for the largest sample; reused from record to record. */
struct wire_scratch {
	struct jvm_frame frames[JVM_MAX_DEPTH + 8];
	struct jvm_segment segments[JVM_MAX_SEGMENTS];
	char text[4][JVM_MAX_STRING + 1];
};

/*
 * One record of len bytes, header included and equal to it; 8-aligned. Unknown types are
 * skipped (0). -EILSEQ: it contradicts itself, nothing was reported.
 */
int wire_record(const void *rec, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		struct err *e);
/*
 * As many whole records as there are in data; returns the bytes used. Stops before one that
 * is incomplete. -EILSEQ as above: the stream cannot be continued.
 */
ssize_t wire_records(const void *data, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		     struct err *e);

#endif
