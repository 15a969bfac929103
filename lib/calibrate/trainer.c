// SPDX-License-Identifier: MIT
/*
 * trainer.c - the program that "arcprof calibrate" records: it calls functions many times, with the hooks of
 * libarcprof-hookit.a and without. Each level of recursion is a context of its own, and so a repetition
 * of the measurement.
 *
 * An empty function shows what hooks cost that have nothing to run beside; one whose work is a chain of
 * dependent steps, how much of it a processor does meanwhile; a long chain, how much of it is not done yet
 * when the clock is read; a caller with a chain of its own, what hooks cost there.
 *
 * With an argument it calls functions of several lengths instead, with hooks and without: what
 * "arcprof calibrate --verify" holds calibrated values against.
 */
#define LENGTH_LEVELS 20

#ifndef CALLS			/* fewer where each instruction is looked at */
#define LEVELS 100
#define LONG_LEVELS 30
#define CALLS 10000
#endif

enum { STEPS = 24, LONG_STEPS = 96 };

#define BARE __attribute__((no_instrument_function, noinline, noclone))
#define HOOKED __attribute__((noinline, noclone))
#define PART static inline __attribute__((no_instrument_function, always_inline))

static unsigned int state = 1;

void bare_empty(void) BARE;
void bare_chain(void) BARE;
void bare_long_chain(void) BARE;
void empty(void) HOOKED;
void chain(void) HOOKED;
void long_chain(void) HOOKED;

PART void work(int steps)
{
	unsigned int x = state;
	int i;

	for (i = 0; i < steps; i++)
		x = x * 2891336453u ^ x >> 7;
	state = x;
}

void bare_empty(void)
{
	__asm__ volatile("");
}

void bare_chain(void)
{
	work(STEPS);
}

void bare_long_chain(void)
{
	work(LONG_STEPS);
}

void empty(void)
{
	__asm__ volatile("");
}

void chain(void)
{
	work(STEPS);
}

void long_chain(void)
{
	work(LONG_STEPS);
}

/* Calls f() many times at each level, with own after each. */
#define TRAIN(name, f, own) \
	void name(int levels) HOOKED; \
	void name(int levels) \
	{ \
		int i; \
		for (i = 0; i < CALLS; i++) { \
			f(); \
			own; \
		} \
		if (levels > 1) \
			name(levels - 1); \
		__asm__ volatile(""); \
	}

/* What is there in a program without hooks, too. */
TRAIN(plain_empty, bare_empty, (void)0)
TRAIN(plain_chain, bare_chain, (void)0)
TRAIN(plain_long, bare_long_chain, (void)0)
TRAIN(plain_caller, bare_empty, work(STEPS))
TRAIN(hooked_empty, empty, (void)0)
TRAIN(hooked_chain, chain, (void)0)
TRAIN(hooked_long, long_chain, (void)0)
TRAIN(hooked_caller, empty, work(STEPS))

#define LENGTH(n) \
	void bare_##n(void) BARE; \
	void of_##n(void) HOOKED; \
	void bare_##n(void) \
	{ \
		work(n); \
	} \
	void of_##n(void) \
	{ \
		work(n); \
	} \
	TRAIN(plain_##n, bare_##n, (void)0) \
	TRAIN(hooked_##n, of_##n, (void)0)

/* cmd/train.c has the same. */
LENGTH(8)
LENGTH(25)
LENGTH(75)
LENGTH(250)
LENGTH(750)

static void lengths(void)
{
	plain_empty(LENGTH_LEVELS);
	plain_8(LENGTH_LEVELS);
	hooked_8(LENGTH_LEVELS);
	plain_25(LENGTH_LEVELS);
	hooked_25(LENGTH_LEVELS);
	plain_75(LENGTH_LEVELS);
	hooked_75(LENGTH_LEVELS);
	plain_250(LENGTH_LEVELS);
	hooked_250(LENGTH_LEVELS);
	plain_750(LENGTH_LEVELS);
	hooked_750(LENGTH_LEVELS);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		lengths();
		return 0;
	}
	plain_empty(LEVELS);
	hooked_empty(LEVELS);
	plain_chain(LEVELS);
	hooked_chain(LEVELS);
	plain_long(LONG_LEVELS);
	hooked_long(LONG_LEVELS);
	plain_caller(LEVELS);
	hooked_caller(LEVELS);
	return 0;
}
