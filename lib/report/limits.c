// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * limits.c - reads limits, one per line:
 *	FUNCTION (base|cum) METRIC OPERATOR VALUE[UNIT] [per (call|FUNCTION)]
 *	FUNCTION n OPERATOR VALUE [per FUNCTION]
 *	FUNCTION (n|(base|cum) METRIC) grows OPERATOR NUMBER% [per (call|second|total)]
 * Words are separated by blanks; a name with blanks stands in double quotes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/limits.h"

static const char *const ops[] = { "<=", "<", ">=", ">", "=" };

static const struct limit_unit units[] = {
	{ "", LIMIT_COUNT, 1 },	     { "k", LIMIT_COUNT, 1e3 },	      { "M", LIMIT_COUNT, 1e6 },
	{ "G", LIMIT_COUNT, 1e9 },   { "%", LIMIT_SHARE, .01 },	      { "ns", LIMIT_TIME, 1 },
	{ "us", LIMIT_TIME, 1e3 },   { "ms", LIMIT_TIME, 1e6 },	      { "s", LIMIT_TIME, 1e9 },
	{ "B", LIMIT_SIZE, 1 },	     { "KiB", LIMIT_SIZE, 1024 },     { "MiB", LIMIT_SIZE, 1048576 },
	{ "GiB", LIMIT_SIZE, 1073741824 },
};

const char *limit_op_name(enum limit_op op)
{
	return ops[op];
}

