// SPDX-License-Identifier: GPL-2.0-or-later
/* f-condition.c - conditions of "record --when": what is taken is within bounds. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/control/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xcalloc(len + 1, 1);
	struct err e = { 0 };
	struct condition w;

	memcpy(text, data, len);
	if (!condition_parse(text, &w, &e)) {
		if (w.kind >= CONDITION_NR || w.text != text || w.span_ns / 1000000000 > CONDITION_MAX_SPAN_S)
			abort();
		if (w.kind == CONDITION_SIGNAL && !condition_signal_name((int)w.limit))
			abort();
		if ((w.kind == CONDITION_CPU) != (w.span_ns > 0))
			abort();
	} else if (!*e.msg) {
		abort();
	}
	condition_release(&w);
	free(text);
	return 0;
}
