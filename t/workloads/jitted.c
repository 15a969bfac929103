// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jitted.c - code that is made at run time, in memory of no file and described by nobody, as other
 * runtimes have it: three functions with a frame pointer, each of which calls what it is given; the
 * innermost calls back into this program, where the CPU time is used. Prints the address of that one.
 *
 *	jitted <milliseconds> [unframed]
 *		unframed	without a frame pointer, and nothing says how much is on the stack (x86-64)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { NR = 3, EACH = 64 };

/* void made(struct call *c): c->f(c->next) */
struct call {
	void (*f)(struct call *);
	struct call *next;
};

#ifdef __x86_64__
static const uint8_t code[] = {
	0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp, %rbp */
	0x48, 0x89, 0xf8,		/* mov %rdi, %rax */
	0x48, 0x8b, 0x7f, 0x08,		/* mov 8(%rdi), %rdi */
	0xff, 0x10,			/* call *(%rax) */
	0x48, 0x8d, 0x0d, 0x02, 0, 0, 0,	/* lea 2(%rip), %rcx */
	0xff, 0xe1,			/* jmp *%rcx: who reads the code does not see the return */
	0x5d, 0xc3,			/* pop %rbp; ret */
};
static const uint8_t unframed[] = {
	0x48, 0x83, 0xec, 0x28,		/* sub $40, %rsp */
	0x48, 0x89, 0xf8, 0x48, 0x8b, 0x7f, 0x08, 0xff, 0x10,	/* as above */
	0x48, 0x8d, 0x0d, 0x02, 0, 0, 0, 0xff, 0xe1,
	0x48, 0x83, 0xc4, 0x28, 0xc3,	/* add $40, %rsp; ret */
};
#else
static const uint32_t code[] = {
	0xa9bf7bfd, 0x910003fd,		/* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0xf9400001,			/* ldr x1, [x0] */
	0xf9400400,			/* ldr x0, [x0, #8] */
	0xd63f0020,			/* blr x1 */
	0xa8c17bfd, 0xd65f03c0,		/* ldp x29, x30, [sp], #16; ret */
};
#define unframed code
#endif

static volatile uint64_t spun;
static int ms = 300;

static void __attribute__((noinline, noclone)) spin(struct call *c)
{
	struct timespec ts;

	(void)c;
	do {
		for (int i = 0; i < 10000; i++)
			spun += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while (ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < ms);
}

static void __attribute__((noinline, noclone)) enters(struct call *c)
{
	c->f(c->next);
	spun++;
}

int main(int argc, char **argv)
{
	uint8_t *p = mmap(NULL, NR * EACH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int frames = argc < 3 || strcmp(argv[2], "unframed"), i;
	struct call calls[NR + 1] = { { 0 } };

	if (argc > 1)
		ms = atoi(argv[1]);
	if (p == MAP_FAILED)
		return 1;
	for (i = 0; i < NR; i++) {
		memcpy(p + i * EACH, frames ? code : unframed, frames ? sizeof(code) : sizeof(unframed));
		calls[i] = (struct call){ (void (*)(struct call *))(void *)(p + i * EACH), &calls[i + 1] };
	}
	calls[NR].f = spin;
	if (mprotect(p, NR * EACH, PROT_READ | PROT_EXEC))
		return 1;
	__builtin___clear_cache((char *)p, (char *)p + NR * EACH);
	printf("%p\n", (void *)(p + (NR - 1) * EACH));
	enters(calls);
	return 0;
}
