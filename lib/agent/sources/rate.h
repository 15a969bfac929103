/* SPDX-License-Identifier: MIT */
/*
 * rate.h - a bound on the samples per second of a source (jvm_ctl.rate): where there would be more, its
 * interval is doubled, and again, until there are not. Each sample says how often it was doubled when it was
 * chosen, so it stands for the more. As it is chosen by chance, all sums stay right on average, whatever is
 * left out.
 *
 * For any thread, at the same time.
 */
#ifndef AGENT_RATE_H
#define AGENT_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/proto.h"

/* Check whether a sample that was chosen with one mean distance is one with the other, too; by chance. */
bool rate_chooses(double size, double before, double now);
/* Reset all intervals for a new session. */
void rate_begin(void);
/*
 * Check whether what was hit with the source's interval, of that size, is to be a sample with the interval
 * that there is now: *doubled is for sources_sample(). One that is not was counted.
 */
bool rate_takes(enum jvm_source source, uint64_t size, uint64_t interval, uint32_t *doubled);

#endif
