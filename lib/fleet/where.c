// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * where.c - the columns of a process or thread are parameters of one SELECT that has the condition.
 *
 * The condition is the user's own, and sees nothing but these; still nothing is allowed that writes.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fleet/where.h"
#include "flow/ops.h"
#include "flow/union.h"

static const char *const columns[] = { "t", "trace", "service", "version", "host", "process", "thread",
				       "labels", "pid", "tid" };

struct where {
	sqlite3 *db;
	sqlite3_stmt *statement;
	/* While applied: */
	enum { UNKNOWN, FALSE, TRUE } *holds;	/* [node] */
	int r;				/* of SQLite */
};

static int authorize(void *ctx, int action, const char *a, const char *b, const char *db, const char *trigger)
{
	if (action == SQLITE_FUNCTION)
		return strcmp(b, "load_extension") ? SQLITE_OK : SQLITE_DENY;
	return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

static int prepare(struct where *w, const char *condition, struct err *e)
{
	struct buf sql = BUF_INIT;
	const char *rest = "";
	size_t i;
	int r;

	buf_str(&sql, "SELECT (SELECT 1 FROM (SELECT");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		buf_fmt(&sql, "%s ?%zu AS %s", i ? "," : "", i + 1, columns[i]);
	buf_fmt(&sql, ") WHERE (%s\n))", condition);
	r = sqlite3_prepare_v2(w->db, sql.data, -1, &w->statement, &rest);
	if (r) {
		r = err_set(e, EINVAL, "--where: %s", sqlite3_errmsg(w->db));
		err_hint(e, "in a folder a condition is SQLite's, on t, trace, service, version, host, process, "
			    "thread, labels, pid and tid");
	} else if (*rest || sqlite3_bind_parameter_count(w->statement) != ARRAY_SIZE(columns)) {
		r = err_set(e, EINVAL, "--where: more than a condition");
	}
	buf_release(&sql);
	return r;
}

int where_open(struct where **out, const char *condition, struct err *e)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
	struct where *w = xcalloc(1, sizeof(*w));
	int r = sqlite3_open_v2(":memory:", &w->db, flags, NULL);

	/* as servers compare */
	if (!r)
		r = sqlite3_exec(w->db, "PRAGMA case_sensitive_like = 1; PRAGMA query_only = 1", NULL, NULL,
				 NULL);
	if (r) {
		r = err_set(e, ENOMEM, "--where: %s", sqlite3_errmsg(w->db));
	} else {
		sqlite3_limit(w->db, SQLITE_LIMIT_ATTACHED, 0);
		sqlite3_db_config(w->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
		sqlite3_set_authorizer(w->db, authorize, NULL);
		r = prepare(w, condition, e);
	}
	if (r) {
		where_close(w);
		w = NULL;
	}
	*out = w;
	return r;
}

void where_close(struct where *w)
{
	if (!w)
		return;
	sqlite3_finalize(w->statement);
	sqlite3_close(w->db);
	free(w);
}

static bool is_text(size_t column)
{
	return column >= 2 && column <= 7;
}

/* Decide about a process or a thread, or about what is in neither. */
static void decide(void *ctx, uint32_t node, const char *s)
{
	struct where *w = ctx;
	size_t i, len;
	int r;

	for (i = 0; i < ARRAY_SIZE(columns); i++, s += len + (s[len] == '\t')) {
		len = strcspn(s, "\t");
		if (is_text(i))
			sqlite3_bind_text(w->statement, i + 1, s, len, SQLITE_TRANSIENT);
		else
			sqlite3_bind_int64(w->statement, i + 1, strtoll(s, NULL, 10));
	}
	r = sqlite3_step(w->statement);
	if (r == SQLITE_ROW)
		w->holds[node] = sqlite3_column_int(w->statement, 0) ? TRUE : FALSE;
	else
		w->r = r;
	sqlite3_reset(w->statement);
}

static bool has_values(const struct flow *f, uint32_t node)
{
	bool has = f->nodes[node].n;
	unsigned int i;

	for (i = 0; i < f->nr_metrics; i++)
		has |= flow_base(f, node)[i] != 0;
	return has;
}

/* Choose the nodes whose process and thread meet the condition; nodes come after their parents. */
static bool *choose(struct where *w, const struct flow *f)
{
	bool *mine = xcalloc(f->nr_nodes, sizeof(*mine));
	uint32_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		if (w->holds[i] == UNKNOWN)
			w->holds[i] = w->holds[f->nodes[i].parent];
		mine[i] = w->holds[i] == TRUE && has_values(f, i);
	}
	return mine;
}

int where_apply(struct where *w, const struct same_opts *same, const struct fleet_recording *r,
		struct model *m, struct err *e)
{
	const struct union_opts uo = { .identify = same_identify, .ctx = same };
	struct model_union u;
	struct model whole;
	struct flow kept;
	bool *mine;
	int ret;

	union_init(&u, &whole, &uo);
	ret = union_add(&u, m, 0, NULL, e);
	union_finish(&u);
	union_release(&u);
	if (!ret) {
		w->holds = xcalloc(whole.flow.nr_nodes, sizeof(*w->holds));
		w->r = 0;
		fleet_table_heads(same, r, &whole, decide, w);
		if (w->r)
			ret = err_set(e, EINVAL, "--where: %s", sqlite3_errmsg(w->db));
		mine = choose(w, &whole.flow);
		flow_keep(&whole.flow, mine, &kept, NULL);
		model_take_flow(&whole, &kept, NULL);
		free(w->holds);
		free(mine);
		model_release(m);
		*m = whole;
		if (!ret)
			ret = m->flow.nr_nodes <= 1;
	} else {
		model_release(&whole);
	}
	return ret;
}
