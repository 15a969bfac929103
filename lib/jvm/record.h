/* SPDX-License-Identifier: MIT */
/*
 * record.h - what an agent says, one struct a kind of record: the agent fills it, the recorder gets
 * the same from the decoder. table.h says what bytes they are. Samples are not here: the
 * agent writes them where they go, and server.h has what becomes of them.
 *
 * Every struct begins with time_ns, CLOCK_MONOTONIC. Texts are bytes of the VM that need no
 * terminator; decoded they have one, and their length is that up to the first 0.
 */
#ifndef JVM_RECORD_H
#define JVM_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct jvm_method {
	uint64_t time_ns;
	uint32_t method;	/* its number, never 0 */
	const char *class_name;	/* java/lang/String */
	const char *name, *sig;
	const char *source;	/* file name or "" */
	uint32_t class_len, name_len, sig_len, source_len;
	/* As struct rec_method_lines (trace/record.h) has it; at most JVM_MAX_LINES bytes. */
	const uint8_t *lines;
	uint32_t lines_len;
};

/* Of size 1 it is a place: not all of the code, but an address in it that a sample has. */
struct jvm_code {
	uint64_t time_ns, addr;
	uint32_t size, method, compile_id, level;
	uint64_t begin;		/* of all of it, */
	uint32_t whole;		/* and its size; 0: not known */
	const uint8_t *inl;	/* as struct rec_code has it */
	uint32_t inl_len;
};

struct jvm_code_gone {
	uint64_t time_ns, addr;
	uint32_t compile_id;	/* 0: not known any more */
};

struct jvm_stub {
	uint64_t time_ns, addr, size;
	const char *name;
	uint32_t name_len;
};

struct jvm_thread {
	uint64_t time_ns;
	uint32_t thread;	/* tid; 0 of a virtual thread */
	uint64_t vthread;	/* the name is that of this virtual thread; 0: of the kernel thread */
	const char *name;
	uint32_t name_len;
};

/* A method, or with an empty name a class, that was to be instrumented and is not. */
struct jvm_refused {
	uint64_t time_ns;
	const char *class_name, *name, *sig, *why;
	uint32_t class_len, name_len, sig_len, why_len;
};

/* What the thread executes from now on is traced, as part of a call of the method. */
struct jvm_bracket {
	uint64_t time_ns;
	uint32_t thread;	/* tid */
	uint32_t method;
};

/* What samples of a source end in: a class, a reason. Told once, perhaps after the first such sample. */
struct jvm_leaf {
	uint64_t time_ns;
	uint32_t leaf;		/* its number, never 0 */
	uint32_t kind;		/* enum jvm_leaf_kind */
	const char *name;
	uint32_t name_len;
};

/* A source that was asked for, and of which this JVM has no samples. */
struct jvm_no_source {
	uint64_t time_ns;
	uint32_t source;	/* enum jvm_source */
	const char *why;
	uint32_t why_len;
};

/* Any record; the members have the names of their structs. */
union jvm_record {
#define RECORD(s, ...) struct jvm_##s s;
#include "jvm/table.h"
};

#endif
