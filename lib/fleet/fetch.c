// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fleet/answer.h"
#include "fleet/fetch.h"
#include "flow/input.h"

static const char *const settings[] = { "distributed_product_mode=global", NULL };

void fetch_put_literal(struct buf *b, const char *s)
{
	buf_putc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
	buf_putc(b, '\'');
}

void fetch_put_rows(struct buf *b, const struct fetch *f, const char *metric)
{
	buf_fmt(b, " FROM %s WHERE t >= %" PRIu64, f->table, f->since_s);
	if (f->until_s)
		buf_fmt(b, " AND t < %" PRIu64, f->until_s);
	if (metric) {
		buf_str(b, " AND metric = ");
		fetch_put_literal(b, metric);
	}
	if (f->where)
		buf_fmt(b, " AND (%s)", f->where);
}

int fetch_ask(const struct fetch *f, const struct buf *sql, size_t max_answer, struct buf *answer,
	      struct err *e)
{
	const struct http_request q = { .server = f->server, .params = settings, .max_answer = max_answer };

	return http_query(&q, sql->data, answer, e);
}

static char *take_field(const char **p, const char *end)
{
	size_t len = strcspn(*p, "\t\n");
	char *s = xstrndup(*p, len);

	*p += len + (*p + len < end);
	return s;
}

int fetch_choose_metric(const struct fetch *f, struct fetch_metric *x, struct err *e)
{
	struct buf sql = BUF_INIT, answer = BUF_INIT;
	const char *p, *end;
	int r;

	*x = (struct fetch_metric){ NULL };
	buf_str(&sql, f->metric ? "SELECT metric, unit, source" : "SELECT metric, any(unit), any(source)");
	fetch_put_rows(&sql, f, f->metric);
	if (!f->metric)
		buf_str(&sql, " GROUP BY metric ORDER BY metric = 'cpu-clock' DESC, count() DESC, metric");
	buf_str(&sql, " LIMIT 1");
	r = fetch_ask(f, &sql, HTTP_SHORT_ANSWER, &answer, e);
	if (!r && !answer.len)
		r = err_set(e, ENODATA, "the server has no rows of %s%s%s", f->metric ? f->metric : "any metric",
			    f->where ? " where " : "", f->where ? f->where : "");
	if (!r) {
		p = answer.data;
		end = p + answer.len;
		x->name = take_field(&p, end);
		x->unit = take_field(&p, end);
		x->source = take_field(&p, end);
	}
	buf_release(&sql);
	buf_release(&answer);
	return r;
}

void fetch_metric_release(struct fetch_metric *x)
{
	free(x->name);
	free(x->unit);
	free(x->source);
}

static int ask_names(const struct fetch *f, const char *metric, struct buf *answer, struct err *e)
{
	struct buf sql = BUF_INIT;
	int r;

	buf_str(&sql, "SELECT func, any(kind), any(name), any(module), any(detail) FROM names"
		      " WHERE func IN (SELECT func");
	fetch_put_rows(&sql, f, metric);
	buf_str(&sql, ") GROUP BY func");
	r = fetch_ask(f, &sql, 0, answer, e);
	buf_release(&sql);
	return r;
}

static int ask_rows(const struct fetch *f, const char *metric, struct buf *answer, struct err *e)
{
	struct buf sql = BUF_INIT;
	int r;

	buf_str(&sql, "SELECT process, thread, labels, path, parent, func, pfunc, sum(n), sum(base)");
	fetch_put_rows(&sql, f, metric);
	buf_str(&sql, " GROUP BY process, thread, labels, path, parent, func, pfunc");
	r = fetch_ask(f, &sql, 0, answer, e);
	buf_release(&sql);
	return r;
}

static const char parts_of_nodes[] = "SELECT trace, min(t), max(host)";
/* Nothing is known of each recording, so that they are one. */
static const char parts_of_sums[] = "SELECT 0 AS trace, min(t), ''";

static int ask_parts(struct fetched *x, const struct fetch *f, const char *metric, struct err *e)
{
	struct buf sql = BUF_INIT, answer = BUF_INIT;
	const char *p, *end;
	int r;

	buf_str(&sql, strcmp(f->table, "nodes") ? parts_of_sums : parts_of_nodes);
	fetch_put_rows(&sql, f, metric);
	buf_str(&sql, " GROUP BY trace ORDER BY min(t), trace");
	r = fetch_ask(f, &sql, 0, &answer, e);
	p = r ? "" : answer.data;
	for (end = p + strlen(p); p < end;) {
		free(take_field(&p, end));
		VEC_GROW(x->parts, x->nr_parts, x->alloc_parts);
		x->parts[x->nr_parts] = (struct recording){ .start_ns = strtoull(p, NULL, 10) * 1000000000 };
		free(take_field(&p, end));
		x->parts[x->nr_parts++].host = take_field(&p, end);
	}
	buf_release(&sql);
	buf_release(&answer);
	return r;
}

static void put_word(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_putc(b, *s == ' ' ? '_' : *s);
}

static int read_tree(struct fetched *x, const struct fetch_metric *metric, const struct buf *names,
		     const struct buf *rows, struct err *e)
{
	struct buf tree = BUF_INIT;
	bool calls = !strcmp(metric->source, "calls");
	int r;

	buf_fmt(&tree, "# nodes\n# n %s\n# metric ", calls ? "calls" : "samples");
	put_word(&tree, metric->name);
	buf_putc(&tree, ' ');
	put_word(&tree, metric->unit);
	buf_putc(&tree, '\n');
	r = answer_tree(names->data, rows->data, &tree, e);
	if (!r) {
		model_release(&x->m);
		r = input_tree(&x->m, tree.data, tree.len, e);
		if (r)
			err_wrap(e, "the server's answer");
		else if (!calls)
			x->m.sources[0].name = strtab_adds(&x->m.consumers.names, metric->source);
	}
	buf_release(&tree);
	return r;
}

int fetch_tree(struct fetched *x, const struct fetch *f, struct err *e)
{
	struct fetch_metric metric;
	struct buf names = BUF_INIT, rows = BUF_INIT;
	int r;

	*x = (struct fetched){ .parts = NULL };
	model_init(&x->m, 1, FLOW_SAMPLES);
	r = fetch_choose_metric(f, &metric, e);
	if (!r)
		r = ask_parts(x, f, metric.name, e);
	/* names last: what is pushed meanwhile has its names before its nodes */
	if (!r)
		r = ask_rows(f, metric.name, &rows, e);
	if (!r)
		r = ask_names(f, metric.name, &names, e);
	if (!r)
		r = read_tree(x, &metric, &names, &rows, e);
	fetch_metric_release(&metric);
	buf_release(&names);
	buf_release(&rows);
	return r;
}

void fetch_release(struct fetched *x)
{
	size_t i;

	for (i = 0; i < x->nr_parts; i++)
		free((char *)x->parts[i].host);
	free(x->parts);
	model_release(&x->m);
}
