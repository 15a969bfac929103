/* SPDX-License-Identifier: MIT */
/*
 * record.h - what an agent says, one struct a kind of record: the agent fills it, the recorder gets the same
 * from the decoder. They are made of table.h, which explains their members and says what bytes they are.
 * Samples are not here: the agent writes them where they go, and server.h has what becomes of them.
 *
 * Every struct begins with time_ns, CLOCK_MONOTONIC. Texts are bytes of the VM that need no
 * terminator; decoded they have one, and their length is that up to the first 0.
 */
#ifndef JVM_RECORD_H
#define JVM_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* The name of threads that the agent made, as records of the trace have it (OWN_NAME in trace/record.h). */
#define JVM_OWN_THREAD "[arcprof]"

/* A picture of threads has these (dump_begin in table.h). */
enum jvm_dump_flags {
	JVM_DUMP_ATOMIC = 1 << 0,	/* all of it is of one moment; else each thread is of its own */
	JVM_DUMP_STUCK = 1 << 1,	/* only threads that have waited for a lock for some time */
	/* virtual threads that wait may be missing: jdk.trackAllThreads is off */
	JVM_DUMP_UNTRACKED = 1 << 2,
};

enum jvm_dump_thread_flags {
	JVM_DUMP_VIRTUAL = 1 << 0,
	JVM_DUMP_DAEMON = 1 << 1,
};

/* The line of a native method. */
#define JVM_DUMP_NATIVE 0xffffffffu

/* The part of a thread in a lock: it enters, waits or owns it. */
enum jvm_dump_role {
	JVM_DUMP_ENTERS = 1,	/* waits to enter its monitor */
	JVM_DUMP_WAITS,		/* is in its wait() */
	JVM_DUMP_PARKS,		/* is parked by it */
	JVM_DUMP_HOLDS,		/* holds its monitor */
	JVM_DUMP_NR_ROLES
};

/* struct jvm_method, struct jvm_code and so on. */
#define TYPE_u32 uint32_t
#define TYPE_u64 uint64_t
#define FIELD(type, m) TYPE_##type m;
#define ELEMENT(type, m)
#define MEMBER(type, m) type m;
#define TEXT(m, l) \
	const char *m; \
	uint32_t l;
#define BYTES(m, l) \
	const uint8_t *m; \
	uint32_t l;
#define RECORD(s, to, fields) struct jvm_##s { uint64_t time_ns; fields };
#include "jvm/table.h"
#undef TYPE_u32
#undef TYPE_u64

/* Any record; the members have the names of their structs. */
union jvm_record {
#define RECORD(s, ...) struct jvm_##s s;
#include "jvm/table.h"
};

#endif
