/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ticker.h - waits for points in time, and for the signals that end a measurement, which stay
 * blocked all the while: no handler runs, nothing is half printed.
 */
#ifndef BASE_TICKER_H
#define BASE_TICKER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

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
