/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the file that the agent of a JVM writes by itself, where no recorder can be started beside the
 * JVM: what it would have sent to a recorder (proto.h), in chunks one after the other, each with its time.
 *
 * A struct journal_header in the first page says what was asked for, and at the end what was lost; then
 * there are chunks, each a struct journal_chunk and its data, up to a multiple of 8 bytes. All before the
 * end of the last whole chunk is good, also of a JVM that was killed. Integers are those of the machine.
 *
 * What is in a chunk may refer to what was in the chunks before it, back to the last one that is
 * JOURNAL_FRESH. With JOURNAL_LZ the data are 4 bytes, how many they are unpacked, then sequences:
 *	a byte, with how many literals in its upper half, and n in its lower one
 *	for each half that is 15, a varint with what is beyond that
 *	the literals
 *	if n is not 0, a varint: from so far back n + JOURNAL_LZ_LEAST - 1 bytes are the same
 * What is back is the data of this chunk and, before these, of all chunks since the fresh one.
 *
 * JOURNAL_ITEMS are records, with what they have in common written once. An item is a byte, enum
 * journal_item, and
 *	PLAIN	the record
 *	DELTA	a byte with the type of a record, which is as long as the last of that type in the chunk;
 *		then for each 8 bytes behind its header a byte with the bits of those that differ, and these
 *	NODE	a level of a stack, which gets the next number, the first 1: a varint, how far back the
 *		number of the level that called it is, and a byte, its kind. If that is not JVM_NATIVE,
 *		varints: the difference to the pc of the node before, as zigzag, and both numbers of
 *		struct jvm_rec_frame
 *	SEGMENT	a struct jvm_rec_segment with its stack up to a multiple of 8 bytes, which gets the next
 *		number
 *	SAMPLE	a byte, enum journal_sample, then varints: flags, event, the difference to the time of the
 *		last sample in the chunk, as zigzag, how far back from the last its innermost level is, and
 *		of tid, vthread, value, leaf and id those that are there. For each native stretch, innermost
 *		first, one more than how far back its segment is, or 0 and the segment itself
 *
 * Readers trust nothing in here: jvm/journal_read.h.
 */
#ifndef JVM_JOURNAL_H
#define JVM_JOURNAL_H

#include <stdint.h>

#include "jvm/proto.h"

#define JOURNAL_MAGIC 0x4a464f5250435241ull	/* "ARCPROFJ" */
#define JOURNAL_VERSION 2
#define JOURNAL_HEADER_BYTES 4096u
#define JOURNAL_MAX_CHUNK (16u << 20)		/* bytes with its header */

enum journal_kind {
	JOURNAL_RECORDS = 1,	/* of proto.h, without stamps */
	JOURNAL_VM_LOG,		/* what the VM logs of itself (vmlog.h), in pieces */
	JOURNAL_MAPS,		/* lines of /proc/PID/maps: of code, all that there are at that time */
	JOURNAL_THREADS,	/* struct journal_thread, as many as fit */
	JOURNAL_ITEMS,		/* records of rings, packed */
};

enum journal_flags {		/* with a kind */
	JOURNAL_LZ = 1 << 8,	/* the data are compressed */
	JOURNAL_FRESH = 1 << 9,	/* nothing refers to what was before */
};

enum journal_item {
	JOURNAL_PLAIN,
	JOURNAL_DELTA,
	JOURNAL_NODE,
	JOURNAL_SEGMENT,
	JOURNAL_SAMPLE,
};

enum journal_sample {		/* what it has; a tid that is not there is the last sample's */
	JOURNAL_TID = 1 << 0,
	JOURNAL_VTHREAD = 1 << 1,
	JOURNAL_VALUE = 1 << 2,
	JOURNAL_LEAF = 1 << 3,
	JOURNAL_ID = 1 << 4,
};

/* Limits of the state that a reader keeps: a writer begins afresh before it exceeds them. */
enum {
	JOURNAL_LZ_BACK = 256 << 10,	/* bytes that a match goes back at most */
	JOURNAL_LZ_LEAST = 5,		/* bytes that match */
	JOURNAL_LZ_RATIO = 255,		/* a chunk unpacked has at most so many times its bytes */
	JOURNAL_NODES = 1 << 17,
	JOURNAL_SEGMENTS = 1 << 12,
	JOURNAL_SEGMENT_BYTES = 16 << 20,
	JOURNAL_DELTA_MOST = 256,	/* bytes of a record that is stored as differences */
	JOURNAL_EXPANDS = 1 << 14,	/* records of a chunk of items have at most so many times its bytes */
};

struct journal_chunk {
	uint32_t len;		/* with this, without what fills it up to 8 bytes */
	uint32_t kind;		/* enum journal_kind, of others nothing is known; and enum journal_flags */
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
	uint64_t left_out;		/* as jvm_ctl has both */
	uint32_t rate, pad;
	char name[16];			/* of the process, terminated */
	char host[65], release[65], machine[65];	/* as uname() has them, terminated */
	char command[1024];		/* arguments of the process, terminated, with blanks in between */
	/* of the text of HPROF that is to be made of it: options were given; frames, 0: not said */
	uint8_t hprof, hprof_threads;
	uint32_t hprof_depth;
};

_Static_assert(sizeof(struct journal_header) <= JOURNAL_HEADER_BYTES, "it has one page");

#endif
