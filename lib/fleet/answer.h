/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer.h - what a database says of a tree, as text that input_tree() reads. */
#ifndef FLEET_ANSWER_H
#define FLEET_ANSWER_H

#include "base/buf.h"
#include "base/err.h"

/*
 * What a database says, as lines whose fields are separated by tabs and escaped as ClickHouse does it, which
 * is not undone.
 */
struct answer {
	const char *names;		/* func, kind, name, module, detail */
	const char *heads;		/* head, process, thread, labels; the head is one number for these */
	const char *rows;		/* head, path, parent, func, pfunc, n, base */
};

/*
 * Appends lines of the form "# nodes", processes and threads included, to *tree.
 *
 * A context is called by its path and its function, so that two of equal path stay two.  -EINVAL: a line does
 * not have these fields, or a function has no name, or a row no head.
 */
int answer_tree(const struct answer *a, struct buf *tree, struct err *e);

#endif
