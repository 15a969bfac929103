/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tallies.h - what JVMs count of themselves, against which what is recorded is measured: pauses of their
 * collectors, and waits for monitors. The trace gets a record "proc.tally" of each.
 */
#ifndef COLLECT_PARTS_TALLIES_H
#define COLLECT_PARTS_TALLIES_H

#include <stdbool.h>

struct collect;

/* Something is recorded that JVMs count, and was all the time. */
bool tallies_are_kept(const struct collect *c);

#endif
