/* SPDX-License-Identifier: MIT */
/*
 * anchor.h - a thread's time from the CPU's counter alone: a reading that was taken with care, and what
 * has passed since. It holds as long as a sequence number stands, that is, as long as the thread has
 * not left its CPU: so counters need not agree between CPUs.
 */
#ifndef API_ANCHOR_H
#define API_ANCHOR_H

#include <stdbool.h>

#include "api/ticks.h"

/* a moment, read by both clocks */
struct arcprof_moment {
	uint64_t mono_ns, cycles;
};

struct arcprof_anchor {
	uint32_t seq;
	uint64_t ns;			/* the thread's time at cycles */
	uint64_t cycles;
	/* ns a cycle, times 2^32; 0: not known yet, the anchor does not hold */
	uint64_t mult;
	uint64_t refine;		/* cycles at which mult is computed anew */
};

/*
 * Find out whether the counter is a clock, and begin to measure it; once per process, before any anchor is
 * set.
 */
void arcprof_anchor_init(void);
struct arcprof_moment arcprof_moment_now(void);
/* Note that the thread had ns at that moment, while its sequence number was seq. */
void arcprof_anchor_set(struct arcprof_anchor *a, uint32_t seq, uint64_t ns,
			const struct arcprof_moment *now);

/*
 * Compute the time; return false if the anchor does not hold any more, or for too long. The compiler has to
 * keep the order, as for slots (arcprof_uapi.h).
 */
static inline bool arcprof_anchor_ns(const struct arcprof_anchor *a, const volatile uint32_t *seq,
				     uint64_t *ns)
{
	uint64_t since;

	if (*seq != a->seq || !a->mult)
		return false;
	__asm__ volatile("" : : : "memory");
	since = arch_cycles() - a->cycles;
	__asm__ volatile("" : : : "memory");
	if (since >> 32 || *seq != a->seq)
		return false;
	*ns = a->ns + (since * a->mult >> 32);
	return true;
}

#endif
