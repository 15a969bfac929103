/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * where.h - a condition on columns of nodes, without a database server: SQLite decides for each process and
 * thread of a recording whether it is true, so that a folder of traces is cut as a server cuts its rows.
 */
#ifndef FLEET_WHERE_H
#define FLEET_WHERE_H

#include "fleet/table.h"

struct where;

/* -EINVAL: the condition is none, or one on columns that a process or thread does not have. */
int where_open(struct where **out, const char *condition, struct err *e);
void where_close(struct where *w);

/*
 * Replaces the finished model by the part of it for which the condition is true, with what is the same added
 * up as in a table. 1: there is nothing of it. -EINVAL: the condition cannot be computed.
 */
int where_apply(struct where *w, const struct same_opts *same, const struct fleet_recording *r,
		struct model *m, struct err *e);

#endif
