// SPDX-License-Identifier: GPL-2.0-or-later
/* jsonin.c - a cursor over JSON text (jsonin.h). */
#include <stdlib.h>
#include <string.h>

#include "formats/jsonin.h"

enum { MAX_DEPTH = 64 };

static void skip_blanks(struct jsonin *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
		j->p++;
}

char jsonin_peek(struct jsonin *j)
{
	if (j->bad)
		return 0;
	skip_blanks(j);
	return j->p < j->end ? *j->p : 0;
}

static bool skip_char(struct jsonin *j, char c)
{
	if (jsonin_peek(j) != c)
		return false;
	j->p++;
	return true;
}

void jsonin_open(struct jsonin *j, char kind)
{
	if (!skip_char(j, kind))
		j->bad = true;
}

/*
 * Go to the next element; return false at the end. The character before the cursor tells whether a comma must
 * follow.
 */
static bool next(struct jsonin *j, char open, char close)
{
	const char *before;

	if (jsonin_peek(j) == close) {
		j->p++;
		return false;
	}
	for (before = j->p; before > j->start && strchr(" \t\n\r", before[-1]);)
		before--;
	if (j->bad || before == j->start || (before[-1] != open && !skip_char(j, ',')))
		j->bad = true;
	return !j->bad && jsonin_peek(j);
}

bool jsonin_element(struct jsonin *j)
{
	return next(j, '[', ']');
}

bool jsonin_member(struct jsonin *j, struct import_text *key)
{
	if (!next(j, '{', '}'))
		return false;
	*key = jsonin_string(j);
	if (!skip_char(j, ':'))
		j->bad = true;
	return !j->bad;
}

struct import_text jsonin_string(struct jsonin *j)
{
	struct import_text t = { "", 0 };

	if (!skip_char(j, '"')) {
		j->bad = true;
		return t;
	}
	t.s = j->p;
	while (j->p < j->end && *j->p != '"')
		j->p += *j->p == '\\' && j->p + 1 < j->end ? 2 : 1;
	if (j->p >= j->end) {
		j->bad = true;
		return (struct import_text){ "", 0 };
	}
	t.len = j->p++ - t.s;
	return t;
}

double jsonin_number(struct jsonin *j)
{
	char text[64], *end;
	size_t len = 0;
	double v;

	jsonin_peek(j);
	while (!j->bad && j->p < j->end && len < sizeof(text) - 1 && strchr("+-.0123456789eE", *j->p))
		text[len++] = *j->p++;
	text[len] = '\0';
	v = strtod(text, &end);
	if (!len || *end)
		j->bad = true;
	return j->bad ? 0 : v;
}

/* Skip a word or a number. */
static void skip_plain(struct jsonin *j)
{
	const char *from = j->p;

	while (j->p < j->end && !strchr(" \t\n\r,:[]{}\"", *j->p))
		j->p++;
	if (j->p == from)
		j->bad = true;
}

struct jsonin jsonin_skip(struct jsonin *j)
{
	struct jsonin value = *j;
	char close[MAX_DEPTH];
	size_t depth = 0;

	do {
		char c = jsonin_peek(j);

		if (depth && c == close[depth - 1]) {
			depth--;
			j->p++;
		} else if ((c == '[' || c == '{') && depth < MAX_DEPTH) {
			close[depth++] = c == '[' ? ']' : '}';
			j->p++;
		} else if (c == '"') {
			jsonin_string(j);
		} else if ((c == ',' || c == ':') && depth) {
			j->p++;
		} else {
			if (!c || c == '[' || c == '{')
				j->bad = true;
			else
				skip_plain(j);
		}
	} while (depth && !j->bad);
	value.end = j->p;
	value.bad = j->bad;
	return value;
}

static int hex4(const char *s, const char *end)
{
	int v = 0, i;

	for (i = 0; i < 4; i++) {
		const char *at = s + i < end ? strchr("00112233445566778899aAbBcCdDeEfF", s[i]) : NULL;

		if (!at || !s[i])
			return -1;
		v = v << 4 | (int)(at - "00112233445566778899aAbBcCdDeEfF") / 2;
	}
	return v;
}

static void put_utf8(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_putc(b, c);
	} else if (c < 0x800) {
		buf_putc(b, 0xc0 | c >> 6);
		buf_putc(b, 0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		buf_putc(b, 0xe0 | c >> 12);
		buf_putc(b, 0x80 | (c >> 6 & 0x3f));
		buf_putc(b, 0x80 | (c & 0x3f));
	} else {
		buf_putc(b, 0xf0 | c >> 18);
		buf_putc(b, 0x80 | (c >> 12 & 0x3f));
		buf_putc(b, 0x80 | (c >> 6 & 0x3f));
		buf_putc(b, 0x80 | (c & 0x3f));
	}
}

/* \uXXXX, or two of them; returns what follows. */
static const char *put_unicode(struct buf *b, const char *s, const char *end)
{
	int high = hex4(s, end), low = -1;

	if (high < 0)
		return s;
	if (high >= 0xd800 && high < 0xdc00 && end - s >= 10 && s[4] == '\\' && s[5] == 'u')
		low = hex4(s + 6, end);
	if (low >= 0xdc00 && low < 0xe000) {
		put_utf8(b, 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00)));
		return s + 10;
	}
	put_utf8(b, high >= 0xd800 && high < 0xe000 ? 0xfffd : high);
	return s + 4;
}

struct import_text jsonin_text(struct import_text t, struct buf *b)
{
	static const char escaped[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *s = t.s, *end = t.s + t.len;

	if (!memchr(t.s, '\\', t.len))
		return t;
	buf_reset(b);
	while (s < end) {
		const char *at;

		if (*s != '\\' || s + 1 == end) {
			buf_putc(b, *s++);
			continue;
		}
		s += 2;
		at = s[-1] ? strchr(escaped, s[-1]) : NULL;
		if (s[-1] == 'u')
			s = put_unicode(b, s, end);
		else
			buf_putc(b, at ? meant[at - escaped] : s[-1]);
	}
	return (struct import_text){ b->data ? b->data : "", b->len };
}

bool jsonin_has(struct jsonin *j, const char *name, const char *other)
{
	struct import_text key;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key)) {
		if (jsonin_is(key, name) || (other && jsonin_is(key, other)))
			return true;
		jsonin_skip(j);
	}
	return false;
}
