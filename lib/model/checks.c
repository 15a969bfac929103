// SPDX-License-Identifier: GPL-2.0-or-later
/* checks.c - what all checks have in common (checks.h). */
#include <stdarg.h>
#include <stdio.h>

#include "model/checks.h"

void sums_check_that(struct sums_check *c, bool good, const char *fmt, ...)
{
	va_list ap;

	c->nr_checked++;
	if (good || c->nr_bad++)
		return;
	va_start(ap, fmt);
	vsnprintf(c->first, sizeof(c->first), fmt, ap);
	va_end(ap);
}
