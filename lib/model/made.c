// SPDX-License-Identifier: GPL-2.0-or-later
/* made.c - recognizes names that a program makes up at run time (made.h). */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "model/made.h"

enum {
	LEAST_NUMBER = 9,	/* digits: no name in a source has so many */
	LEAST_HASH = 8,		/* letters and digits of a hash */
	MAX_HASH = 40,
	RANDOM_LETTERS = 8,	/* of the libraries that draw from all letters and digits */
	LEAST_GENSYM = 2,	/* digits behind the two underscores of a generated symbol */
};

/* A text, and the place in it that is looked at. */
struct at {
	const char *begin, *p;
	bool java;
};

static bool made_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool made_is_letter(char c)
{
	return is_upper(c) || is_lower(c);
}

static size_t len_alnum(const char *s)
{
	size_t len = 0;

	while (made_is_digit(s[len]) || made_is_letter(s[len]))
		len++;
	return len;
}

/* Return whether a part of a name ends before this character. */
static bool ends_here(char c)
{
	return !c || strchr(".$;:(/)_ [", c);
}

/* Return whether that text stands before the place. */
static bool made_follows(const struct at *a, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(a->p - a->begin) >= len && !memcmp(a->p - len, text, len);
}

static char made_before(const struct at *a)
{
	return a->p > a->begin ? a->p[-1] : '\0';
}

/* ---- addresses ---- */

/*
 * Return the length of a hidden class's address: /0x7f01, in JFR +0x7f01, in async-profiler .0x7f01, in
 * JDK 8 /1234567.
 */
static size_t len_address(const struct at *a)
{
	const char *s = a->p + 1;
	size_t len = 0;

	if (*s == '0' && s[1] == 'x' && (len = len_hex(s + 2)))
		len = *a->p != '.' || len >= LEAST_HASH ? len + 2 : 0;
	else if (*a->p == '/' && a->java)
		len = len_digits(s);
	if (!len || isalnum((unsigned char)s[len]) || s[len] == '_')
		return 0;
	return len + 1;
}

/* "I2C/C2I adapters(0xbaa)": it is the hash of a signature. */
static size_t len_signature(const struct at *a)
{
	size_t len;

	if (!made_follows(a, "adapters") || a->p[1] != '0' || a->p[2] != 'x')
		return 0;
	len = len_hex(a->p + 3);
	return len && a->p[3 + len] == ')' ? len + 4 : 0;
}

/* "$$Lambda$14": later JDKs have no count. What stays is "$$Lambda". */
static size_t len_count_of_lambda(const struct at *a)
{
	size_t len;

	if (!made_follows(a, "$$Lambda"))
		return 0;
	len = len_digits(a->p + 1);
	return len && !isalnum((unsigned char)a->p[1 + len]) && a->p[1 + len] != '_' ? len + 1 : 0;
}

/* ---- counts ---- */

/* Check for letters before the place that begin with the word, or have it in them after a '.' or '$'. */
static bool follows_letters_with(const struct at *a, const char *word)
{
	const char *s = a->p;
	size_t len = strlen(word);

	while (s > a->begin && made_is_letter(s[-1]))
		s--;
	for (; (size_t)(a->p - s) >= len; s++)
		if (!memcmp(s, word, len))
			return true;
	return false;
}

static bool has_dollar(const struct at *a)
{
	const char *s;

	for (s = a->p; s > a->begin && s[-1] != '.' && s[-1] != '/'; s--)
		if (s[-1] == '$')
			return true;
	return false;
}

static size_t len_count(const struct at *a)
{
	size_t len = len_digits(a->p);

	if (!len || made_is_digit(made_before(a)) || !ends_here(a->p[len]))
		return 0;
	if (len >= LEAST_NUMBER &&
	    (made_is_letter(made_before(a)) || made_before(a) == '_' || made_before(a) == '$'))
		return len;
	if (follows_letters_with(a, "Generated") || made_follows(a, "$Proxy") || made_follows(a, "jdk.proxy"))
		return a->p[len] == '_' ? 0 : len;
	if (len >= LEAST_GENSYM && ((made_follows(a, "__") && has_dollar(a)) || made_follows(a, "$eval")))
		return len;
	return 0;
}

