// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * anon.c - spends CPU time in code that lies in no file, as a runtime with a compiler does.
 *
 *	anon LOOPS [fifo]	fifo: the list of names a profiler looks for is a FIFO that nobody writes to
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Counts its argument down to 0. */
#ifdef __x86_64__
/* dec rdi; jnz; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#else
/* subs x0, x0, 1; b.ne; ret */
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif

int main(int argc, char **argv)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*count_down)(uint64_t);
	char path[64];

	if (p == MAP_FAILED || argc < 2)
		return 1;
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, (char *)p + sizeof(code));
	memcpy(&count_down, &p, sizeof(p));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (argc > 2 && mkfifo(path, 0600))
		return 1;
	printf("%s\n", path);
	fflush(stdout);
	count_down(strtoull(argv[1], NULL, 0));
	return 0;
}
