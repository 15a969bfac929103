// SPDX-License-Identifier: GPL-2.0-or-later
/* quote.c - escapes untrusted names for terminals, text and CSV (quote.h). */
#include <stdint.h>
#include <string.h>

#include "base/quote.h"

/* Return the code point, and the length of its sequence, or 0. */
static size_t decode_utf8(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, n = 0;

	if (!len)
		return 0;
	if (s[0] < 0x80) {
		*cp = s[0];
		return 1;
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	if (!n || s[0] >= 0xf5 || n > len)
		return 0;
	*cp = s[0] & (0xff >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return n;
}

size_t utf8_len(const char *s, size_t len)
{
	uint32_t cp;

	return decode_utf8((const unsigned char *)s, len, &cp);
}

size_t utf8_from_java(char *s, size_t len)
{
	size_t from, to = 0;

	for (from = 0; from < len;) {
		const unsigned char *p = (const unsigned char *)s + from;
		uint32_t cp;

		if (len - from < 6 || p[0] != 0xed || (p[1] & 0xf0) != 0xa0 || (p[2] & 0xc0) != 0x80 ||
		    p[3] != 0xed || (p[4] & 0xf0) != 0xb0 || (p[5] & 0xc0) != 0x80) {
			s[to++] = s[from++];
			continue;
		}
		cp = 0x10000 + (((p[1] & 0xf) << 6 | (p[2] & 0x3f)) << 10 | (p[4] & 0xf) << 6 |
				(p[5] & 0x3f));
		s[to++] = (char)(0xf0 | cp >> 18);
		s[to++] = (char)(0x80 | (cp >> 12 & 0x3f));
		s[to++] = (char)(0x80 | (cp >> 6 & 0x3f));
		s[to++] = (char)(0x80 | (cp & 0x3f));
		from += 6;
	}
	return to;
}

/*
 * Return whether it is a control, a separator of lines or paragraphs, or a mark of direction (embeddings,
 * overrides, isolates).
 */
static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x2028 && cp <= 0x202e) ||
	       (cp >= 0x2066 && cp <= 0x2069) || cp == 0x200e || cp == 0x200f || cp == 0x61c;
}

size_t quote_plain_len(const char *s, size_t len)
{
	uint32_t cp;
	size_t n = decode_utf8((const unsigned char *)s, len, &cp);

	return n && !is_control(cp) ? n : 0;
}

static void put_escape(struct buf *b, unsigned char c)
{
	static const char chars[] = "\n\t\r", letters[] = "ntr";
	const char *at = c ? strchr(chars, c) : NULL;

	if (at)
		buf_fmt(b, "\\%c", letters[at - chars]);
	else
		buf_fmt(b, "\\x%02x", c);
}

static inline bool is_char_of(char c, const char *set)
{
	for (; *set; set++)
		if (c == *set)
			return true;
	return false;
}

/* Return how much of s is printable ASCII, as names mostly are. */
static inline size_t ascii_len(const char *s, size_t len, const char *but)
{
	size_t n = 0;

	while (n < len && (unsigned char)(s[n] - 0x20) < 0x5f && !is_char_of(s[n], but))
		n++;
	return n;
}

void quote_add_also(struct buf *b, const char *s, size_t len, const char *also)
{
	size_t n, k;

	do {
		n = ascii_len(s, len, also);
		buf_add(b, s, n);
		s += n;
		len -= n;
		n = quote_plain_len(s, len);
		if (n == 1)
			buf_putc(b, '\\');
		if (n)
			buf_add(b, s, n);
		if (!n && len) {
			n = utf8_len(s, len);
			n = n ? n : 1;
			for (k = 0; k < n; k++)
				put_escape(b, s[k]);
		}
		s += n;
		len -= n;
	} while (len);		/* once of nothing: b is a string then */
}

void quote_add(struct buf *b, const char *s)
{
	quote_add_also(b, s, strlen(s), "");
}

/* Decode the escape behind a backslash into *c; return its length, or 0 for no escape. */
static size_t undo_escape(const char *s, size_t len, const char *also, char *c)
{
	static const char chars[] = "\n\t\r", letters[] = "ntr";
	const char *at;

	if (!len || !*s)
		return 0;
	if ((at = strchr(letters, *s)))
		*c = chars[at - letters];
	else if (strchr(also, *s))
		*c = *s;
	else if (*s == 'x' && len >= 3 && hex_lower(s[1]) >= 0 && hex_lower(s[2]) >= 0)
		*c = hex_lower(s[1]) << 4 | hex_lower(s[2]);
	else
		return 0;
	return *s == 'x' && !strchr(also, 'x') ? 3 : 1;
}

bool quote_undo(struct buf *b, const char *s, size_t len, const char *also)
{
	size_t was = b->len, i, n;
	char c;

	for (i = 0; i < len; i++) {
		if (s[i] != '\\') {
			buf_putc(b, s[i]);
			continue;
		}
		n = undo_escape(s + i + 1, len - i - 1, also, &c);
		if (!n) {
			b->len = was;
			if (b->data)
				b->data[was] = '\0';
			return false;
		}
		buf_putc(b, c);
		i += n;
	}
	return true;
}

static bool is_plain(const char *s, size_t len)
{
	size_t n;

	for (; len; s += n, len -= n)
		if (!(n = ascii_len(s, len, "")) && !(n = quote_plain_len(s, len)))
			return false;
	return true;
}

const char *quote_str(struct buf *scratch, const char *s)
{
	if (is_plain(s, strlen(s)))
		return s;
	buf_reset(scratch);
	quote_add(scratch, s);
	return scratch->data;
}

void quote_print(const char *s, FILE *out)
{
	struct buf b = BUF_INIT;

	fputs(quote_str(&b, s), out);
	buf_release(&b);
}

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/*
 * Return whether it is a number: a sign, digits, a fraction, an exponent; or the dash that stands for
 * nothing.
 */
static bool quote_is_number(const char *s, size_t len)
{
	size_t at = *s == '-' || *s == '+', n = digits(s + at, len - at);

	if (len == 1 && *s == '-')
		return true;
	at += n;
	if (at < len && s[at] == '.') {
		n += digits(s + at + 1, len - at - 1);
		at += 1 + digits(s + at + 1, len - at - 1);
	}
	if (n && at + 1 < len && (s[at] == 'e' || s[at] == 'E')) {
		at++;
		at += s[at] == '-' || s[at] == '+';
		n = digits(s + at, len - at);
		at += n;
	}
	return n && at == len;
}

void quote_csv(struct buf *b, const char *s, size_t len)
{
	bool formula = len && strchr("=+-@", *s) && !quote_is_number(s, len), quotes;
	size_t start, i;

	quotes = memchr(s, ',', len) || memchr(s, '"', len) || formula;
	if (!quotes) {
		quote_add_also(b, s, len, "");
		return;
	}
	buf_str(b, formula ? "\"'" : "\"");
	for (start = i = 0; i <= len; i++) {
		if (i < len && s[i] != '"')
			continue;
		quote_add_also(b, s + start, i - start, "");
		buf_str(b, i < len ? "\"\"" : "\"");
		start = i + 1;
	}
}

void quote_add_xml(struct buf *b, const char *s)
{
	struct buf scratch = BUF_INIT;

	for (s = quote_str(&scratch, s); *s; s++) {
		if (*s == '&')
			buf_str(b, "&amp;");
		else if (*s == '<')
			buf_str(b, "&lt;");
		else if (*s == '>')
			buf_str(b, "&gt;");
		else if (*s == '"')
			buf_str(b, "&quot;");
		else
			buf_putc(b, *s);
	}
	buf_release(&scratch);
}
