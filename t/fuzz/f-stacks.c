// SPDX-License-Identifier: GPL-2.0-or-later
/* f-stacks.c - folded stacks as text: whatever is read obeys the invariants. */
#include <stdlib.h>

#include "flow/check.h"
#include "flow/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct flow_check c[FLOW_NR_CHECKS];
	struct model m;
	struct err e;

	input_stacks(&m, (const char *)data, len, &e);
	if (flow_check(&m.flow, c))
		abort();
	model_release(&m);
	return 0;
}
