/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump.h - the file jit-PID.dump, in which a runtime notes the code that it makes: when it made it, where,
 * its name, its lines and the rules for unwinding it. The runtime maps a page of the file executable, so that
 * the kernel reports it to a profiler. The specification is Linux's
 * tools/perf/Documentation/jitdump-specification.txt.
 *
 * The file is read while it grows: what is there of it is given to jitdump_next() again and again.
 */
#ifndef SYM_JITDUMP_H
#define SYM_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum { JITDUMP_RECORD_MAX = 64 << 20 };	/* bytes; a longer record ends the reading */

/* The state of a file: what it has said so far of the code to come. All zero for a new file. */
struct jitdump {
	bool begun;		/* its header has been read */
	bool other_clock;	/* its times are a counter of the CPU, not CLOCK_MONOTONIC */
};

enum jitdump_kind {
	JITDUMP_INCOMPLETE,	/* nothing: the record goes on behind the bytes that are there */
	JITDUMP_DAMAGED,	/* nothing: and nothing behind it can be read */
	JITDUMP_OTHER,		/* nothing that is needed */
	JITDUMP_CODE,		/* code was made */
	JITDUMP_MOVED,		/* code at old_addr, with that index, is at addr from now on */
	JITDUMP_LINES,		/* lines of the code to be made next */
	JITDUMP_UNWIND,		/* rules of the code to be made next */
	JITDUMP_END,		/* the runtime has closed the file */
};

/* A record; pointers lead into the bytes that were given. */
struct jitdump_record {
	enum jitdump_kind kind;
	size_t len;		/* bytes, of the header as well; 0 of what is incomplete or damaged */
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the process; 0: not known */
	uint64_t addr, size;	/* of code, size not 0; of lines addr alone */
	uint64_t old_addr, index;
	const char *name;	/* not terminated */
	size_t name_len;
	struct span lines;	/* for jitdump_line() */
	uint64_t nr_lines;	/* as the file says */
	struct span unwind;	/* .eh_frame, then .eh_frame_hdr of hdr_len bytes, or the other way round */
	size_t hdr_len;
};

/* Read the record at the start of len bytes. */
void jitdump_next(struct jitdump *d, const void *bytes, size_t len, struct jitdump_record *r);

struct jitdump_line {
	uint64_t addr;		/* from there on to that of the next line */
	uint32_t line;
	const char *file;	/* not terminated; valid as long as the record's bytes */
	size_t file_len;
};

/*
 * Read the next of a record's lines into *l, which has the one before, at first zeros; return false at
 * the end.
 */
bool jitdump_line(struct span *lines, struct jitdump_line *l);

/*
 * Check for lines without valid names. Some versions of V8 (that of Node 20) write what once was the name
 * of the script, with the right length: the bytes may contain the end of a name as well. c is the code
 * that the lines are of. If it returns true, its name has the script's, *file, and each line is a
 * jitdump_line_of(file).
 */
bool jitdump_lost_names(const struct jitdump_record *lines, const struct jitdump_record *c,
			struct jitdump_line *file);
/* Do the same as jitdump_line() in that case. */
bool jitdump_line_of(const struct jitdump_line *file, struct span *lines, struct jitdump_line *l);

/*
 * perfmap.c: the file /tmp/perf-PID.map, a line for each piece of code that a runtime has made: address and
 * size in hexadecimal digits, and the name, which may contain spaces.
 */
struct perfmap_code {
	uint64_t addr, size;	/* size is not 0 */
	const char *name;	/* in the line, not terminated */
	size_t name_len;	/* not 0 */
};

/* Parse a line of len bytes without its end; false: it says nothing of code. */
bool perfmap_line(struct perfmap_code *c, const char *line, size_t len);

#endif
