// SPDX-License-Identifier: GPL-2.0-or-later
/* f-demangle.c - any text as linkage names, one per line. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sym/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xstrndup((const char *)data, len), *rest = text, *name;
	struct buf b = BUF_INIT;

	while ((name = strsep(&rest, "\n"))) {
		buf_reset(&b);
		demangle(name, &b);
		if (b.len > strlen(name) + (1 << 18))
			abort();
	}
	buf_release(&b);
	free(text);
	return 0;
}
