// SPDX-License-Identifier: MIT
/* sqltext.c - removes literals and comments from SQL statements (sqltext.h). */
#include "agent/sources/sqltext.h"

/* Each unit becomes up to three bytes, and a blank may come behind a comma. */
enum { ROOM = 3 * SQLTEXT_READ + 64, HEAD = 150, TAIL = 85, LONGEST_TAG = 64 };

struct text {
	const uint16_t *s;
	size_t nr, at;
	bool more;			/* it does not end where it seems to */
	bool quoted;
	bool space;			/* before what comes */
	size_t len;
	char out[ROOM];
};

/* ---- what is read ---- */

static uint32_t peek(const struct text *t, size_t ahead)
{
	return t->at + ahead < t->nr ? t->s[t->at + ahead] : 0;
}

static bool is_digit(uint32_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(uint32_t c)
{
	return (c | 0x20) - 'a' < 26 || c == '_' || c >= 0xa0;
}

static bool is_space(uint32_t c)
{
	return c <= ' ' || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

/* Skip the rest: it may be part of a literal. */
static void skip_rest(struct text *t)
{
	t->at = t->nr;
	t->more = true;
}

/* ---- what is written ---- */

static void put_byte(struct text *t, uint32_t c)
{
	if (t->len < ROOM)
		t->out[t->len++] = (char)c;
}

static void begin_word(struct text *t, uint32_t c)
{
	if (t->space && t->len && t->out[t->len - 1] != '(' && c != ')' && c != ',' && c != ';')
		put_byte(t, ' ');
	t->space = false;
}

/* Write the unit at hand, or both of a surrogate pair. */
static void put_unit(struct text *t)
{
	uint32_t c = peek(t, 0), low = peek(t, 1);

	t->at++;
	if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
		t->at++;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		put_byte(t, 0xf0 | c >> 18);
		put_byte(t, 0x80 | (c >> 12 & 0x3f));
	} else if (c >= 0xd800 && c < 0xe000) {
		put_byte(t, '?');
		return;
	} else if (c >= 0x800) {
		put_byte(t, 0xe0 | c >> 12);
	} else if (c >= 0x80) {
		put_byte(t, 0xc0 | c >> 6);
		put_byte(t, 0x80 | (c & 0x3f));
		return;
	} else {
		put_byte(t, is_space(c) ? ' ' : c);
		return;
	}
	put_byte(t, 0x80 | (c >> 6 & 0x3f));
	put_byte(t, 0x80 | (c & 0x3f));
}

/* Return the length of the text without a blank at its end. */
static size_t without_blank(const struct text *t, size_t len)
{
	return len && t->out[len - 1] == ' ' ? len - 1 : len;
}

/* Return its length without this at its end, and a blank before; 0: it does not end in c. */
static size_t without(const struct text *t, size_t len, char c)
{
	return len && t->out[len - 1] == c ? without_blank(t, len - 1) : 0;
}

/* Remove the sign of a number where it cannot be an operator. */
static void drop_sign(struct text *t)
{
	size_t len = without(t, t->len, '-');
	char before = len ? t->out[len - 1] : 0;

	if (before == '(' || before == ',' || before == '=' || before == '<' || before == '>') {
		t->space = t->len - 1 > len;
		t->len = len;
	}
}

static void put_literal(struct text *t)
{
	size_t len;

	drop_sign(t);
	len = without(t, t->len, ',');
	if (len && t->out[len - 1] == '?') {
		t->len = len;		/* one of a list */
		t->space = false;
		return;
	}
	begin_word(t, '?');
	put_byte(t, '?');
}

/* Drop a row that is equal to the previous one, as in INSERT. */
static void close_row(struct text *t)
{
	size_t len = without(t, t->len, '?'), before;

	len = len ? without(t, len, '(') : 0;
	before = len ? without(t, len, ',') : 0;
	if (before >= 3 && t->out[before - 3] == '(' && t->out[before - 2] == '?' &&
	    t->out[before - 1] == ')') {
		t->len = before;
		t->at++;
		t->space = false;
		return;
	}
	begin_word(t, ')');
	put_unit(t);
}

/* ---- literals ---- */

/* Skip to behind the quote. In some dialects a backslash escapes the quote behind it. */
static void skip_quoted(struct text *t, uint32_t quote)
{
	bool odd = false;

	for (; t->at < t->nr; t->at++) {
		uint32_t c = peek(t, 0);

		if (c == quote && odd) {
			skip_rest(t);
			return;
		}
		if (c == quote && peek(t, 1) != quote) {
			t->at++;
			return;
		}
		t->at += c == quote;
		odd = c == '\\' && !odd;
	}
	skip_rest(t);
}

/* Skip Oracle's q'[...]'. */
static void skip_delimited(struct text *t)
{
	uint32_t close = peek(t, 0);

	close = close == '[' ? ']' : close == '{' ? '}' : close == '(' ? ')' : close == '<' ? '>' : close;
	for (t->at++; t->at < t->nr; t->at++)
		if (peek(t, 0) == close && peek(t, 1) == '\'') {
			t->at += 2;
			return;
		}
	skip_rest(t);
}

/* Skip $tag$...$tag$, or the parameter $1; return false if it is neither. */
static bool skip_dollar(struct text *t)
{
	size_t len = 1, i;

	while (len < LONGEST_TAG && (is_letter(peek(t, len)) || is_digit(peek(t, len))))
		len++;
	if (peek(t, len) != '$') {
		if (!is_digit(peek(t, 1)))
			return false;
		t->at += len;
		return true;
	}
	len++;
	for (i = t->at + len; i + len <= t->nr; i++) {
		size_t k = 0;

		while (k < len && t->s[i + k] == t->s[t->at + k])
			k++;
		if (k == len) {
			t->at = i + len;
			return true;
		}
	}
	skip_rest(t);
	return true;
}

static void skip_number(struct text *t)
{
	uint32_t c;

	for (; t->at < t->nr; t->at++) {
		c = peek(t, 0);
		if ((c == '+' || c == '-') && (t->s[t->at - 1] | 0x20) == 'e' && is_digit(peek(t, 1)))
			continue;
		if (!is_letter(c) && !is_digit(c) && c != '.')
			return;
	}
}

/* ---- the rest ---- */

static void skip_line(struct text *t)
{
	while (t->at < t->nr && peek(t, 0) != '\n' && peek(t, 0) != '\r')
		t->at++;
	t->space = true;
}

static void skip_comment(struct text *t)
{
	for (t->at += 2; t->at < t->nr && !(peek(t, 0) == '*' && peek(t, 1) == '/'); t->at++)
		;
	t->at += t->at < t->nr ? 2 : 0;
	t->space = true;
}

static bool is_comment(const struct text *t)
{
	return peek(t, 0) == '/' && peek(t, 1) == '*';
}

static bool is_line_comment(const struct text *t)
{
	return (peek(t, 0) == '-' && peek(t, 1) == '-') || (peek(t, 0) == '#' && t->quoted);
}

/* Write a quoted name as it is. */
static void put_quoted(struct text *t, uint32_t quote)
{
	begin_word(t, quote);
	put_unit(t);
	while (t->at < t->nr && peek(t, 0) != quote)
		put_unit(t);
	if (t->at < t->nr)
		put_unit(t);
}

static bool is_one_of(uint32_t c, const char *s)
{
	for (; *s; s++)
		if (c == (uint8_t)*s)
			return true;
	return false;
}

/* Write a word, unless it is the prefix of a literal, as in N'...'. */
static void put_word(struct text *t)
{
	uint32_t c = peek(t, 0);

	if (peek(t, 1) == '\'' && is_one_of(c | 0x20, "enxbq")) {
		t->at += 2;
		if ((c | 0x20) == 'q')
			skip_delimited(t);
		else
			skip_quoted(t, '\'');
		put_literal(t);
		return;
	}
	begin_word(t, c);
	while (is_letter(peek(t, 0)) || is_digit(peek(t, 0)) || is_one_of(peek(t, 0), "$#"))
		put_unit(t);
}

static bool skip_literal(struct text *t)
{
	uint32_t c = peek(t, 0);

	if (c == '\'' || (c == '"' && t->quoted)) {
		t->at++;
		skip_quoted(t, c);
		return true;
	}
	if (is_digit(c) || (c == '.' && is_digit(peek(t, 1)))) {
		skip_number(t);
		return true;
	}
	t->at += c == '?';
	return c == '?' || (c == '$' && skip_dollar(t));
}

static void put_next(struct text *t)
{
	uint32_t c = peek(t, 0);

	if (is_space(c)) {
		t->space = true;
		t->at++;
	} else if (is_comment(t)) {
		skip_comment(t);
	} else if (is_line_comment(t)) {
		skip_line(t);
	} else if (is_letter(c)) {
		put_word(t);
	} else if (c == '"' && !t->quoted) {
		put_quoted(t, c);
	} else if (c == '`') {
		put_quoted(t, c);
	} else if (skip_literal(t)) {
		put_literal(t);
	} else if (c == ')') {
		close_row(t);
	} else {
		begin_word(t, c);
		put_unit(t);
		t->space |= c == ',';
	}
}

static bool is_inside(char c)
{
	return ((uint8_t)c & 0xc0) == 0x80;
}

static size_t copy(char *to, size_t at, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		to[at + i] = s[i];
	return at + len;
}

size_t sqltext_put(const uint16_t *sql, size_t nr, bool more, bool quoted, char *to)
{
	struct text t;
	size_t head = HEAD, tail, len;

	t.s = sql;
	t.nr = nr;
	t.at = t.len = 0;
	t.more = more;
	t.quoted = quoted;
	t.space = false;
	while (t.at < t.nr)
		put_next(&t);
	while (!t.more && t.len && is_one_of((uint8_t)t.out[t.len - 1], "; "))
		t.len--;
	if (t.more)
		t.len = copy(t.out, t.len < ROOM - 4 ? t.len : ROOM - 4, " ...", 4);
	if (t.len <= SQLTEXT_MAX)
		return copy(to, 0, t.out, t.len);
	tail = t.len - TAIL;
	while (is_inside(t.out[head]))
		head--;
	while (tail < t.len && is_inside(t.out[tail]))
		tail++;
	len = copy(to, 0, t.out, head);
	len = copy(to, len, " ... ", 5);
	return copy(to, len, t.out + tail, t.len - tail);
}
