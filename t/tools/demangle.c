// SPDX-License-Identifier: GPL-2.0-or-later
/* demangle.c - the names on standard input as reports show them, one per line. */
#include <stdio.h>
#include <string.h>

#include "sym/demangle.h"

int main(void)
{
	static char line[1 << 20];
	struct buf out = BUF_INIT;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		buf_reset(&out);
		demangle(line, &out);
		puts(out.len ? out.data : "");
	}
	buf_release(&out);
	return 0;
}
