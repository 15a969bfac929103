// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-mix.c - keys as our tables have them, which are anything but random, in tables of the shapes that we
 * have: as good as random keys, and none is lost.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/mix.h"
#include "jvm/proto.h"
#include "unit.h"

enum { MOST = 1 << 17 };

struct family {
	const char *what;
	uint64_t first, step;
};

static const struct family families[] = {
	{ "consecutive", 1, 1 },
	{ "blocks of 16", 0x555555e0a2a0, 16 }, { "of 32", 0x555555e0a2a0, 32 },
	{ "of 64", 0x7f1200000b20, 64 },
	{ "of 2000, with malloc's word", 0x555555e0a2a0, 2016 }, { "of 1000", 0x555555e0a2a0, 1008 },
	{ "JavaThreads", 0x7f32c402d2e0, 1872 }, { "pages", 0x7f1200000000, 4096 },
	{ "stacks of 1 MB with a guard page", 0x7f1200101000, 0x101000 },
	{ "of 2^20", 0x7f1200000000, 1 << 20 }, { "Fibonacci's own step", 0, 0x9e3779b97f4a7c15ull },
	{ "its inverse", 0, 0xf1de83e19937733dull },
	{ "only high bits", 0, 1ull << 44 }, { "the upper half", 0, 1ull << 32 },
};

static uint64_t key_of(const struct family *f, uint64_t i)
{
	return f->first + i * f->step;
}

/* How far the last of nr keys is from its first slot, in a table of 1 << bits. */
static size_t longest_search(const struct family *f, size_t nr, int bits, int shift)
{
	static uint8_t used[MOST];
	size_t mask = ((size_t)1 << bits) - 1, worst = 0, i, n;

	memset(used, 0, sizeof(used));
	for (i = 0; i < nr; i++) {
		size_t at = mix64(key_of(f, i)) >> shift & mask;

		for (n = 0; used[at]; n++)
			at = (at + 1) & mask;
		used[at] = 1;
		worst = MAX(worst, n);
	}
	return worst;
}

/* Linear probing in a half full table: of random keys the worst of 100 tables was 45 % of this. */
static size_t most(int bits)
{
	return 16 * (size_t)bits;
}

/*
 * Tables that give up after some slots lose nothing while they are half full, with whichever bits they take.
 */
TEST(keys_in_a_row_are_found_within_few_slots)
{
	/* waiting.h and memory.h, threads, names, and what takes the uppermost bits */
	static const struct { int bits, shift; } tables[] = {
		{ 12, 0 }, { 17, 15 }, { 15, 0 }, { 16, 48 }, { 17, 0 }, { 10, 54 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		for (k = 0; k < ARRAY_SIZE(tables); k++) {
			int bits = tables[k].bits;
			size_t n = longest_search(&families[i], (size_t)1 << (bits - 1), bits,
						  tables[k].shift);

			if (n > most(bits))
				printf("# %s in 2^%d: %zu\n", families[i].what, bits, n);
			CHECK(n <= most(bits));
		}
	}
}

/* The sum of squares over 1024 counts, as of random keys within six standard deviations. */
TEST(keys_in_a_row_spread_as_random_ones)
{
	enum { BINS = 1024, KEYS = 64 * BINS };
	static uint32_t count[BINS];
	int shift;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		for (shift = 0; shift <= 54; shift += 6) {
			double chi = 0;

			memset(count, 0, sizeof(count));
			for (k = 0; k < KEYS; k++)
				count[mix64(key_of(&families[i], k)) >> shift & (BINS - 1)]++;
			for (k = 0; k < BINS; k++)
				chi += pow((double)count[k] - KEYS / BINS, 2) / (KEYS / BINS);
			CHECK(fabs(chi - BINS) <= 6 * sqrt(2. * BINS));
		}
	}
}

/* Of stacks that end 1 MB and a guard page apart, as those of threads: few share a slot with another. */
TEST(roots_of_threads_have_slots_of_their_own)
{
	enum { THREADS = 128 };		/* in 1024 slots: 7.6 pairs of random ones */
	static uint8_t used[JVM_NR_ROOTS];
	size_t i, k, shared;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		memset(used, 0, sizeof(used));
		for (k = shared = 0; k < THREADS; k++)
			shared += used[jvm_root_slot(key_of(&families[i], k + 1))]++ != 0;
		CHECK(shared <= 25);
	}
}
