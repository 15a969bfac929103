/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input.h - the three text forms a model can be read from, and the one it can be
 * written to.
 *
 * A line that starts with '#' is a comment, unless it is a directive at the top:
 *	# metric NAME [UNIT]	one for each column of numbers, in order
 *	# n calls|samples	what occurrences count
 *	# clock thread		events: each thread's values are its own (default: one clock for all)
 *	# levels		tree: the second form below
 *	# nodes			tree: the third
 * Empty lines count for nothing.  Numbers are decimal, 0 to 2^64 - 1.
 *
 * Events:  VALUE... KIND NAME, separated by single blanks; the name is the rest of the line.
 *	0 pidtid AC_test	what follows is that thread's (consumer "AC_test_pidtid")
 *	1 > B			B is entered
 *	2 < B			B is left
 * Values never decrease.  n counts calls.
 *
 * Stacks:  NAME;NAME;...;NAME NUMBER..., outermost first.  The first column is the number of
 * samples, unless directives name another.  n counts samples: the column named
 * "samples", or 1 a line when there is none.
 *
 * Tree:  PATH <TAB> N <TAB> BASE..., the path as in stacks, with \; \\ \t \n for these characters; or,
 * with "# levels", in preorder
 *	LEVEL <TAB> N <TAB> BASE... <TAB> NAME [<TAB> KIND <TAB> MODULE <TAB> DETAIL <TAB> KEY]
 * which holds a model exactly; or, with "# nodes", in any order
 *	PATH <TAB> PARENT <TAB> N <TAB> BASE... <TAB> NAME [<TAB> KIND <TAB> MODULE <TAB> DETAIL <TAB> KEY]
 * as a database answers. PATH is any text that tells the node from the others, PARENT that of its parent:
 * empty or 0 for a root. Rows of one node are added; \' is ' as ClickHouse writes it.
 *
 * All return 0, or -EINVAL with the number and the fault of the first bad line.  The model is
 * initialised by the call, also on failure, and finished.
 */
#ifndef FLOW_INPUT_H
#define FLOW_INPUT_H

#include "base/err.h"
#include "flow/model.h"

int input_events(struct model *m, const char *data, size_t len, struct err *e);
int input_stacks(struct model *m, const char *data, size_t len, struct err *e);
int input_tree(struct model *m, const char *data, size_t len, struct err *e);

/* Write the "# levels" form. */
void output_tree(const struct model *m, FILE *out);

#endif
