/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.h - another interval of a perf event while it is recorded: "arcprof ctl set interval cpu-clock=10ms".
 *
 * The kernel would change the period of one event (PERF_EVENT_IOC_PERIOD), but not of those that tasks have
 * inherited from it, and samples of a clock would go on to say the period before. So every set with that
 * event is opened once more on the tasks that have it, and takes over from the set before: each sample has
 * the period that it was taken with. What threads have done since their last samples, half an interval each
 * on each CPU, would be nobody's: it is the difference between what a set has counted and what its samples
 * say, and is added to the samples that come next, at most as much as they weigh themselves. So totals are
 * what they would be without the change, but for the moment between the two sets.
 *
 * Programs that a JVM has started, or starts, keep the interval that they had: they have their events from
 * LATENT sets (evset.h), which only the kernel knows to be asleep or not.
 */
#ifndef COLLECT_RATES_H
#define COLLECT_RATES_H

#include <stddef.h>

#include "base/err.h"
#include "collect/engine/evset.h"

struct collect;

/*
 * Samples of clocks may take a fifth of a program's time (pmu/probe.h), and no more than the kernel lets
 * through. Finds in conf->hit_ns what one takes, where rates are so high that it matters; returns the
 * shortest period that each clock may have, 0: any.
 */
uint64_t rates_shortest_ns(struct evconf *conf);
/* Return whether the kernel's limit made it that long, and not the cost of a sample. */
bool rates_kernel_bounds(const struct evconf *conf, uint64_t least_ns);
/*
 * Parse a rate for perf event number event of the recording: "10ms" for a clock, "4000hz", "100000" events.
 */
int rates_parse(struct collect *c, size_t event, const char *text, struct ev_rate *rate, struct err *e);
/* Set the rate of an event from now on. On error nothing changes. */
int rates_set(struct collect *c, size_t event, const struct ev_rate *rate, struct err *e);
/* Return how much more a sample of that period is to weigh, for what changes have left over. */
uint64_t rates_left_over(struct collect *c, size_t event, uint64_t period);
void rates_release(struct collect *c);

#endif
