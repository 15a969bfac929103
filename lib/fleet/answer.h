/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer.h - what a database says of a tree, as text that input_tree() reads. */
#ifndef FLEET_ANSWER_H
#define FLEET_ANSWER_H

#include "base/buf.h"
#include "base/err.h"

/*
 * names: lines of func, kind, name, module, detail.  rows: process, thread, labels, path, parent, func,
 * pfunc, n, base.  Both separated by tabs and escaped as ClickHouse does it, which is not undone.  Appends
 * lines of the form "# nodes", processes and threads included, to *tree.
 *
 * A context is called by its path and its function, so that two of equal path stay two.  -EINVAL: a line does
 * not have these fields, or a function has no name.
 */
int answer_tree(const char *names, const char *rows, struct buf *tree, struct err *e);

#endif
