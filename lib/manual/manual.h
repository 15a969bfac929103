/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manual.h - the manual pages that the binary has, and one of them as text.
 *
 * A page is called as its file in Documentation/ is: "arcprof-record", "arcprof-trace", "arcprof".
 */
#ifndef MANUAL_MANUAL_H
#define MANUAL_MANUAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

struct manual {
	struct buf files;		/* all, decompressed */
};

/* 0, and the caller releases it; or -errno, with nothing to release. */
int manual_open(struct manual *m, struct err *e);
void manual_release(struct manual *m);

/* Append the names of all pages to *names, a line each. */
void manual_list(const struct manual *m, struct buf *names);

/*
 * Prints a part of pages that is made of the program's tables, such as "record-synopsis", to out. Returns
 * false for an unknown name.
 */
typedef bool manual_part(const char *name, FILE *out);

/* Append the AsciiDoc of a page to *out, with all that it includes. False: there is no such page. */
bool manual_page(const struct manual *m, const char *name, manual_part *part, struct buf *out);

/*
 * Print a page as text of that many columns (at least 40), with the styles of base/term.h. What a line cannot
 * hold, such as an example, is longer.
 */
void manual_print(const struct buf *page, int width, FILE *out);

#endif
