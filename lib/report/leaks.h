/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaks.h - what the two kinds of report --leaks share: Java objects (leaks.c), native memory (unfreed.c). */
#ifndef REPORT_LEAKS_H
#define REPORT_LEAKS_H

#include "model/growth.h"
#include "report/report.h"
#include "report/sheet.h"

/* "12.3 MB": 1 kB is 1000 bytes. */
void leaks_put_bytes(struct buf *b, double bytes);
/* Add a table, or the member "ages", with how old the remaining objects are. */
void leaks_add_ages(const struct growth_age ages[GROWTH_AGES], double bytes, struct sheet *s);

/* Options of --leaks. */
struct leaks_own {
	struct opt_list library;
};

/* Print the report of native memory; -ENODATA if that was not recorded. */
int unfreed_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);

#endif
