/* SPDX-License-Identifier: GPL-2.0-or-later */
/* means.h - the mean of each function's calls against the size that a label of their threads says. */
#ifndef REPORT_MEANS_H
#define REPORT_MEANS_H

#include "report/report.h"

/*
 * Print a picture of a view whose levels are those of v->o->profile->by_label. It has a line for each
 * function that --symbol names, or for those with most of the first metric, with the straight line through it
 * in words. -ENODATA: no function was called while the label was a number.
 */
int means_print(const struct view *v, FILE *out, struct err *e);

#endif
