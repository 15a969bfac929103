// SPDX-License-Identifier: MIT
/*
 * trainer.c - the program that "arcprof calibrate" records: it calls functions many times, with the hooks of
 * libarcprof-hookit.a and without. Each level of recursion is a context of its own, and so a repetition
 * of the measurement.
 *
 * An empty function shows what hooks cost that have nothing to run beside; one whose work is a chain of
 * dependent steps, how much of it a processor does meanwhile.
 */
#ifndef CALLS			/* fewer where each instruction is looked at */
#define LEVELS 100
#define CALLS 10000
#endif

enum { STEPS = 24 };

#define BARE __attribute__((no_instrument_function, noinline, noclone))
#define HOOKED __attribute__((noinline, noclone))
#define PART static inline __attribute__((no_instrument_function, always_inline))

static unsigned int state = 1;

void bare_empty(void) BARE;
void bare_chain(void) BARE;
void empty(void) HOOKED;
void chain(void) HOOKED;

PART void work(void)
{
	unsigned int x = state;
	int i;

	for (i = 0; i < STEPS; i++)
		x = x * 2891336453u ^ x >> 7;
	state = x;
}

void bare_empty(void)
{
	__asm__ volatile("");
}

void bare_chain(void)
{
	work();
}

void empty(void)
{
	__asm__ volatile("");
}

void chain(void)
{
	work();
}

/* Calls f() many times at each level. */
#define TRAIN(name, f) \
	void name(int levels) HOOKED; \
	void name(int levels) \
	{ \
		int i; \
		for (i = 0; i < CALLS; i++) \
			f(); \
		if (levels > 1) \
			name(levels - 1); \
		__asm__ volatile(""); \
	}

/* What is there in a program without hooks, too. */
TRAIN(plain_empty, bare_empty)
TRAIN(plain_chain, bare_chain)
TRAIN(hooked_empty, empty)
TRAIN(hooked_chain, chain)

int main(void)
{
	plain_empty(LEVELS);
	hooked_empty(LEVELS);
	plain_chain(LEVELS);
	hooked_chain(LEVELS);
	return 0;
}
