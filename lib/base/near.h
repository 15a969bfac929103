/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * near.h - "did you mean": the known word nearest to one that was mistyped.
 *
 *	struct near n = near_init("recrod");
 *	near_try(&n, "record");
 *	near_try(&n, "report");
 *	n.best is "record", or NULL when none is near.
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

struct near {
	const char *word;
	const char *best;	/* borrowed from near_try(); NULL: none is near enough */
	unsigned int distance;	/* of best */
};

struct near near_init(const char *word);
void near_try(struct near *n, const char *candidate);

#endif