/* 20230101_123456_00012_abcde_1: a date, a time, a count, and what tells machines apart. */
static size_t len_stamp(const struct at *a)
{
	static const char shape[] = "dddddddd_dddddd_ddddd_xxxxx";
	const char *s = a->p;
	size_t i, len;

	if (!made_is_digit(*s) || made_is_digit(made_before(a)))
		return 0;
	for (i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? !made_is_digit(s[i]) : shape[i] == 'x' ? !made_is_digit(s[i]) &&
		    !is_lower(s[i]) :
							s[i] != shape[i])
			return 0;
	if (s[i] == '_' && (len = len_digits(s + i + 1)))
		i += len + 1;
	return ends_here(s[i]) ? i : 0;
}

static size_t len_uuid(const struct at *a)
{
	static const unsigned char parts[] = { 8, 4, 4, 4, 12 };
	const char *s = a->p;
	size_t i;

	if (isalnum((unsigned char)made_before(a)))
		return 0;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (len_hex(s) != parts[i])
			return 0;
		s += parts[i];
		if (i + 1 < ARRAY_SIZE(parts) && *s != '-' && *s != '_')
			return 0;
		s += i + 1 < ARRAY_SIZE(parts);
	}
	return isalnum((unsigned char)*s) ? 0 : s - a->p;
}

/* ---- hashes ---- */

/* "Shop$$WORD$$": no lambda, whose '$$' is followed by its name alone. */
static bool follows_dollars(const struct at *a)
{
	const char *s = a->p - 2, *word;

	if (!made_follows(a, "$$"))
		return false;
	for (word = s; word > a->begin && made_is_letter(word[-1]); word--)
		;
	return word - a->begin >= 3 && word[-1] == '$' && word[-2] == '$' &&
	       isalnum((unsigned char)word[-3]) && !(s - word == 6 && !memcmp(word, "Lambda", 6));
}

static bool has_digit(const char *s, size_t len)
{
	while (len)
		if (made_is_digit(s[--len]))
			return true;
	return false;
}

/* Return the length of what follows two dollars: hexadecimal digits, or a count. */
static size_t len_hash_of_dollars(const struct at *a)
{
	size_t len = len_hex(a->p);

	if (!len || !ends_here(a->p[len]) || !follows_dollars(a))
		return 0;
	return has_digit(a->p, len) || len >= LEAST_HASH ? len : 0;
}

/* "Order_$$_jvst5a2_1c" */
static size_t len_of_underscores(const struct at *a)
{
	size_t len = 0, more;

	if (!made_follows(a, "_$$_"))
		return 0;
	while (is_lower(a->p[len]) || made_is_digit(a->p[len]))
		len++;
	if (!len || !is_lower(*a->p) || a->p[len] != '_' || !has_digit(a->p, len))
		return 0;
	more = len_hex(a->p + len + 1);
	return more && ends_here(a->p[len + 1 + more]) ? len + 1 + more : 0;
}

static bool is_vowel(char c)
{
	return strchr("aeiouyAEIOUY", c);
}

/* Return the next hump of CamelCase: a word with or without its capital, capitals, or digits. */
static size_t len_hump(const char *s, size_t len)
{
	size_t n = 1;

	if (made_is_digit(*s)) {
		while (n < len && made_is_digit(s[n]))
			n++;
	} else if (is_lower(*s) || (len > 1 && is_lower(s[1]))) {
		while (n < len && is_lower(s[n]))
			n++;
	} else {
		while (n < len && is_upper(s[n]) && !(n + 1 < len && is_lower(s[n + 1])))
			n++;
	}
	return n;
}

/*
 * Return whether it is drawn by a random generator: letters change case as in no words, no word is among
 * them, and digits are inside or the humps have one or two letters.
 */
