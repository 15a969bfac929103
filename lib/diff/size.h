/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * size.h - how large a run is, by what most of its functions did: how much work it did, and how fast the
 * machine was. A function that changed hardly changes it, whereas it changes the total, and with that the
 * shares of all others.
 */
#ifndef DIFF_SIZE_H
#define DIFF_SIZE_H

#include "diff/diff.h"

/*
 * Fill diff_run.size of all runs, in units of the metric, and diff.size_variance. The mean size of side A's
 * runs is that of their totals, so that a value divided by it is a share of A's total. If too little is on
 * both sides to judge by, it is the run's own total. The runs' base and cum must be complete.
 */
void size_find(struct diff *d);

#endif
