/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lifetimes.h - how long threads lived while the source "wall" was recorded, by the kernel's records of their
 * forks and exits, against which its samples are measured: these come from slots that are filled when threads
 * are switched. The trace gets records "thread.counted", and the total as label event.N.counted.
 */
#ifndef COLLECT_PARTS_LIFETIMES_H
#define COLLECT_PARTS_LIFETIMES_H

#include <stdint.h>

struct collect;

/* The source begins; what was before counts for nothing. */
void lifetimes_begin(struct collect *c, uint64_t now_ns);

#endif
