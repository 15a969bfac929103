/* SPDX-License-Identifier: MIT */
/*
 * ticks.h - the clocks that sessions count in, in line: reading one's own time takes 25 ns in all
 * (anchor.h: 10).
 */
#ifndef API_TICKS_H
#define API_TICKS_H

#include <time.h>

#include "arch/cycles.h"
#include "arcprof_uapi.h"

static inline uint64_t arcprof_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);		/* in the vDSO */
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline uint64_t arcprof_ticks(uint32_t clock)
{
	return clock == ARCPROF_CLOCK_MONOTONIC ? arcprof_mono_ns() : arch_cycles();
}

static inline uint64_t arcprof_ticks_ns(const struct arcprof_ptt_header *h, uint64_t ticks)
{
	if (h->clock == ARCPROF_CLOCK_MONOTONIC)
		return ticks;
	return (unsigned __int128)ticks * h->mult >> h->shift;
}

/*
 * The calling thread's time from its slot, in ticks, interrupts left out.  The writer runs on the
 * same CPU, between two of our instructions: that the compiler keeps the order is enough.  Whoever
 * executes this is on a CPU; that the slot says otherwise means a switch that the kernel hid,
 * and last[] is of the time before.
 */
static inline uint64_t arcprof_own_ticks(const struct arcprof_slot *slot, uint32_t clock)
{
	const volatile struct arcprof_slot *s = slot;
	uint64_t acc, last, now;
	uint32_t seq;

	do {
		seq = s->seq;
		acc = s->acc[0];
		last = s->flags & ARCPROF_SLOT_RUNNING ? s->last[0] : UINT64_MAX;
		now = arcprof_ticks(clock);
	} while (seq != s->seq);
	return acc + (now > last ? now - last : 0);	/* the kernel's clock can be a few ns ahead */
}

#endif
