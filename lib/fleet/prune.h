/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prune.h - drops what is older than it is to be kept, on a server of ClickHouse: whole partitions, weeks of
 * nodes and hours, four weeks of days, counted in UTC from 1970.
 *
 * Before a week of nodes goes, its sums are compared with those of hours, and a week of hours with days. The
 * server fills these tables one after the other, so one that was killed between two may have less in the
 * second: that is added first.
 */
#ifndef FLEET_PRUNE_H
#define FLEET_PRUNE_H

#include "fleet/http.h"

enum prune_table { PRUNE_NODES, PRUNE_HOURS, PRUNE_DAYS, PRUNE_NR };

struct pruned {
	const char *table, *sums;	/* sums: the table that has them; NULL of the last */
	uint64_t nr_partitions, nr_rows, len_bytes;	/* that were dropped */
	uint64_t nr_added;		/* sums of functions that sums lacked; they were added */
};

/*
 * Drops the partitions that ended more than keep_s[table] before now_s; 0 seconds: keeps all. Rows without a
 * time, whose t is 0, stay. Fills pruned[] also when it fails. Errors are those of http_query(); -ENODATA: a
 * table is missing, or was made by an earlier arcprof; -EAGAIN also: somebody pushed into a week meanwhile.
 */
int prune_tables(const struct http_server *server, const uint64_t keep_s[PRUNE_NR], uint64_t now_s,
		 struct pruned pruned[PRUNE_NR], struct err *e);

#endif
