/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page.h - a view as one file for a browser: its whole tree, the times of its samples, and the
 * program that shows them.  Documentation/technical/page.adoc says how the data lie in it.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "report/report.h"

/* The data before they are compressed. Sorts the tree's children and the model's times. */
void page_data(struct view *v, struct buf *out);
/* The page around such data. */
int page_print_data(const struct buf *data, FILE *out, struct err *e);

#endif
