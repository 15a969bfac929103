/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - what "arcprof memory" shows: of a running process memory.c, of a trace memory_trace.c. */
#ifndef SHOW_MEMORY_H
#define SHOW_MEMORY_H

#include <stdio.h>

#include "model/footprint.h"
#include "model/unfreed.h"
#include "report/sheet.h"
#include "resident/resident.h"

/* Return an amount, in text in KiB, the unit of the kernel and of the JVM; in data in bytes. */
struct cell memory_amount(const struct sheet *s, uint64_t bytes);
/*
 * Print the parts, the largest first. grows: with what each has grown by since the first reading, NULL if
 * there is none; what is gone since then is shown, too.
 */
void memory_print_parts(struct sheet *s, const struct resident *r, bool grows, const struct resident *first);

/* Print the head; when: appended to the first line, or "". */
void memory_text_head(const struct resident *r, const char *when, FILE *out);
/* Print its direct buffers, and the JVM's own account, if it has one. */
void memory_text_nmt(struct sheet *s, const struct resident *r);
void memory_json_head(struct json *j, const struct resident *r);
void memory_json_nmt(struct sheet *s, const struct resident *r);

struct memory_show {
	int format;			/* of FORMATS_TABLE */
	bool mappings;			/* of a process, each of these in place of sums */
	bool readings;			/* of a trace, all of them in place of the last of each process */
	struct sheet_choice choice;
};

void memory_print(const struct resident *r, const struct memory_show *o, FILE *out);
/*
 * Print the last reading of each process with what changed since the first. u: native memory by function;
 * NULL: that was not recorded.
 */
void memory_print_trace(const struct footprints_read *f, const struct unfreed *u, const struct memory_show *o,
			FILE *out);

#endif
