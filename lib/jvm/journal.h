/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the file that the agent of a JVM writes by itself, where no recorder can be started beside the
 * JVM: what it would have told a recorder (proto.h), in chunks one after the other, each with its time.
 *
 * A struct journal_header in the first page says what was asked for, and at the end what was lost; then
 * there are chunks, each a struct journal_chunk and its data, up to a multiple of 8 bytes. All before the
 * end of the last whole chunk is good, also of a JVM that was killed. Integers are those of the machine.
 *
 * Readers trust nothing in here: jvm/journal_read.h.
 */
#ifndef JVM_JOURNAL_H
#define JVM_JOURNAL_H

#include <stdint.h>

#include "jvm/proto.h"

#define JOURNAL_MAGIC 0x4a464f5250435241ull	/* "ARCPROFJ" */
#define JOURNAL_VERSION 1
#define JOURNAL_HEADER_BYTES 4096u
#define JOURNAL_MAX_CHUNK (16u << 20)		/* bytes with its header */

enum journal_kind {
	JOURNAL_RECORDS = 1,	/* of proto.h, without stamps */
	JOURNAL_VM_LOG,		/* what the VM logs of itself (vmlog.h), in pieces */
	JOURNAL_MAPS,		/* lines of /proc/PID/maps: of code, all that there are at that time */
	JOURNAL_THREADS,	/* struct journal_thread, as many as fit */
};

struct journal_chunk {
	uint32_t len;		/* with this, without what fills it up to 8 bytes */
	uint32_t kind;		/* enum journal_kind; of others nothing is known */
	uint64_t time_ns;	/* CLOCK_MONOTONIC when it was written: all in it happened before */
};

struct journal_thread {
	uint32_t tid;
	char name[16];		/* as the kernel has it, terminated */
};

struct journal_header {
	uint64_t magic;
	uint32_t version, proto;	/* JOURNAL_VERSION, JVM_PROTO_VERSION */
	uint32_t pid;			/* as the JVM sees it */
	uint32_t nr_cpus;
	/* CLOCK_MONOTONIC, CLOCK_REALTIME and the CPU's counter when it began, and ended; 0: it did not */
	uint64_t start_ns, start_real_ns, start_tsc;
	uint64_t end_ns, end_real_ns, end_tsc;
	uint64_t lost;			/* records */
	uint32_t error;			/* errno of the first write that failed; 0: none did */
	uint32_t full;			/* it reached its limit */
	/* As jvm_ctl has them. */
	uint64_t sources, intervals[JVM_MAX_SOURCES], tell;
	uint64_t timer_ns;		/* CPU time between two samples of a thread; 0: none are taken */
	uint64_t code_lo, code_hi;	/* bounds of the VM's code; 0: not known */
	uint64_t nr_traps, trap_ns;
	char name[16];			/* of the process, terminated */
	char host[65], release[65], machine[65];	/* as uname() has them, terminated */
	char command[1024];		/* arguments of the process, terminated, with blanks in between */
	/* of the text of HPROF that is to be made of it: options were given; frames, 0: not said */
	uint8_t hprof, hprof_threads;
	uint32_t hprof_depth;
};

_Static_assert(sizeof(struct journal_header) <= JOURNAL_HEADER_BYTES, "it has one page");

#endif
