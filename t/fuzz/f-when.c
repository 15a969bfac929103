// SPDX-License-Identifier: GPL-2.0-or-later
/* f-when.c - conditions of "record --when": what is taken is within bounds. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/control/when.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xcalloc(len + 1, 1);
	struct err e = { 0 };
	struct when w;

	memcpy(text, data, len);
	if (!when_parse(text, &w, &e)) {
		if (w.kind >= WHEN_NR || w.text != text || w.span_ns / 1000000000 > WHEN_MAX_SPAN_S)
			abort();
		if (w.kind == WHEN_SIGNAL && !when_signal_name((int)w.limit))
			abort();
		if ((w.kind == WHEN_CPU) != (w.span_ns > 0))
			abort();
	} else if (!*e.msg) {
		abort();
	}
	when_release(&w);
	free(text);
	return 0;
}