static bool is_random(const char *s, size_t len)
{
	size_t i, n, k, turns = 0, odd = 0, short_humps = 0;
	bool digit_inside = false, vowel;

	for (i = 1; i < len; i++) {
		turns += made_is_digit(s[i]) != made_is_digit(s[i - 1]) ||
			 is_upper(s[i]) != is_upper(s[i - 1]);
		digit_inside |= made_is_digit(s[i - 1]) && !made_is_digit(s[i]);
	}
	for (i = 0; i < len; i += n) {
		n = len_hump(s + i, len - i);
		for (vowel = false, k = 0; k < n; k++)
			vowel |= is_vowel(s[i + k]);
		if (n > 3 && vowel)
			return false;
		short_humps += !made_is_digit(s[i]) && n < 3;
		odd += made_is_digit(s[i]) ? n < 2 : n < 3 || !vowel;
	}
	return 5 * turns >= 2 * len && odd >= 2 + len / 10 && (digit_inside || short_humps >= 3);
}

/* "Shop$WORD$": the word has four letters or more. */
static bool follows_word(const struct at *a)
{
	const char *s = a->p - 1, *word;

	for (word = s; word > a->begin && made_is_letter(word[-1]); word--)
		;
	return s - word >= 4 && word - a->begin >= 2 && word[-1] == '$' && made_is_letter(word[-2]);
}

/*
 * Return whether it is a hash, which is in one case: mixed ones of letters a to f and digits are names such
 * as Cafe2Ba.
 */
static bool is_hash(const char *s, size_t len)
{
	bool upper = false, lower = false;
	size_t i, digits = 0;

	if (len_hex(s) < len)
		return false;
	for (i = 0; i < len; i++) {
		upper |= is_upper(s[i]);
		lower |= is_lower(s[i]);
		digits += made_is_digit(s[i]);
	}
	return digits >= 2 && !(upper && lower);
}

/* Return the length of a made-up segment after a dollar. */
static size_t len_segment(const struct at *a)
{
	size_t len = len_alnum(a->p);

	if (len < LEAST_HASH || len > MAX_HASH || !ends_here(a->p[len]))
		return 0;
	if (is_hash(a->p, len))
		return len;
	return len == RANDOM_LETTERS && follows_word(a) && is_random(a->p, len) ? len : 0;
}

/* ---- all ---- */

/*
 * Return the length of what is made up at the place, and its replacement in *put. Called for each letter
 * of each name.
 */
static size_t len_made(const struct at *a, const char **put)
{
	size_t len = 0;
	char c = *a->p;

	*put = "";
	if (c == '/' || c == '+' || c == '.')
		return len_address(a);
	if (c == '$')
		return len_count_of_lambda(a);
	if (c == '(')
		return len_signature(a);
	*put = "*";
	if (made_is_digit(c) && ((len = len_stamp(a)) || (len = len_count(a))))
		return len;
	if (made_before(a) == '$' && ((len = len_hash_of_dollars(a)) || (len = len_segment(a))))
		return len;
	if (made_before(a) == '_' && (len = len_of_underscores(a)))
		return len;
	return isxdigit((unsigned char)c) ? len_uuid(a) : 0;
}

static bool put_once(const char *name, bool java, struct buf *b)
{
	struct at a = { name, name, java };
	bool any = false;
	const char *put;
	size_t len;

	while (*a.p) {
		len = len_made(&a, &put);
		any |= len > 0;
		if (len)
			buf_str(b, put);
		else
			buf_putc(b, *a.p);
		a.p += len ? len : 1;
	}
	return any;
}

/* Append the name without made-up parts. Removing one may join its neighbours to what looks made up, too. */
void made_put(const char *name, bool java, struct buf *b)
{
	struct buf once = BUF_INIT;
	size_t from = b->len;

	while (put_once(name, java, b)) {
		buf_reset(&once);
		buf_str(&once, b->data + from);
		name = once.data;
		b->len = from;
	}
	buf_release(&once);
}
