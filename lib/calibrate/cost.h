/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost.h - what counting a call costs, from what the trainer's loops took with hooks and without.
 *
 * The loops of a turn run one after the other, in a millisecond. So what is compared is of one turn: what
 * else the machine did meanwhile is in both. Of all turns the median counts, which an interrupted loop does
 * not move.
 */
#ifndef CALIBRATE_COST_H
#define CALIBRATE_COST_H

#include "calibrate/table.h"

/* The trainer's loops, as trainer.c explains them. */
enum calibration_loop {
	LOOP_PLAIN_EMPTY, LOOP_EMPTY,
	LOOP_PLAIN_CHAIN, LOOP_CHAIN,
	LOOP_PLAIN_LONG, LOOP_LONG,
	LOOP_PLAIN_STORES, LOOP_STORES,
	LOOP_PLAIN_CALLER, LOOP_CALLER,
	LOOP_PLAIN_THROWN, LOOP_THROWN,	/* of Java methods alone */
	CALIBRATION_LOOPS
};

/*
 * All calls of a loop in one turn, in the metric's unit: with the loop, of hooked calls without it, and what
 * the context of their call site has, which both includes.
 */
struct calibration_looped {
	int64_t both, within, site;
};

struct calibration_turn {
	struct calibration_looped of[CALIBRATION_LOOPS];
};

/* The median, the lower one of two; reorders values. nr is not 0. */
int64_t calibration_median(int64_t *values, size_t nr);

/*
 * Return the mean of the middle half, in thousandths, finer than the values are; reorders them. nr must not
 * be 0.
 */
int64_t calibration_middle(int64_t *values, size_t nr);

/*
 * Fill in within, between, site and doubt of *out from turns, at least one, whose loops make that many
 * calls.
 */
void calibration_derive(const struct calibration_turn *turns, size_t nr, uint32_t calls, bool precise,
			struct calibration_cost *out);

/*
 * Fill in out->thrown, of turns with such loops: what calls cost more that an exception ends. It is charged
 * to the caller, as the exception is thrown once more behind the last reading of the clock.
 */
void calibration_derive_thrown(const struct calibration_turn *turns, size_t nr, uint32_t calls,
			       struct calibration_cost *out);

/*
 * Sort the costs that runs found, and return the cheapest with the spread, and a doubt of which the runs are
 * part. nr is not 0. A spread above CALIBRATION_UNCERTAIN: the runs differ by more than a call costs, or
 * than is uncertain of that anyway.
 */
enum { CALIBRATION_UNCERTAIN = 1000 };
struct calibration_cost calibration_cheapest(struct calibration_cost *runs, size_t nr);

#endif
