/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choice.h - which rows are shown, and in what order. */
#ifndef DIFF_CHOICE_H
#define DIFF_CHOICE_H

#include "diff/rows.h"

enum choice_sort { CHOICE_BY_DELTA, CHOICE_BY_CHANGE, CHOICE_BY_A, CHOICE_BY_B, CHOICE_BY_NAME };

enum choice_direction { CHOICE_ANY, CHOICE_UP, CHOICE_DOWN };

struct choice_opts {
	bool significant;	/* rows that changed; contexts above them, and stanzas of them as a whole */
	double min_share;	/* percent: rows with less of both totals are hidden, unless they changed */
	uint64_t limit;		/* rows, or stanzas; 0: all */
	int sort;		/* enum choice_sort: the largest first; contexts stay below their callers */
	double at_least;	/* part of A's value: rows that changed by less have not changed */
	int direction;		/* enum choice_direction: rows that changed in the other have not changed */
};

struct choice {
	struct diff_rows *x;
	struct choice_opts o;
	bool *shown;			/* [row] */
	uint32_t *stanza_of;		/* by arc: [consumer], 1 + number of its stanza; 0: not shown */
	size_t nr_shown, nr_hidden;	/* rows, or stanzas */
};

/*
 * Choose the rows to show and sort x: rows of a stanza stay together, self between parents and children.
 * Rows whose change is too small, or in the wrong direction, are no longer marked as changed.
 */
void choice_init(struct choice *p, struct diff_rows *x, const struct choice_opts *o);
void choice_release(struct choice *p);

/* Return whether the row is the first of its stanza; true for all other rows. */
bool choice_begins(const struct choice *p, size_t row);
/* Return how many functions or contexts changed. */
size_t choice_nr_changed(const struct diff_rows *x);
/* Return delta as a part of the value of side A, INFINITY if that is 0. */
double choice_change(const struct diff_row *row);
/*
 * Return how a changed method's code of the last compiler changed, on which the verdict is based, if that is
 * far from choice_change(); else NAN.
 */
double choice_compiled(const struct diff_row *row);

#endif
