/* SPDX-License-Identifier: GPL-2.0-or-later */
/* difference.h - prints what lib/diff found. */
#ifndef REPORT_DIFFERENCE_H
#define REPORT_DIFFERENCE_H

#include <stdio.h>

#include "diff/choice.h"
#include "diff/noise.h"
#include "report/sheet.h"

struct difference {
	const struct noise *noise;
	const struct choice *choice;	/* of the same rows */
};

/*
 * Print a difference. format: text, JSON or CSV (enum format_id), as in arcprof-diff(1); width: of the
 * terminal, 0: names are never truncated. Only the columns of choice are used.
 */
int difference_print(const struct difference *d, const struct sheet_choice *choice, int format, int width,
		     FILE *out, struct err *e);

/* difference_data.c: the columns and cells of what programs read. */
enum { DIFFERENCE_CELLS = 26 };
void difference_columns(const struct diff_rows *x, struct sheet_column *c);
/* Fill the cells of row i; ids come from difference_ids(). */
void difference_cells(const struct difference *d, size_t i, const uint32_t *ids, bool csv, struct cell *c);
/* Return the row's share of the total of a side, 0 to 1. */
double difference_share(const struct diff *d, const struct diff_row *row, unsigned int side);
/* Return numbers of contexts, [node], in the order in which they are shown. For free(). */
uint32_t *difference_ids(const struct choice *c);
void difference_json_head(const struct difference *d, struct json *j);

#endif
