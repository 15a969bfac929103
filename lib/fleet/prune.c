// SPDX-License-Identifier: GPL-2.0-or-later
/* prune.c - drops partitions that are older than they are to be kept (prune.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/prune.h"

/* The columns that nodes, hours and days share, but t and the values. */
#define DIMENSIONS \
	"service, version, process, thread, labels, source, metric, unit, path, parent, func, pfunc, depth, rl, prl"
#define NOT_ZERO "sum(dn) != 0 OR sum(dbase) != 0 OR sum(dcum) != 0"

enum { WEEK_S = 7 * 86400 };

/* As sql/clickhouse.sql has them. */
static const struct level {
	const char *name;
	unsigned int partition_s;	/* the length of a partition */
	unsigned int unit_s;		/* t is a multiple of it */
} levels[PRUNE_NR] = {
	[PRUNE_NODES] = { "nodes", WEEK_S, 1 },
	[PRUNE_HOURS] = { "hours", WEEK_S, 3600 },
	[PRUNE_DAYS] = { "days", 4 * WEEK_S, 86400 },
};

struct partition {
	uint64_t number, nr_rows, len_bytes;
};

/* Append the difference between one table and the next one, for the same time. */
static void put_difference(struct buf *b, enum prune_table table, uint64_t first_s, uint64_t end_s)
{
	const unsigned int unit_s = levels[table + 1].unit_s;

	buf_fmt(b, "(SELECT toUInt32(intDiv(t, %u) * %u) AS start, " DIMENSIONS
		   ", n AS dn, base AS dbase, cum AS dcum FROM %s WHERE t >= %" PRIu64 " AND t < %" PRIu64,
		unit_s, unit_s, levels[table].name, first_s, end_s);
	buf_fmt(b, " UNION ALL SELECT t AS start, " DIMENSIONS
		   ", -n AS dn, -base AS dbase, -cum AS dcum FROM %s WHERE t >= %" PRIu64,
		levels[table + 1].name, first_s);
	buf_fmt(b, " AND t < %" PRIu64 ")", end_s);
}

/* The sums of functions of which the next table has less, and of which it has more. */
struct differences {
	uint64_t nr_less, nr_more;
};

static int count_differences(const struct http_request *q, enum prune_table table, uint64_t first_s,
			     uint64_t end_s, struct differences *d, struct err *e)
{
	struct buf sql = BUF_INIT, answer = BUF_INIT;
	char *end;
	int r;

	buf_str(&sql, "SELECT countIf(sn > 0 OR sbase > 0 OR scum > 0), countIf(sn < 0 OR sbase < 0 OR scum < 0)"
		      " FROM (SELECT sum(dn) AS sn, sum(dbase) AS sbase, sum(dcum) AS scum FROM ");
	put_difference(&sql, table, first_s, end_s);
	buf_str(&sql, " GROUP BY service, version, source, metric, func)");
	r = http_query(q, sql.data, &answer, e);
	if (!r) {
		d->nr_less = strtoull(answer.data, &end, 10);
		d->nr_more = strtoull(end, &end, 10);
		if (*end != '\n')
			r = err_set(e, EPROTO, "the server's answer is not two numbers: %.60s", answer.data);
	}
	buf_release(&sql);
	buf_release(&answer);
	return r;
}

static int add_difference(const struct http_request *q, enum prune_table table, uint64_t first_s,
			  uint64_t end_s, struct err *e)
{
	struct buf sql = BUF_INIT, answer = BUF_INIT;
	int r;

	buf_fmt(&sql, "INSERT INTO %s (t, " DIMENSIONS ", n, base, cum) SELECT start, " DIMENSIONS
		      ", sum(dn), sum(dbase), sum(dcum) FROM ", levels[table + 1].name);
	put_difference(&sql, table, first_s, end_s);
	buf_str(&sql, " GROUP BY start, " DIMENSIONS " HAVING " NOT_ZERO);
	r = http_query(q, sql.data, &answer, e);
	buf_release(&sql);
	buf_release(&answer);
	return r;
}

/*
 * Check that the next table has everything in a partition. If not, it gets the rest. A week that was dropped
 * before and got late recordings since has more in the next table: then nothing can be said of what it lacks.
 */
static int complete_next(const struct http_request *q, enum prune_table table, uint64_t number,
			 struct pruned *pruned, struct err *e)
{
	uint64_t first_s = number * levels[table].partition_s, end_s = first_s + levels[table].partition_s;
	struct differences d;
	int r = count_differences(q, table, first_s, end_s, &d, e);

