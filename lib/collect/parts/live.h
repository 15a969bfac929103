/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - which of the sampled objects live on (record -e live): what a JVM's agent reports about them,
 * held until it is known what has become of each.
 *
 * A weak reference that is not cleared says something only of objects that a collection has looked at, and
 * which those are, no collector tells. So an object is known to have survived if it was allocated before
 * another one that was found dead, or before so many pauses that one of them must have been of a collection
 * of it. What was allocated later is not known: it is neither live nor dead.
 */
#ifndef COLLECT_LIVE_H
#define COLLECT_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "jvm/server.h"
#include "trace/frame.h"

struct collect;
struct java;
struct lives;

/* Add an allocated object: frames, outermost first, with its class. */
void lives_born(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
		const struct frame *frames, size_t nr);
void lives_gone(struct collect *c, struct java *j, const struct jvm_gone_objects *r);
void lives_swept(struct collect *c, struct java *j, const struct jvm_swept *r);
/* Write, for a heap dump, which objects are watched now, and where they were allocated. */
void lives_roster(struct java *j, const struct jvm_roster *r);
/*
 * Process the agent's log of what became of objects. It is read before the rings, which report the objects,
 * so it is kept until these have been read, too.
 */
void lives_drained(struct collect *c, struct java *j);
/* Return how often the agent has checked all objects. */
uint64_t lives_nr_sweeps(const struct java *j);
/* Note that a whole collection began at that time, after which the agent has checked all objects. */
void lives_collected(struct java *j, uint64_t time_ns);
/*
 * Write what is alive when the JVM or the recording is over. Call this once, before addresses get their
 * names.
 */
void lives_end(struct collect *c, struct java *j);
void lives_free(struct lives *l);

/* ---- histogram.c: how many objects of each class a JVM has, as it counts them itself ---- */

struct histogram_row {
	const char *name;		/* as the JVM writes it: "[B"; borrowed for the call */
	size_t name_len;
	uint64_t objects, bytes;
};

/* Rows of a JVM's answer, which may be anything; other lines are skipped. */
void histogram_parse(const char *text, size_t len, void (*row)(void *ctx, const struct histogram_row *r),
		     void *ctx);

/*
 * Have each JVM whose objects are watched, before it must stop, collect all garbage and count what is
 * left. Wait until its agent has looked at its objects, and write the totals. This takes seconds.
 */
void histograms_take(struct collect *c);

#endif