static const struct limit_unit *find_unit(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

const struct limit_unit *limit_unit_of(const char *metric_unit)
{
	const struct limit_unit *u = find_unit(strcmp(metric_unit, "bytes") ? metric_unit : "B");

	return u && u->kind != LIMIT_SHARE ? u : &units[0];
}

/* ---- words of a line ---- */

struct line {
	struct limits *l;
	const char *p, *end;
	size_t nr;
	struct err *e;
	bool failed;
	const char *per_word;	/* behind "per" */
};

static __attribute__((format(printf, 2, 3))) void bad(struct line *x, const char *fmt, ...)
{
	char msg[180];
	va_list ap;

	if (x->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	err_set(x->e, EINVAL, "line %zu: %s", x->nr, msg);
	x->failed = true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void limits_skip_blanks(struct line *x)
{
	while (x->p < x->end && is_blank(*x->p))
		x->p++;
}

/* Append the text up to the closing quote; \" and \\ stand for the second character. */
static void quoted(struct line *x, struct buf *b)
{
	for (; x->p < x->end && *x->p != '"'; x->p++) {
		if (*x->p == '\\' && x->p + 1 < x->end)
			x->p++;
		buf_putc(b, *x->p);
	}
	if (x->p == x->end)
		bad(x, "a quote is not closed");
	else
		x->p++;
	if (x->p < x->end && !is_blank(*x->p))
		bad(x, "a blank is missing after a quote");
}

/* Return the next word, which lives as long as the limits; "" at the end of the line. */
static const char *limits_word(struct line *x)
{
	struct buf b = BUF_INIT;
	const char *s;

	limits_skip_blanks(x);
	if (x->p < x->end && *x->p == '"') {
		x->p++;
		quoted(x, &b);
		if (!b.len)
			bad(x, "a name is empty");
	} else {
		for (s = x->p; x->p < x->end && !is_blank(*x->p); x->p++)
			;
		buf_add(&b, s, x->p - s);
	}
	s = arena_strndup(&x->l->text, b.data ? b.data : "", b.len);
	buf_release(&b);
	return s;
}

/* ---- a limit ---- */

static void add_metric(struct limits *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->metrics.nr_items; i++)
		if (!strcmp(l->metrics.items[i], name))
			return;
	*VEC_ADD(l->metrics.items, l->metrics.nr_items, l->metrics.alloc_items) = xstrdup(name);
}

static void parse_subject(struct line *x, struct limit *m)
{
	const char *of;

	m->function = limits_word(x);
	if (!strcmp(m->function, "[total]"))
		m->function = NULL;
	of = limits_word(x);
	m->of = !strcmp(of, "base") ? LIMIT_BASE : !strcmp(of, "cum") ? LIMIT_CUM : LIMIT_N;
	if (!*of)
		bad(x, "expected base, cum or n after the function");
	else if (m->of == LIMIT_N && strcmp(of, "n") != 0)
		bad(x, "expected base, cum or n, not '%s'", of);
	if (m->of == LIMIT_N)
		return;
	m->metric = limits_word(x);
	if (!*m->metric)
		bad(x, "expected a metric after %s", of);
}

static void parse_op(struct line *x, struct limit *m)
{
	const char *op = limits_word(x);
	size_t i;

	m->grows = !strcmp(op, "grows");
	if (m->grows)
		op = limits_word(x);

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(ops[i], op) || (i == LIMIT_EQUAL && !strcmp(op, "==")))
			break;
	m->op = i;
	if (i == ARRAY_SIZE(ops))
		bad(x, "expected one of <=, <, >=, > and =, not '%s'", op);
}

/* Return the length of a number: digits with at most one point, without sign, exponent or hexadecimal. */
static size_t number_len(const char *s)
{
	size_t digits = strspn(s, "0123456789"), more;

	if (s[digits] != '.')
		return digits;
	more = strspn(s + digits + 1, "0123456789");
	return digits || more ? digits + 1 + more : 0;
}

/* Returns the word after the value. */
static const char *parse_value(struct line *x, struct limit *m)
{
	const char *text = limits_word(x), *unit, *next;
	size_t len = number_len(text);

	if (!len)
		bad(x, "expected a number, not '%s'", text);
	m->value = strtod(text, NULL);
	next = limits_word(x);
	unit = text + len;
	if (!*unit && *next && strcmp(next, "per") != 0) {
		unit = next;
		next = limits_word(x);
	}
	m->unit = find_unit(unit);
	if (!m->unit)
		bad(x, "unknown unit '%s' (expected one of: %%, k, M, G, ns, us, ms, s, B, KiB, MiB, GiB)", unit);
	return next;
}

/* Parse what growth is per; functions have no such limits. */
static void parse_per_of_growth(struct line *x, struct limit *m)
{
	static const struct {
		const char *name;
		enum limit_per per;
	} list[] = {
		{ "call", LIMIT_PER_CALL }, { "second", LIMIT_PER_SECOND }, { "total", LIMIT_PER_TOTAL },
	};
	size_t i;

	m->per_function = NULL;
	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (!strcmp(list[i].name, m->per == LIMIT_PER_CALL ? "call" : x->per_word)) {
			m->per = list[i].per;
			return;
		}
	bad(x, "growth is per call, per second or per total, not per '%s'", x->per_word);
}

static void parse_per(struct line *x, struct limit *m, const char *next)
{
	const char *whom;
	bool quote;

	if (!*next)
		return;
	if (strcmp(next, "per") != 0) {
		bad(x, "expected the end of the line or 'per', not '%s'", next);
		return;
	}
	limits_skip_blanks(x);
	quote = x->p < x->end && *x->p == '"';
	whom = limits_word(x);
	if (!*whom)
		bad(x, "expected 'call' or a function after 'per'");
	m->per = !strcmp(whom, "call") && !quote ? LIMIT_PER_CALL : LIMIT_PER_FUNCTION;
	m->per_function = m->per == LIMIT_PER_FUNCTION ? whom : NULL;
	x->per_word = whom;
	if (m->grows)
		parse_per_of_growth(x, m);
	whom = limits_word(x);
	if (*whom)
		bad(x, "expected the end of the line, not '%s'", whom);
}

static void limits_check(struct line *x, const struct limit *m)
{
	if (m->grows && m->unit && m->unit->kind != LIMIT_SHARE)
		bad(x, "growth is limited in percent");
	if (!m->grows && m->unit && m->unit->kind == LIMIT_SHARE && m->per)
		bad(x, "a share is of the total, not per call");
	if (m->per == LIMIT_PER_CALL && (m->of == LIMIT_N || !m->function))
		bad(x, "n per call is always 1, and [total] has no calls of its own");
	if (m->of == LIMIT_N && m->unit && m->unit->kind != LIMIT_COUNT && m->unit->kind != LIMIT_SHARE)
		bad(x, "n is a count, which has no unit '%s'", m->unit->name);
}

/*
 * Return the end of the line without its comment, which begins with a # at its start or after a blank,
 * outside quotes.
 */
static const char *end_of(const char *p, const char *end)
{
	const char *start = p;
	bool inside = false;

	for (; p < end; p++) {
		if (inside && *p == '\\' && p + 1 < end)
			p++;
		else if (*p == '"')
			inside = !inside;
		else if (*p == '#' && !inside && (p == start || is_blank(p[-1])))
			break;
	}
	while (p > start && (is_blank(p[-1]) || p[-1] == '\r'))
		p--;
	return p;
}

static int limits_parse_line(struct limits *l, const char *p, const char *end, size_t nr, struct err *e)
{
	struct line x = { .l = l, .p = p, .end = end_of(p, end), .nr = nr, .e = e };
	struct limit m = { .line = nr };

	if (memchr(p, '\0', end - p)) {
		bad(&x, "a NUL byte");
		return -EINVAL;
	}
	limits_skip_blanks(&x);
	if (x.p == x.end)
		return 0;
	m.text = arena_strndup(&l->text, x.p, x.end - x.p);
	parse_subject(&x, &m);
	parse_op(&x, &m);
	if (!x.failed)
		parse_per(&x, &m, parse_value(&x, &m));
	if (!x.failed)
		limits_check(&x, &m);
	if (x.failed)
		return -EINVAL;
	if (m.metric)
		add_metric(l, m.metric);
	*VEC_ADD(l->list, l->nr, l->alloc) = m;
	return 0;
}

int limits_parse(struct limits *l, const char *data, size_t len, struct err *e)
{
	const char *p = data, *end = data + len, *eol;
	size_t nr = 0;
	int r = 0;

	memset(l, 0, sizeof(*l));
	for (; p < end && !r; p = eol < end ? eol + 1 : end) {
		eol = memchr(p, '\n', end - p);
		if (!eol)
			eol = end;
		r = limits_parse_line(l, p, eol, ++nr, e);
	}
	if (!r && !l->nr)
		r = err_set(e, EINVAL, "it has no limits");
	return r;
}

void limits_release(struct limits *l)
{
	size_t i;

	for (i = 0; i < l->metrics.nr_items; i++)
		free(l->metrics.items[i]);
	free(l->metrics.items);
	free(l->list);
	arena_release(&l->text);
	memset(l, 0, sizeof(*l));
}
