// SPDX-License-Identifier: GPL-2.0-or-later
/* f-calibration.c - any text as the table of costs, and as a trace's label. */
#include <stdlib.h>
#include <string.h>

#include "calibrate/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct calibration c = { 0 };
	struct calibration_cost cost;
	char *text = malloc(len + 1);
	struct err e = { 0 };

	memcpy(text, data, len);
	text[len] = '\0';
	calibration_cost(text, &cost);
	calibration_parse(&c, (const char *)data, len, &e);
	calibration_release(&c);
	free(text);
	return 0;
}
