/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget.h - prints verdicts: text, JSON, CSV, and XML as JUnit writes it, which CI servers read. */
#ifndef REPORT_BUDGET_H
#define REPORT_BUDGET_H

#include <stdio.h>

#include "model/origin.h"
#include "report/verdict.h"

struct budget {
	const char *trace, *limits;	/* paths */
	const struct origin *origin;
	const struct verdict *list;
	size_t nr;
	bool all;			/* text: also limits that are kept */
	bool strict;			/* what is not decided fails */
};

/* Print in FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV or FORMAT_JUNIT. */
void budget_print(const struct budget *b, int format, FILE *out);
/* Return whether a limit is violated, could not be judged or, with strict, could not be decided. */
bool budget_fails(const struct budget *b);

#endif
