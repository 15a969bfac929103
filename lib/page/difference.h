/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * difference.h - a page of two sides, each of one or more runs, in one tree: what arcprof diff compares,
 * as graphs side by side.
 */
#ifndef PAGE_DIFFERENCE_H
#define PAGE_DIFFERENCE_H

#include <stdio.h>

#include "base/json.h"
#include "diff/rows.h"

#define PAGE_MAX_RUNS 24

struct page_difference {
	const struct diff *d;		/* finished */
	enum diff_normalize normalize;	/* not DIFF_CALL or DIFF_WORK */
	const bool *changed;		/* [consumer]: its base did, by more than noise; NULL: not known */
};

/* -E2BIG: more runs than a page holds. */
int page_difference_print(const struct page_difference *p, FILE *out, struct err *e);

/* The data before they are compressed; data.c. */
void page_difference_data(const struct page_difference *p, struct buf *out);
/* Of metric m, a run or its n, in a context: its base. */
uint64_t page_difference_value(const struct page_difference *p, uint32_t node, unsigned int m);
void page_difference_metric(const struct page_difference *p, unsigned int m, struct json *j);
/* "difference", "sources" and "head" of the description. */
void page_difference_json(const struct page_difference *p, struct json *j);

#endif
