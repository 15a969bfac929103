/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * train.h - measures the cost of counting a call: records, as a user would, a program that does little else,
 * and reads it from the tree.
 */
#ifndef CMD_TRAIN_H
#define CMD_TRAIN_H

#include "calibrate/table.h"

struct training {
	bool java, precise, verify;
	bool events;			/* of a call trace, and not its tree, say what counting costs */
	bool sites;			/* contexts of call sites are between those of caller and callee */
	enum calibration_tier tier;	/* of the methods' code: as in recordings with --call-tier */
	char dir[64];			/* with the program, its trace and what it prints */
	char program[96], trace[96], output[96], messages[96];
	char command[4096];		/* of a JVM */
	unsigned int nr_refused;	/* results that vary too much to be used, which was reported */
};

/* Check whether calls of a consumer of that kind are of the tier that is measured. */
bool train_has_tier(const struct training *t, uint32_t kind);
/* Return why no JVM can be measured; NULL: one can. */
const char *train_no_java(void);
/* java: what starts the JVM to be measured; NULL: native functions are. */
int train_start(struct training *t, const char *java, struct err *e);
/*
 * Measure a set of metrics, named as for record: seven recordings, and a row in the table for each metric.
 * What varies too much is not used unless it is accepted; a warning says so, and a row that is used stays.
 */
int train_set(struct training *t, const char *metrics, bool accept, struct calibration *table, struct err *e);
/* The figures of calls of a function of some length, each in the metric's unit. */
struct train_length {
	const char *work;		/* "chain" of steps, each of which needs the one before, or "stores" */
	unsigned int steps;
	double own;			/* without hooks, and without the call itself */
	double measured, calibrated;
	bool marked;			/* reports mark it as one that may be off */
};
enum { TRAIN_LENGTHS = 10 };
/*
 * One recording of functions of several lengths, by the table as it is now. -ENODATA: it has nothing for
 * these, or nothing that is used.
 */
int train_verify(struct training *t, const char *metric, struct train_length out[static TRAIN_LENGTHS],
		 struct err *e);
void train_end(const struct training *t);

#endif
