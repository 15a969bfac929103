// SPDX-License-Identifier: MIT
/* rate.c - bounds the samples per second of a source by doubling its interval (rate.h). */
#include "agent/ring.h"
#include "agent/sources/rate.h"

static const uint64_t window_ns = 1000000000;

static struct {
	uint64_t window;		/* the last one in which there was a sample, */
	uint32_t nr;			/* and how many there were */
	uint32_t doubled;
} of[JVM_NR_SOURCES];

/* 1 - e^-x, for x >= 0; the error is below 1e-12 of it. */
static double hit(double x)
{
	double sum = 1, power = x / 256, y;
	int i;

	if (x > 40)
		return 1;
	for (i = 7; i > 1; i--)		/* (1 - e^-y) / y, y at most 0.16 */
		sum = 1 - power / i * sum;
	y = power * sum;
	for (i = 0; i < 8; i++)		/* of the double: 1 - (1 - y)^2 */
		y = y * (2 - y);
	return y;
}

/*
 * Return a number in [0, 1), by SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators" (2014).
 */
static double random_part(void)
{
	static uint64_t state;
	uint64_t z = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

bool rate_chooses(double size, double before, double now)
{
	return now <= before || random_part() * hit(size / before) < hit(size / now);
}

void rate_begin(void)
{
	memset(of, 0, sizeof(of));
}

/*
 * Count a sample. The interval is doubled as soon as the window has its most samples, so a burst has some
 * more; it is halved for each window with few or none.
 */
static void count(enum jvm_source source, uint32_t most)
{
	const uint64_t window = sys_now() / window_ns;
	uint64_t was = load_relaxed(&of[source].window);
	uint32_t doubled = load_relaxed(&of[source].doubled), nr;
	uint64_t nr_few;

	if (was != window && __atomic_compare_exchange_n(&of[source].window, &was, window, false,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		nr = __atomic_exchange_n(&of[source].nr, 0, __ATOMIC_RELAXED);
		nr_few = window - was - (nr >= most / 3);
		doubled -= doubled < nr_few ? doubled : (uint32_t)nr_few;
		store_relaxed(&of[source].doubled, doubled);
	}
	nr = add_relaxed(&of[source].nr, 1) + 1;
	if (nr % most == 0 && doubled < JVM_MOST_DOUBLED)
		store_relaxed(&of[source].doubled, doubled + 1);
}

bool rate_takes(enum jvm_source source, uint64_t size, uint64_t interval, uint32_t *doubled)
{
	struct jvm_ctl *ctl = ring_ctl();
	const uint32_t most = ctl ? load_relaxed(&ctl->rate) : 0;

	*doubled = most ? load_relaxed(&of[source].doubled) : 0;
	if (!most)
		return true;
	if (!rate_chooses((double)size, (double)interval,
			     (double)jvm_doubled_interval(interval, *doubled))) {
		add_relaxed(&ctl->left_out, 1);
		return false;
	}
	count(source, most);
	return true;
}
