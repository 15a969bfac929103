// SPDX-License-Identifier: MIT
/*
 * trainer.c - the program that "arcprof calibrate" records: it calls functions many times, with the hooks of
 * libarcprof-hookit.a and without. It does so in turns, one inside the other: each has contexts of its own,
 * and takes so little time that whatever else the machine does slows all of it down, or nothing.
 *
 * An empty function shows what hooks cost that have nothing to run beside; one whose work is a chain of
 * dependent steps, how much of it a processor does meanwhile; a long chain, how much of it is not done yet
 * when the clock is read; one with stores that do not depend on each other, what a hook costs that no work
 * leaves room for; a caller with a chain of its own, what hooks cost there.
 *
 * With "trace" it calls functions that call another one, for the costs from each event to the next. With
 * "verify" it calls functions of several lengths instead, with hooks and without: with
 * which "arcprof calibrate --verify" compares calibrated values. The work is a chain or such stores.
 */
#ifndef CALLS			/* fewer where each instruction is looked at */
#define TURNS 150
#define CALLS 2000
#endif

enum { VERIFY_TURNS = 60, TRACE_TURNS = 20, STEPS = 24, LONG_STEPS = 96, STORES = 200 };

#define BARE __attribute__((no_instrument_function, noinline, noclone))
#define HOOKED __attribute__((noinline, noclone))
#define PART static inline __attribute__((no_instrument_function, always_inline))

static unsigned int state = 1, sink[16];

PART void chain_of(int steps)
{
	unsigned int x = state;
	int i;

	for (i = 0; i < steps; i++)
		x = x * 2891336453u ^ x >> 7;
	state = x;
}

PART void stores_of(int steps)
{
	unsigned int x;
	int i;

	for (i = 0; i < steps; i++) {
		x = i * 2891336453u;
		sink[i & 15] = x ^ x >> 7;
		__asm__ volatile("");		/* one by one */
	}
}

/* A function with hooks, the same without, and a loop of calls of either, with own after each. */
#define TRAIN(name, f, work, own) \
	void bare_##f(void) BARE; \
	void f(void) HOOKED; \
	void bare_##f(void) \
	{ \
		work; \
		__asm__ volatile(""); \
	} \
	void f(void) \
	{ \
		work; \
		__asm__ volatile(""); \
	} \
	LOOP(plain_##name, bare_##f, own) \
	LOOP(hooked_##name, f, own)

#define LOOP(name, f, own) \
	void name(void) HOOKED; \
	void name(void) \
	{ \
		int i; \
		for (i = 0; i < CALLS; i++) { \
			f(); \
			own; \
		} \
	}

#define BOTH(name) \
	plain_##name(); \
	hooked_##name()

TRAIN(empty, empty, (void)0, (void)0)
TRAIN(chain, chain, chain_of(STEPS), (void)0)
TRAIN(long, long_chain, chain_of(LONG_STEPS), (void)0)
TRAIN(stores, stores, stores_of(STORES), (void)0)
LOOP(plain_caller, bare_empty, chain_of(STEPS))
LOOP(hooked_caller, empty, chain_of(STEPS))

void turn(int turns) HOOKED;
void turn(int turns)
{
	BOTH(empty);
	BOTH(chain);
	BOTH(long);
	BOTH(stores);
	BOTH(caller);
	if (turns > 1)
		turn(turns - 1);
	__asm__ volatile("");
}

/* cmd/train.c has the same. */
#define LENGTH(work, n) TRAIN(work##_##n, work##_##n, work##_of(n), (void)0)
LENGTH(chain, 8)
LENGTH(chain, 25)
LENGTH(chain, 75)
LENGTH(chain, 250)
LENGTH(chain, 750)
LENGTH(stores, 20)
LENGTH(stores, 60)
LENGTH(stores, 200)
LENGTH(stores, 600)
LENGTH(stores, 2000)

void lengths(int turns) HOOKED;
void lengths(int turns)
{
	plain_empty();
	BOTH(chain_8);
	BOTH(chain_25);
	BOTH(chain_75);
	BOTH(chain_250);
	BOTH(chain_750);
	BOTH(stores_20);
	BOTH(stores_60);
	BOTH(stores_200);
	BOTH(stores_600);
	BOTH(stores_2000);
	if (turns > 1)
		lengths(turns - 1);
	__asm__ volatile("");
}

void bare_outer(void) BARE;
void outer(void) HOOKED;

void bare_outer(void)
{
	bare_empty();
	__asm__ volatile("");
}

void outer(void)
{
	empty();
	__asm__ volatile("");
}

LOOP(plain_nested, bare_outer, (void)0)
LOOP(hooked_nested, outer, (void)0)

void sequences(int turns) HOOKED;
void sequences(int turns)
{
	BOTH(nested);
	if (turns > 1)
		sequences(turns - 1);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	if (argc > 1 && *argv[1] == 't')
		sequences(TRACE_TURNS);
	else if (argc > 1)
		lengths(VERIFY_TURNS);
	else
		turn(TURNS);
	return 0;
}
