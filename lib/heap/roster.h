/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roster.h - the objects that the agent made so that a dump tells which of its objects are samples
 * (jvm/roster.h). They are not the program's: no report shows them.
 */
#ifndef HEAP_ROSTER_H
#define HEAP_ROSTER_H

#include "heap/heap.h"

/* Note in the first walk if these numbers are a roster's; of several the last one is used. */
void roster_see(struct heap *h, const struct hprof_item *x);
/*
 * Take the roster's objects out of the ids, after the first walk and before ids_finish(). This takes one
 * more walk, if there is a roster.
 */
void roster_hide(struct heap *h);
void heap_roster_release(struct heap_roster *r);

/*
 * heap_has_samples() returns whether the dump has samples, and their cookie. heap_samples() returns which
 * object is which sample: [object] is the sample's number, 0 for none; the caller frees it. It takes one
 * walk.
 */
bool heap_has_samples(const struct heap *h, uint64_t *cookie);
uint32_t *heap_samples(const struct heap *h);

#endif
