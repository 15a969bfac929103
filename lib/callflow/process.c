// SPDX-License-Identifier: MIT
/* process.c - what all files of this room need, and which needs none of them. */
#include <linux/mman.h>

#include "callflow/process.h"

struct process callflow_process;

void *callflow_pages(size_t bytes, bool wiped)
{
	long p = sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);

	if (p < 0 && p > -4096)
		return NULL;
	if (wiped)
		sys(__NR_madvise, p, bytes, MADV_WIPEONFORK);
	return (void *)p;
}

void callflow_free_pages(void *p, size_t bytes)
{
	if (p)
		sys(__NR_munmap, p, bytes);
}
