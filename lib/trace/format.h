/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - the bytes of a trace, as arcprof-trace(5) documents them.  Little-endian.
 *
 * A file header, then chunks until the end of the file.  The payload of every chunk is a
 * sequence of records.  Only lib/trace and its tests include this.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define TRF_MAGIC "\x89" "Arc\r\n\x1a\n"	/* as PNG's: shows a transfer in text mode */
#define TRF_CHUNK_MAGIC "\xf5" "ChUnK\r\n"	/* a reader searches for it after damage */

enum {
	TRF_VERSION = 1,
	TRF_MAX_RAW = 4 << 20,		/* payload of a chunk, before compression */
	TRF_MAX_RECORD = 2 << 20,
	TRF_MAX_DEPTH = 1 << 17,		/* frames of one stack */
	TRF_MAX_FRAMES = 1 << 22,	/* of one epoch */
	TRF_MAX_NODES = 1 << 24,	/* of one epoch */
};

enum trf_header_flags {
	TRF_SEGMENT = 1 << 0,		/* one of several files of a recording, in a folder of its own */
};

struct trf_header {
	uint8_t magic[8];
	uint16_t version;
	uint16_t header_size;		/* where the first chunk begins */
	uint32_t flags;			/* enum trf_header_flags; a reader ignores others */
	uint32_t mode;			/* enum trace_mode */
	uint32_t reserved0;
	uint64_t start_real_ns;		/* CLOCK_REALTIME and CLOCK_MONOTONIC, read together */
	uint64_t start_mono_ns;
	uint64_t reserved1[2];
	uint32_t reserved2;
	uint32_t crc;			/* CRC-32 of the bytes before */
};

static_assert(sizeof(struct trf_header) == 64, "file header");
static_assert(offsetof(struct trf_header, start_real_ns) == 24, "file header");
static_assert(offsetof(struct trf_header, crc) == 60, "file header");

/* A type whose first letter is upper-case must be understood; a lower-case one may be skipped. */
#define TRF_SCHEMA "schm"	/* what the records mean */
#define TRF_META "Meta"		/* everything but samples and stacks */
#define TRF_STACKS "Stak"	/* stacks of an epoch, before the samples that refer to them */
#define TRF_SAMPLES "Samp"
#define TRF_BRANCHES "Brch"	/* an instruction trace */
#define TRF_CALLS "Call"	/* exact call trees */
#define TRF_SCHED "schd"	/* dispatches and interrupts */
#define TRF_INDEX "indx"	/* where chunks are */
#define TRF_END "done"		/* the recording was closed in order */

/* A label whose name begins with this holds the part of that label's number that belongs to such samples. */
#define TRF_STANDING_LABEL "standing."

/* The value of the label "account.cpu_ns" in a file without an account that continues one with an account. */
#define ACCOUNT_NONE "none"

enum trf_chunk_flags {
	TRF_ZLIB = 1 << 0,		/* the payload is one zlib stream */
	/*
	 * The decompressed bytes are columns: byte 0 of every row of "stride" bytes, byte 1 of every
	 * row, ..., then the rest after the last whole row, unchanged.
	 */
	TRF_TRANSPOSED = 1 << 1,
	/*
	 * The samples are of objects alive when the file ends, which is one of several of a recording:
	 * the next file has them again as long as they live.
	 */
	TRF_STANDING = 1 << 2,
	TRF_KNOWN_FLAGS = TRF_ZLIB | TRF_TRANSPOSED | TRF_STANDING,
	TRF_MAX_STRIDE = 256,
};

struct trf_chunk {
	uint8_t magic[8];
	uint8_t type[4];
	uint32_t flags;
	uint32_t stored_len;		/* bytes that follow this header */
	uint32_t raw_len;		/* the same, decompressed; at most TRF_MAX_RAW */
	uint32_t payload_crc;		/* CRC-32 of the bytes as stored */
	uint32_t stream;		/* epoch of stacks and samples, else 0 */
	uint64_t first_ns, last_ns;	/* earliest and latest time in the payload */
	uint32_t nr_records;
	uint32_t seq;			/* counts from 0; a gap is a lost chunk */
	uint32_t stride;		/* of TRF_TRANSPOSED, else 0 */
	uint32_t crc;			/* CRC-32 of the bytes of this header before */
};

