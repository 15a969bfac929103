// SPDX-License-Identifier: GPL-2.0-or-later
/* insnq.c - lengths of the instructions objdump shows: reads "address: bytes" lines, says what differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86/insn.h"

int main(void)
{
	char line[1024];
	unsigned long nr = 0, bad = 0;

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t code[16] = { 0 };
		struct x86_insn in;
		char *p = strstr(line, ":\t"), *text = p ? strchr(p + 2, '\t') : NULL;
		size_t n = 0;

		if (!text || strstr(line, "(bad)"))
			continue;
		for (p += 2; n < 15 && p + 2 < text && p[0] != ' '; p += 3)
			code[n++] = (uint8_t)strtoul(p, NULL, 16);
		nr++;
		if ((!x86_insn_decode(code, n, &in) || in.len != n) && bad++ < 20)
			printf("length %u: %s", in.len, line);
	}
	printf("%lu instructions, %lu differ\n", nr, bad);
	return bad || !nr;
}
