/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svg.h - what pictures of reports have in common. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "base/buf.h"

enum { SVG_TICKS = 5 };			/* parts of an axis */
#define SVG_FAINT " fill=\"#5c6675\""

/* Begin a picture of that size, in pixels, on white ground; svg_end() ends it. */
void svg_begin(struct buf *b, int width, int height);
void svg_end(struct buf *b);
/* Append a text, which is escaped; more: further attributes, with a blank before each. */
void svg_text(struct buf *b, double x, double y, const char *more, const char *text);
/* Write an amount in a metric's unit, in few digits; "ns": as a duration. */
void svg_amount(struct buf *b, double x, double y, const char *more, const char *unit, uint64_t n);
/* Append the left and the lower axis. */
void svg_axes(struct buf *b, int left, int right, int top, int high);

#endif