	if (r || (!d.nr_less && !d.nr_more))
		return r;
	if (!d.nr_less)
		return 0;
	if (d.nr_more)
		return err_set(e, EPROTO, "partition %" PRIu64 " of %s has less than %s in %" PRIu64
			       " sums, and more in %" PRIu64 "; it stays", number, levels[table + 1].name,
			       levels[table].name, d.nr_less, d.nr_more);
	pruned->nr_added += d.nr_less;
	r = add_difference(q, table, first_s, end_s, e);
	if (!r)
		r = count_differences(q, table, first_s, end_s, &d, e);
	if (!r && (d.nr_less || d.nr_more))
		r = err_set(e, EAGAIN, "recordings were pushed into partition %" PRIu64 " of %s meanwhile", number,
			    levels[table].name);
	return r;
}

static int fleet_prune_drop(const struct http_request *q, enum prune_table table, const struct partition *x,
			    struct pruned *pruned, struct err *e)
{
	struct buf sql = BUF_INIT, answer = BUF_INIT;
	int r = table + 1 < PRUNE_NR ? complete_next(q, table, x->number, pruned, e) : 0;

	buf_fmt(&sql, "ALTER TABLE %s DROP PARTITION %" PRIu64, levels[table].name, x->number);
	if (!r)
		r = http_query(q, sql.data, &answer, e);
	if (!r) {
		pruned->nr_partitions++;
		pruned->nr_rows += x->nr_rows;
		pruned->len_bytes += x->len_bytes;
	}
	buf_release(&sql);
	buf_release(&answer);
	return r;
}

static bool fleet_prune_take_number(const char **p, uint64_t *v, char behind)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*v = strtoull(*p, &end, 10);
	*p = end + 1;
	return !errno && *end == behind;
}

static bool parse_partition(const char **p, struct partition *x)
{
	return fleet_prune_take_number(p, &x->number, '\t') &&
	       fleet_prune_take_number(p, &x->nr_rows, '\t') &&
	       fleet_prune_take_number(p, &x->len_bytes, '\n');
}

static int refuse_partition(enum prune_table table, const char *line, struct err *e)
{
	err_set(e, ENODATA, "the partitions of %s are not those that 'arcprof fleet create' makes: %.*s",
		levels[table].name, (int)strcspn(line, "\t\n"), line);
	err_hint(e, "ALTER TABLE %s DROP PARTITION '...' drops them by hand", levels[table].name);
	return -ENODATA;
}

static int fleet_prune_table(const struct http_request *q, enum prune_table table, uint64_t keep_s,
			     uint64_t now_s, struct pruned *pruned, struct err *e)
{
	struct buf sql = BUF_INIT, answer = BUF_INIT;
	const char *p, *line;
	struct partition x;
	int r;

	buf_fmt(&sql, "SELECT partition, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active"
		      " AND database = currentDatabase() AND table = '%s' GROUP BY partition ORDER BY partition",
		levels[table].name);
	r = http_query(q, sql.data, &answer, e);
	for (p = r ? "" : answer.data; *p && !r;) {
		line = p;
		if (!parse_partition(&p, &x) || x.number > UINT32_MAX / levels[table].partition_s)
			r = refuse_partition(table, line, e);
		else if (x.number && (x.number + 1) * levels[table].partition_s + keep_s <= now_s)
			r = fleet_prune_drop(q, table, &x, pruned, e);
	}
	buf_release(&sql);
	buf_release(&answer);
	return r;
}

static int ask_for_tables(const struct http_server *server, struct err *e)
{
	uint64_t nr_tables;
	int r = http_ask_number(server, "SELECT count() FROM system.tables WHERE database = currentDatabase()"
				" AND name IN ('nodes', 'hours', 'days')", &nr_tables, e);

	if (r || nr_tables == PRUNE_NR)
		return r;
	http_refuse(e, ENODATA, server->url, "the server does not have the tables nodes, hours and days");
	err_hint(e, "'arcprof fleet create URL' makes them");
	return -ENODATA;
}

int prune_tables(const struct http_server *server, const uint64_t keep_s[PRUNE_NR], uint64_t now_s,
		 struct pruned pruned[PRUNE_NR], struct err *e)
{
	const struct http_request q = { .server = server };
	enum prune_table i;
	int r = ask_for_tables(server, e);

	for (i = 0; i < PRUNE_NR; i++)
		pruned[i] = (struct pruned){ .table = levels[i].name,
					     .sums = i + 1 < PRUNE_NR ? levels[i + 1].name : NULL };
	for (i = 0; i < PRUNE_NR && !r; i++)
		if (keep_s[i])
			r = fleet_prune_table(&q, i, keep_s[i], now_s, &pruned[i], e);
	return r;
}
