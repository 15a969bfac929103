// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust-legacy.c - names that look like C++'s: _ZN, elements with their length, a hash, E.
 * Characters that linkers would not take are $xx$ escapes.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "sym/languages.h"

static const struct { const char *escape; char c; } escapes[] = {
	{ "SP$", '@' }, { "BP$", '*' }, { "RF$", '&' }, { "LT$", '<' }, { "GT$", '>' },
	{ "LP$", '(' }, { "RP$", ')' }, { "C$", ',' },
};

void rust_put_utf8(struct buf *out, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buf_putc(out, (char)c);
	} else if (c < 0x800) {
		buf_putc(out, (char)(0xc0 | c >> 6));
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_putc(out, (char)(0xe0 | c >> 12));
		buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_putc(out, (char)(0xf0 | c >> 18));
		buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Append the character of an escape after a $; return the bytes used, 0: not an escape. */
static size_t put_escape(const char *s, size_t len, struct buf *out)
{
	uint32_t c = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(escapes); i++) {
		size_t n = strlen(escapes[i].escape);

		if (n <= len && !memcmp(s, escapes[i].escape, n)) {
			buf_putc(out, escapes[i].c);
			return n;
		}
	}
	if (!len || s[0] != 'u')
		return 0;
	for (i = 1; i < len && i < 8 && isxdigit((unsigned char)s[i]); i++)
		c = c << 4 | (isdigit((unsigned char)s[i]) ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
	if (i == 1 || i >= len || s[i] != '$' || c < 0x20)
		return 0;
	rust_put_utf8(out, c);
	return i + 1;
}

static void put_element(const char *s, size_t len, struct buf *out)
{
	size_t i = 0, n;

	if (len > 1 && s[0] == '_' && s[1] == '$')	/* an identifier cannot start with $ */
		i = 1;
	while (i < len) {
		if (s[i] == '$' && (n = put_escape(s + i + 1, len - i - 1, out))) {
			i += n + 1;
		} else if (s[i] == '.' && i + 1 < len && s[i + 1] == '.') {
			buf_str(out, "::");
			i += 2;
		} else {
			buf_putc(out, s[i++]);
		}
	}
}

/* Read a length and its bytes; return false if there is no element. */
static bool next_element(const char **p, const char **s, size_t *len)
{
	size_t n = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p) && n < 1 << 20; (*p)++)
		n = n * 10 + (**p - '0');
	if (!n || strnlen(*p, n) < n)
		return false;
	*s = *p;
	*len = n;
	*p += n;
	return true;
}

/* "h" and 16 hexadecimal digits, not too few different ones: C++ names may look so too. */
static bool is_hash(const char *s, size_t len)
{
	unsigned int seen = 0;
	size_t i;

	if (len != 17 || s[0] != 'h')
		return false;
	for (i = 1; i < len; i++) {
		if (!isdigit((unsigned char)s[i]) && (s[i] < 'a' || s[i] > 'f'))
			return false;
		seen |= 1u << (isdigit((unsigned char)s[i]) ? s[i] - '0' : s[i] - 'a' + 10);
	}
	return __builtin_popcount(seen) >= 5;
}

bool rust_demangle_legacy(const char *name, struct buf *out)
{
	const char *p = name + 3, *s = NULL;
	size_t len = 0, nr = 0, start = out->len, i;

	if (strncmp(name, "_ZN", 3))
		return false;
	while (next_element(&p, &s, &len))
		nr++;
	if (nr < 2 || *p != 'E' || !is_hash(s, len) || (p[1] && p[1] != '.'))
		return false;
	p = name + 3;
	for (i = 0; i + 1 < nr && next_element(&p, &s, &len); i++) {
		if (out->len > start)
			buf_str(out, "::");
		put_element(s, len, out);
	}
	next_element(&p, &s, &len);
	if (strncmp(p + 1, ".llvm.", 6))
		buf_str(out, p + 1);
	return true;
}
