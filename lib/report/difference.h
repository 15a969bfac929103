/* SPDX-License-Identifier: GPL-2.0-or-later */
/* difference.h - prints what lib/diff found. */
#ifndef REPORT_DIFFERENCE_H
#define REPORT_DIFFERENCE_H

#include <stdio.h>

#include "diff/choice.h"
#include "diff/noise.h"

struct difference {
	const struct noise *noise;
	const struct choice *choice;	/* of the same rows */
};

/* format: of text, JSON and CSV (enum format_id); width: of the terminal, 0: names are never truncated. */
void difference_print(const struct difference *d, int format, int width, FILE *out);

/* difference_data.c: JSON or CSV, which arcprof-diff(1) documents. */
void difference_data(const struct difference *d, int format, FILE *out);

#endif
