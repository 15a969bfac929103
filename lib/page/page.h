/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page.h - a view as one file for a browser: its whole tree, the times of its samples, and the
 * program that shows them.  Documentation/technical/page.adoc says how the data lie in it.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdio.h>

#include "base/json.h"
#include "diff/rows.h"
#include "report/report.h"

/* Write the data before compression. Sorts the tree's children and the model's times. */
void page_data(struct view *v, struct buf *out);
/* what a page has beside the tree of a view */
struct page_more {
	struct view *other;		/* another tree of the same things; NULL: none */
	const char *json;		/* what the trees are, and tables: technical/page.adoc; NULL */
};
/* Write the page around such data; other and more may be NULL. */
int page_print_data(const struct buf *data, const struct buf *other, const struct page_more *more, FILE *out,
		    struct err *e);
/* Write the page of a view; more may be NULL. */
int page_print(struct view *v, const struct page_more *more, FILE *out, struct err *e);

/*
 * ---- difference.c: a page of two sides, each of one or more runs, in one tree: what arcprof diff compares,
 * as graphs side by side ----
 */

#define PAGE_MAX_RUNS 24

struct page_difference {
	const struct diff *d;		/* finished */
	enum diff_normalize normalize;	/* not DIFF_CALL or DIFF_WORK */
	const bool *changed;		/* [consumer]: its base did, by more than noise; NULL: not known */
};

/* -E2BIG: more runs than a page holds. */
int page_difference_print(const struct page_difference *p, FILE *out, struct err *e);

/* Append the data before they are compressed (data.c). */
void page_difference_data(const struct page_difference *p, struct buf *out);
/* Return the base of a context. Metrics are the values of all runs, and then the n of all runs. */
uint64_t page_difference_value(const struct page_difference *p, uint32_t node, unsigned int m);
void page_difference_metric(const struct page_difference *p, unsigned int m, struct json *j);
/* Write "difference", "sources" and "head" of the description. */
void page_difference_json(const struct page_difference *p, struct json *j);

#endif
