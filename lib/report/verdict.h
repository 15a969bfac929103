/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - judges a model by limits.
 *
 * An exact value is within its limit or not.  A sampled one is known as an interval, in which the truth
 * is in 19 of 20 cases: a limit is violated when all of it is beyond, kept when none is, and not decided
 * in between.  So is a calibrated value: in contexts where calibration subtracted as much as is left, it
 * is between 0 and what was measured.
 */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include "diff/diff.h"
#include "flow/model.h"
#include "report/limits.h"

enum verdict_state { VERDICT_KEPT, VERDICT_VIOLATED, VERDICT_UNDECIDED, VERDICT_ERROR, VERDICT_NR };

struct verdict {
	const struct limit *limit;
	enum verdict_state state;
	bool exact;			/* low and high are the value */
	double value, low, high;	/* in the limit's unit */
	char error[160];		/* of VERDICT_ERROR */
};

/* what all limits need of a finished model, which must stay */
struct judge {
	const struct model *m;
	uint64_t total[FLOW_MAX_METRICS], total_n;
	uint64_t *cum_n;		/* [node] */
	uint8_t *in;			/* [node]: scratch */
	uint8_t *has;			/* [consumer]: scratch */
};

void judge_init(struct judge *j, const struct model *m);
void judge_release(struct judge *j);
struct verdict judge_limit(struct judge *j, const struct limit *l);

/* growth.c: judge a limit that grows, by a finished comparison of its metric with the baseline, side A. */
struct verdict judge_growth(const struct limit *l, const struct diff *d);

/*
 * Return the state of an interval in the limit's unit; whether the name matches a limit's pattern; and the
 * verdict of an error. For both files.
 */
enum verdict_state verdict_state(const struct limit *l, double low, double high);
bool verdict_matches(const char *pattern, const char *name);
struct verdict __attribute__((format(printf, 2, 3)))
verdict_error(const struct limit *l, const char *fmt, ...);

#endif
