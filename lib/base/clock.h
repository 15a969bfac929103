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
 * The time that clock_mono_ns() returns to a thread that replays past events (collect/jvm/replay.c); 0 in
 * other threads.
 */
extern _Thread_local uint64_t clock_replayed_ns;

static inline uint64_t clock_mono_ns(void)
{
	return clock_replayed_ns ? clock_replayed_ns : clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_real_ns(void) { return clock_read_ns(CLOCK_REALTIME); }

/* Sleep for wait_ns even if signals are handled meanwhile. */
void clock_sleep_ns(uint64_t ns);

#endif
