/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap.h - the reports of "arcprof heap" that are no trees. */
#ifndef CMD_HEAP_H
#define CMD_HEAP_H

#include "heap/heap.h"

struct heap_table_opts {
	int format;			/* of FORMATS_TABLE: report/format.h */
	uint64_t limit;			/* rows; 0: all */
};

/* heap_tables.c: each reads the objects of h, and prints to stdout. */
int heap_print_histogram(struct heap *h, const struct heap_table_opts *o, struct err *e);

#endif
