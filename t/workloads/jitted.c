// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jitted.c - code that is made at run time, in memory of no file and described by nobody, as other
 * runtimes have it: three functions with a frame pointer, each of which calls what it is given; the
 * innermost calls back into this program, where the CPU time is used. Prints the address of that one.
 *
 *	jitted <milliseconds> [unframed|described]
 *		unframed	without a frame pointer, and nothing says how much is on the stack (x86-64)
 *		described	the same, but jit-PID.dump of this folder has its rules
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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
/* .eh_frame: CFA rsp+8, 48 behind the first instruction, 8 before the last. */
static const uint8_t rules[] = {
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xc0, 0xff, 0xff, 0xff, sizeof(unframed), 0, 0, 0, 0,
	0x44, 0x0e, 48, 0x56, 0x0e, 8, 0, 0, 0, 0, 0,
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
static const uint8_t rules[1];
#endif

static FILE *dump;

static void put(uint64_t v, size_t len)
{
	fwrite(&v, 1, len, dump);
}

static void begin_record(uint32_t id, size_t len)
{
	put(id, 4);
	put(16 + len, 4);
	put(1, 8);
}

/* The page that is mapped says where the file is. */
static int begin_dump(void)
{
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump = fopen(path, "w+");
	if (!dump || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return -1;
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 8);
	put(0, 8);
	put(1, 8);
	put(0, 8);
	return 0;
}

static void describe(const uint8_t *at)
{
	begin_record(4, 24 + sizeof(rules));
	put(sizeof(rules), 8);
	put(0, 8);
	put(0, 8);
	fwrite(rules, 1, sizeof(rules), dump);
	begin_record(0, 40 + 5 + sizeof(unframed));
	put(0, 8);
	put((uintptr_t)at, 8);
	put((uintptr_t)at, 8);
	put(sizeof(unframed), 8);
	put(0, 8);
	fwrite("made", 1, 5, dump);
	fwrite(unframed, 1, sizeof(unframed), dump);
	fflush(dump);
}

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
	int frames = argc < 3, i;
	struct call calls[NR + 1] = { { 0 } };

	if (argc > 1)
		ms = atoi(argv[1]);
	if (p == MAP_FAILED || (!frames && !strcmp(argv[2], "described") && begin_dump()))
		return 1;
	for (i = 0; i < NR; i++) {
		memcpy(p + i * EACH, frames ? code : unframed, frames ? sizeof(code) : sizeof(unframed));
		if (dump)
			describe(p + i * EACH);
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
