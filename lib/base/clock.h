/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - the clocks every trace is stamped with, in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

/*
 * Of a thread that handles what happened long ago as if it happened now (collect/jvm/replay.c): the time that
 * it is there; 0 elsewhere.
 */
extern _Thread_local uint64_t clock_replayed_ns;

static inline uint64_t clock_mono_ns(void)
{
	return clock_replayed_ns ? clock_replayed_ns : clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_real_ns(void) { return clock_read_ns(CLOCK_REALTIME); }

/* Sleeps for that long, whatever signals are handled meanwhile. */
void clock_sleep_ns(uint64_t ns);

#endif
