// SPDX-License-Identifier: GPL-2.0-or-later
/* fetch.c - reads a merged tree from a server (fetch.h). */
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

/* A row of that metric; NULL: the one with most rows, for which all of them are read. */
static int ask_metric(const struct fetch *f, const char *metric, struct buf *answer, struct err *e)
{
	struct buf sql = BUF_INIT;
	int r;

	buf_str(&sql, metric ? "SELECT metric, unit, source" : "SELECT metric, any(unit), any(source)");
	fetch_put_rows(&sql, f, metric);
	if (!metric)
		buf_str(&sql, " GROUP BY metric ORDER BY count() DESC, metric");
	buf_str(&sql, " LIMIT 1");
	r = fetch_ask(f, &sql, HTTP_SHORT_ANSWER, answer, e);
	buf_release(&sql);
	return r;
}

int fetch_choose_metric(const struct fetch *f, struct fetch_metric *x, struct err *e)
{
	struct buf answer = BUF_INIT;
	const char *p, *end;
	int r = ask_metric(f, f->metric ? f->metric : "cpu-clock", &answer, e);

	*x = (struct fetch_metric){ NULL };
	if (!r && !answer.len && !f->metric)
		r = ask_metric(f, NULL, &answer, e);
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
	buf_release(&answer);
	return r;
}

void fetch_metric_release(struct fetch_metric *x)
{
	free(x->name);
	free(x->unit);
	free(x->source);
}

/*
 * What a tree is made of: recordings, contexts, threads and names. Process, thread and labels are text that
 * is longer than a row without it and compares slowly, so rows have a hash of the three.
 */
enum { ASK_PARTS, ASK_ROWS, ASK_HEADS, ASK_NAMES, NR_ASKED };

#define HEAD_OF "cityHash64(process, thread, labels)"

static const char *const asked[NR_ASKED][2] = {
	[ASK_PARTS] = { "SELECT trace, min(t), max(host)", " GROUP BY trace ORDER BY min(t), trace" },
	[ASK_ROWS] = { "SELECT " HEAD_OF " AS head, path, parent, func, pfunc, sum(n), sum(base)",
		       " GROUP BY head, path, parent, func, pfunc" },
	[ASK_HEADS] = { "SELECT " HEAD_OF " AS head, any(process), any(thread), any(labels)", " GROUP BY head" },
	[ASK_NAMES] = { "SELECT func, any(kind), any(name), any(module), any(detail) FROM names"
			" WHERE func IN (SELECT func", ") GROUP BY func" },
};

/* Nothing is known of each recording in sums, so that they are one. */
static const char parts_of_sums[] = "SELECT 0 AS trace, min(t), ''";

/* Names last: what is pushed meanwhile has its names before its nodes; and threads behind their rows. */
static int ask_tree(const struct fetch *f, const char *metric, struct buf *answers, struct err *e)
{
	struct http_request q[NR_ASKED];
	struct http_answer a[NR_ASKED];
	struct buf sql[NR_ASKED];
	bool sums = strcmp(f->table, "nodes") != 0;
	int i, r;

	for (i = 0; i < NR_ASKED; i++) {
		sql[i] = (struct buf)BUF_INIT;
		buf_str(&sql[i], i == ASK_PARTS && sums ? parts_of_sums : asked[i][0]);
		fetch_put_rows(&sql[i], f, metric);
		buf_str(&sql[i], asked[i][1]);
		q[i] = (struct http_request){ .server = f->server, .params = settings, .body_fd = -1,
					      .text = sql[i].data };
	}
	r = http_send_all(q, a, NR_ASKED, e);
	for (i = 0; i < NR_ASKED; i++) {
		if (!r)
			r = http_accept(&q[i], &a[i], e);
		answers[i] = a[i].body;
		buf_release(&sql[i]);
	}
	return r;
}

static void take_parts(struct fetched *x, const struct buf *answer)
{
	const char *p = answer->data, *end = p + answer->len;

	while (p < end) {
		free(take_field(&p, end));
		VEC_GROW(x->parts, x->nr_parts, x->alloc_parts);
		x->parts[x->nr_parts] = (struct recording){ .start_ns = strtoull(p, NULL, 10) * 1000000000 };
		free(take_field(&p, end));
		x->parts[x->nr_parts++].host = take_field(&p, end);
	}
}

static void put_word(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_putc(b, *s == ' ' ? '_' : *s);
}

static int read_tree(struct fetched *x, const struct fetch_metric *metric, const struct answer *a,
		     struct err *e)
{
	struct buf tree = BUF_INIT;
	bool calls = !strcmp(metric->source, "calls");
	int r;

	buf_fmt(&tree, "# nodes\n# n %s\n# metric ", calls ? "calls" : "samples");
	put_word(&tree, metric->name);
	buf_putc(&tree, ' ');
	put_word(&tree, metric->unit);
	buf_putc(&tree, '\n');
	r = answer_tree(a, &tree, e);
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
	struct buf answers[NR_ASKED] = { BUF_INIT };
	struct fetch_metric metric;
	struct answer a;
	int r, i;

	*x = (struct fetched){ .parts = NULL };
	model_init(&x->m, 1, FLOW_SAMPLES);
	r = fetch_choose_metric(f, &metric, e);
	if (!r)
		r = ask_tree(f, metric.name, answers, e);
	if (!r) {
		take_parts(x, &answers[ASK_PARTS]);
		a = (struct answer){ answers[ASK_NAMES].data, answers[ASK_HEADS].data,
				     answers[ASK_ROWS].data };
		r = read_tree(x, &metric, &a, e);
	}
	fetch_metric_release(&metric);
	for (i = 0; i < NR_ASKED; i++)
		buf_release(&answers[i]);
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
