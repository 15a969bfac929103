// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ask.c - the statements are those of the views (sql/queries.sql), on the rows that struct fetch chooses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fleet/ask.h"

enum { FIELDS = 8 };

static const char names_of[] =
	" AS q ANY LEFT JOIN (SELECT func, max(name) AS name, max(kind) AS kind, max(module) AS module FROM names"
	" GROUP BY func) AS f USING (func)";

static void put_xprof(struct buf *b, const struct fetch *f, const char *metric)
{
	buf_str(b, "SELECT '', name, kind, module, ns, self, total, deeper FROM (SELECT func, sum(n) AS ns,"
		   " sum(base) AS self, sum(CASE WHEN rl = 1 THEN cum ELSE 0 END) AS total,"
		   " sum(CASE WHEN rl > 1 THEN cum ELSE 0 END) AS deeper");
	fetch_put_rows(b, f, metric);
	buf_fmt(b, " GROUP BY func)%s ORDER BY self DESC, total DESC, name", names_of);
}

/* A kind of rows of a stanza: those where of is the function, added up by other; level tells recursions. */
struct part {
	const char *what, *of, *other, *level;
};

static const struct part parts[] = {
	{ "Parent", "func", "pfunc", "rl" }, { "Self", "func", "func", "rl" }, { "Child", "pfunc", "func", "prl" },
};

static void put_part(struct buf *b, const struct part *p, const struct fetch *f, const char *metric,
		     const char *function)
{
	/* no alias is the name of a column of the same SELECT */
	buf_fmt(b, "SELECT CASE WHEN %s > 1 THEN 'r%s' ELSE '%s' END AS what, %s%s, sum(n) AS ns,"
		   " sum(base) AS self, sum(cum) AS total FROM (SELECT %s, %s, n, base, cum",
		p->level, p->what, p->what, p->other, strcmp(p->other, "func") ? " AS func" : "", p->level,
		p->other);
	fetch_put_rows(b, f, metric);
	buf_fmt(b, " AND %s IN (SELECT func FROM names WHERE name = ", p->of);
	fetch_put_literal(b, function);
	buf_fmt(b, ")) AS %s GROUP BY what, func", p->what);
}

static void put_stanza(struct buf *b, const struct fetch *f, const char *metric, const char *function)
{
	size_t i;

	buf_str(b, "SELECT what, CASE WHEN func = 0 THEN '" FLEET_OUTERMOST "' ELSE name END AS function,"
		   " kind, module, ns, self, total, 0 FROM (");
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		buf_str(b, i ? " UNION ALL " : "");
		put_part(b, &parts[i], f, metric, function);
	}
	buf_fmt(b, ")%s ORDER BY what, total DESC, function", names_of);
}

/* A field up to its tab or the end of the line, without the escapes of ClickHouse; *p goes behind it. */
static char *take_text(char **p)
{
	char *start = *p, *to = *p, *s = *p;

	for (; *s && *s != '\t' && *s != '\n'; s++) {
		if (*s == '\\' && s[1] && s[1] != '\n')
			s++;
		*to++ = *s;
	}
	*p = s + (*s == '\t');
	if (*s == '\t')
		*s = '\0';
	if (to < s)
		*to = '\0';
	return start;
}

static bool take_number(char **p, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(*p, &end, 10);
	if (end == *p || errno || strchr("-+ ", **p) || (*end && *end != '\t' && *end != '\n'))
		return false;
	*p = end + (*end == '\t');
	return true;
}

static bool take_row(char **p, struct ask_row *r)
{
	const char *end = *p + strcspn(*p, "\n"), *s;
	int nr_tabs = 0;

	for (s = *p; s < end; s++)
		nr_tabs += *s == '\t';
	if (nr_tabs != FIELDS - 1)
		return false;
	r->what = take_text(p);
	r->name = take_text(p);
	r->kind = take_text(p);
	r->module = take_text(p);
	return take_number(p, &r->n) && take_number(p, &r->base) && take_number(p, &r->cum) &&
	       take_number(p, &r->cum_recursive) && *p == end;
}

int ask_parse(struct ask_answer *a, char *text, struct err *e)
{
	char *p = text;

	for (; *p; p += *p == '\n') {
		VEC_GROW(a->rows, a->nr_rows, a->alloc_rows);
		if (!take_row(&p, &a->rows[a->nr_rows]))
			return err_set(e, EINVAL, "the server's answer: row %zu does not have the expected fields",
				       a->nr_rows + 1);
		a->nr_rows++;
	}
	return 0;
}

/* Rank callers above the function, callees below, as in reports; the server's order within. */
static int rank(const char *what)
{
	static const char *const order[] = { "rParent", "Parent", "Self", "rSelf", "Child", "rChild" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order) && strcmp(what, order[i]) != 0; i++)
		;
	return i;
}

static int compare(const void *p, const void *q)
{
	const struct ask_row *a = p, *b = q;
	int order = rank(a->what) - rank(b->what);

	/* names are in the order of the answer */
	return order ? order : a->name < b->name ? -1 : a->name > b->name;
}

int ask_server(struct ask_answer *a, const struct fetch *f, const char *function, struct err *e)
{
	struct buf sql = BUF_INIT;
	int r;

	*a = (struct ask_answer){ .rows = NULL };
	r = fetch_choose_metric(f, &a->metric, e);
	if (!r) {
		if (function)
			put_stanza(&sql, f, a->metric.name, function);
		else
			put_xprof(&sql, f, a->metric.name);
		r = fetch_ask(f, &sql, 0, &a->text, e);
	}
	if (!r)
		r = ask_parse(a, a->text.data, e);
	if (!r && function && !a->nr_rows) {
		r = err_set(e, ENODATA, "no function '%.100s' in these rows", function);
		err_hint(e, "names are whole, and those of tables: 'arcprof fleet report URL --xprof' lists them");
	}
	if (!r && a->nr_rows)
		qsort(a->rows, a->nr_rows, sizeof(*a->rows), compare);
	buf_release(&sql);
	return r;
}

void ask_release(struct ask_answer *a)
{
	fetch_metric_release(&a->metric);
	free(a->rows);
	buf_release(&a->text);
}
