/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hprof.h - pieces of the text of HPROF, the JDK's profiler up to JDK 8, and its options: hprof_text.c. */
#ifndef REPORT_HPROF_H
#define REPORT_HPROF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum { HPROF_EMPTY_TRACE = 300000 };	/* the number of the TRACE without frames, as it was there */

/* "JAVA PROFILE 1.0.1, created ..." and a line of dashes; start_ns: CLOCK_REALTIME, 0: it is now. */
void hprof_put_head(uint64_t start_ns, FILE *out);
/* Print the date as ctime() does, with the end of the line. */
void hprof_put_date(uint64_t start_ns, FILE *out);
/* TRACE of HPROF_EMPTY_TRACE. */
void hprof_put_empty_trace(FILE *out);

double hprof_percent(uint64_t part, uint64_t all);

/* A row of SITES; what it does not have is "-". */
struct hprof_site {
	uint64_t rank, self, accum, total;	/* accum: self of this row and all before it */
	uint64_t live, live_objects, alloc, alloc_objects;
	bool has_live, has_live_objects, has_alloc, has_alloc_objects;
	uint32_t trace;
	const char *class;			/* quoted */
};

/* Parse the options of hprof that shape a text, "thread=y,depth=8". Returns -EINVAL for invalid ones. */
int hprof_parse(const char *text, bool *threads, uint64_t *depth, struct err *e);

void hprof_begin_sites(const char *order, uint64_t start_ns, FILE *out);
void hprof_put_site(const struct hprof_site *s, FILE *out);

#endif
