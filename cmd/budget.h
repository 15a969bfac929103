/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget.h - between budget.c and "arcprof fleet budget", which runs it on what it fetched. */
#ifndef CMD_BUDGET_H
#define CMD_BUDGET_H

#include <stdbool.h>

struct budget_opts {
	const char *input, *import, *tree, *file, *output, *baseline;
	const char *name;	/* of the recording, in what is printed; NULL: its path */
	int format;
	bool all, strict, calibrate;
};

#endif
