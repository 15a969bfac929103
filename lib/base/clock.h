/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - the clocks every trace is stamped with, in nanoseconds, and waiting by them. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <signal.h>
#include <stdbool.h>
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

/*
 * Return by how much CLOCK_MONOTONIC is ahead for that process, which may be in a time namespace, of what the
 * kernel stamps its records with. 0: it is not, or that cannot be read.
 */
int64_t clock_ahead_ns(int pid);

static inline uint64_t clock_real_ns(void) { return clock_read_ns(CLOCK_REALTIME); }

/* Sleep for wait_ns even if signals are handled meanwhile. */
void clock_sleep_ns(uint64_t ns);

/*
 * Waits for points in time, and for the signals that end a measurement, which stay blocked all the while:
 * no handler runs, nothing is half printed.
 */
struct ticker {
	sigset_t signals, old;
	uint64_t start_ns;	/* CLOCK_MONOTONIC; when ticker_start() was called */
	siginfo_t last;		/* the signal that ticker_wait() returned last */
};

/* Blocks SIGINT, SIGTERM and SIGHUP; with children SIGCHLD too. */
void ticker_init(struct ticker *t, bool children);
/* Count intervals from now. */
void ticker_start(struct ticker *t);
/* Waits until that time (CLOCK_MONOTONIC; UINT64_MAX: for ever).  0, or the signal that came first. */
int ticker_wait(struct ticker *t, uint64_t until_ns);
/*
 * Return the first end of an interval after now_ns: the times are start + n * interval, so that no error
 * adds up, and those that were missed (the machine slept) are left out.
 */
uint64_t ticker_next(const struct ticker *t, uint64_t interval_ns, uint64_t now_ns);
/* Restores the mask; a signal that came since the last wait is taken as seen. */
void ticker_release(struct ticker *t);

#endif
