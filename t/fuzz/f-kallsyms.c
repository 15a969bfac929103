// SPDX-License-Identifier: GPL-2.0-or-later
/* f-kallsyms.c - any text as the kernel's symbol list. */
#include "sym/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct kallsyms *k;
	struct err e;
	uint64_t addr;

	if (kallsyms_parse(&k, (const char *)data, len, &e))
		return 0;
	for (addr = 0xffffffff81000000; addr < 0xffffffff81010000; addr += 13)
		kallsyms_find(k, addr);
	kallsyms_find(k, 0);
	kallsyms_find(k, UINT64_MAX);
	kallsyms_close(k);
	return 0;
}