static_assert(sizeof(struct trf_chunk) == 64, "chunk header");
static_assert(offsetof(struct trf_chunk, first_ns) == 32, "chunk header");
static_assert(offsetof(struct trf_chunk, crc) == 60, "chunk header");

/*
 * The record of Performance Inspector.  type_len holds the length of the whole record, a
 * multiple of 4; the two bits that this leaves free hold the type.
 */
struct trf_record {
	uint16_t type_len;
	uint16_t major;
	uint32_t minor;
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
};

static_assert(sizeof(struct trf_record) == 16, "record head");

enum trf_type {
	TRF_INTS,		/* the payload is integers */
	TRF_NO_TIME,		/* the head ends before time_ns; the time is the previous record's */
	TRF_MIXED,		/* integers and strings */
	TRF_EXTENDED,		/* the length is in 32 bits that follow the head */
};

enum trf_major {
	TRF_MAJOR_TPROF = 0x10,
	TRF_MAJOR_DISPATCH = 0x12,
	TRF_MAJOR_MTE = 0x19,
	TRF_MAJOR_BRANCH = 0x20,
	TRF_MAJOR_EVENT = 0x24,
	/* The major numbers of Performance Inspector end at 0xb0. */
	TRF_MAJOR_STACK = 0xc0,
	TRF_MAJOR_SYMBOL = 0xc1,
	TRF_MAJOR_LOST = 0xc2,
	TRF_MAJOR_LABEL = 0xc3,
	TRF_MAJOR_FILE = 0xc4,
	TRF_MAJOR_CALLS = 0xca,
	TRF_MAJOR_TREE = 0xcb,
};

/* The minor codes of records that are made of rows are in table.h. */

/*
 * TPROF minors: bits 0-7 kind and ring (3 user, 0 kernel), 8-15 event, 16-31 CPU.  The plain kind has
 * the weight of the latest weighted sample of its event in the same chunk, or 1.
 */
enum trf_tprof {
	TRF_TPROF_PLAIN = 0x20,		/* thread, stack */
	TRF_TPROF_WEIGHT = 0x60,	/* thread, stack, weight */
	TRF_TPROF_WIDE = 0xa0,		/* thread, stack, weight, event; bits 8-15 are 0 */
	TRF_TPROF_SUM = 0xe0,		/* the same, then how many samples these are */
	TRF_TPROF_USER = 0x03,
	TRF_TPROF_KIND = 0xfc,
};

struct trf_sample {
	struct trf_record head;
	uint32_t thread;
	uint32_t stack;
};

static_assert(sizeof(struct trf_sample) == 24, "sample");

struct trf_sample_weight {
	struct trf_sample s;
	uint64_t weight;
};

static_assert(sizeof(struct trf_sample_weight) == 32, "weighted sample");

/* Branch minors: bits 0-7 what it is, 16-31 CPU (0xffff unknown); others are in table.h. */
enum trf_branch {
	TRF_BRANCH_KERNEL = 0x20,	/* a run of branches, by ring */
	TRF_BRANCH_USER = 0x21,
	TRF_BRANCH_WHAT = 0xff,
};

enum trf_stack {
	TRF_STACK_FRAMES = 1,
	TRF_STACK_NODES = 2,
};

enum trf_calls {
	TRF_CALLS_CONSUMER = 1,
	TRF_CALLS_NODES = 3,
	TRF_CALLS_VALUES = 4,
	TRF_CALLS_EVENTS = 5,
};

/*
 * A run of dispatches and interrupts in the order of time; each is four varints: the zigzag difference
 * to the time of the one before (of the first: to the record's), what, thread, arg.
 */
enum trf_dispatch {
	TRF_DISPATCH_RUN = 1,
	TRF_DISPATCH_KIND = 0x07,	/* of what: enum sched_kind */
	TRF_DISPATCH_STATE = 0x38,	/* of what: enum sched_state */
	TRF_DISPATCH_STATE_SHIFT = 3,
	TRF_DISPATCH_CPU_SHIFT = 6,	/* of what: the rest */
	TRF_DISPATCH_MIN_BYTES = 4,
};

enum trf_file {
	TRF_FILE_SCHEMA = 1,
	TRF_FILE_INDEX = 2,
	TRF_FILE_END = 3,
};

#endif
