/* SPDX-License-Identifier: GPL-2.0-or-later */
/* head.h - the first lines of reports of a view. */
#ifndef REPORT_HEAD_H
#define REPORT_HEAD_H

#include "report/report.h"

/* Prints the lines that head every text report. */
void head_text(const struct view *v, FILE *out);
/* Return the first account with fewer samples than chance explains, by enough to mention; or NULL. */
const struct origin_account *head_short(const struct origin *o);
/* Append ", 93.7 % of CPU time sampled" for each event of which more is known than samples have. */
void head_put_sampled(const struct origin *o, struct buf *b);
/* Append "3 threads", or "3 of 41 threads sampled" where it is known how many lived. */
void head_put_threads(const struct view *v, struct buf *b);
/* Opens the JSON object and writes what all reports have. */
void head_json(const struct view *v, struct json *j);

#endif
