/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unsampled.h - whether what is recorded used CPU time, as the kernel accounts for it, and has no samples of
 * it all the same.
 */
#ifndef COLLECT_UNSAMPLED_H
#define COLLECT_UNSAMPLED_H

#include "collect/engine/recording.h"

struct rusage;

/* Note what the processes and threads that are attached to have used so far. */
void unsampled_begin(struct collect *c);
/*
 * Look at the end, before the labels are written: where there should be samples of the CPU and is none, the
 * trace and c->res->no_samples say why. used: by the program that was started, NULL without one.
 */
void unsampled_end(struct collect *c, const struct rusage *used);

#endif
