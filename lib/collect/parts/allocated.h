/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocated.h - what threads of JVMs have allocated as their JVMs count it, against which the samples of the
 * source "alloc" are measured.
 *
 * The trace gets records "thread.counted", and the total as label event.N.counted; or, where that is not
 * known, why, as event.N.uncounted.
 */
#ifndef COLLECT_PARTS_ALLOCATED_H
#define COLLECT_PARTS_ALLOCATED_H

#include <stdbool.h>
#include <stdint.h>

struct collect;
struct java;
struct jvm_sample;

/* Just before the program is let go, or sampling of what runs already begins. */
void allocated_begin(struct collect *c);
/* A sample that an agent took of the source, and that is written. */
void allocated_sampled(struct collect *c, const struct java *j, const struct jvm_sample *s);
/* There is an account so far. */
bool allocated_is_kept(const struct collect *c);

#endif
