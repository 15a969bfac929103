/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * match.h - match consumers that only one side has, but that are the same:
 *
 *	a program that is called otherwise, and its main thread: the only ones without their like
 *	functions that moved to another module, Java methods whose package changed: by their name
 *	names with other numbers (lambda$run$2, fn__123), in the same place
 *	functions that were renamed: in the same module or class, between the same callers and callees
 *
 * A place is the set of callers. Where several could be meant, none is matched. The last two kinds need
 * enough samples on each side that neither is there by chance.
 */
#ifndef DIFF_MATCH_H
#define DIFF_MATCH_H

#include "diff/diff.h"

/*
 * Give matched consumers their name on side B, and fill d->was. Call it after union_finish(). Returns false
 * if there is nothing to match; else where[] holds the new node of each.
 */
bool match_consumers(struct diff *d, uint32_t *where);

#endif
