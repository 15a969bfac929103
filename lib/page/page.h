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
/* What a page has beside the tree of a view. */
struct page_more {
	struct view *other;		/* another tree of the same things; NULL: none */
	const char *json;		/* what the trees are, and tables: technical/page.adoc; NULL */
};
/* The page around such data; other and more may be NULL. */
int page_print_data(const struct buf *data, const struct buf *other, const struct page_more *more, FILE *out,
		    struct err *e);
/* The page of a view; more may be NULL. */
int page_print(struct view *v, const struct page_more *more, FILE *out, struct err *e);

#endif
