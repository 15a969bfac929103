// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - writes JSON (json.h). */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quote.h"

void json_init(struct json *j, FILE *out)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
	j->first[0] = true;
}

/* Escape characters that a terminal obeys; JSON reads them as the same. */
static void put_code_point(FILE *out, const char *s, size_t len)
{
	uint32_t cp = (unsigned char)s[0];

	if (len == 2)
		cp = (cp & 0x1f) << 6 | (s[1] & 0x3f);
	else if (len == 3)
		cp = (cp & 0xf) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
	fprintf(out, "\\u%04x", cp);	/* all of them are below 2^16 */
}

static bool is_as_it_is(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(FILE *out, const char *s)
{
	size_t left = strlen(s), n;

	putc('"', out);
	for (; left; s += n, left -= n) {
		for (n = 0; n < left && is_as_it_is(s[n]); n++)
			;
		fwrite(s, 1, n, out);
		if (n)
			continue;
		n = utf8_len(s, left);
		if (!n) {
			fputs("\xef\xbf\xbd", out);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			putc('\\', out);
			putc(*s, out);
		} else if (!quote_plain_len(s, left)) {
			put_code_point(out, s, n);
		} else {
			fwrite(s, 1, n, out);
		}
	}
	putc('"', out);
}

/* Begin a member; return false when nothing is to be written. */
static bool member(struct json *j, const char *key)
{
	if (!j->out)
		return false;
	if (!j->first[j->depth])
		putc(',', j->out);
	if (j->depth && j->depth <= 2 && !j->one_line)
		putc('\n', j->out);
	j->first[j->depth] = false;
	if (key) {
		put_string(j->out, key);
		putc(':', j->out);
	}
	return true;
}

static void open_level(struct json *j, const char *key, char opener, char closer)
{
	if (!member(j, key))
		return;
	putc(opener, j->out);
	j->depth++;
	assert((size_t)j->depth < ARRAY_SIZE(j->first));
	j->first[j->depth] = true;
	j->closer[j->depth] = closer;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_end(struct json *j)
{
	if (!j->out)
		return;
	putc(j->closer[j->depth], j->out);
	j->depth--;
	if (!j->depth)
		putc('\n', j->out);
}

void json_str(struct json *j, const char *key, const char *val)
{
	if (!member(j, key))
		return;
	if (val)
		put_string(j->out, val);
	else
		fputs("null", j->out);
}

/* Large files consist mostly of these, and printf() takes several times as long. */
static void put_u64(FILE *out, uint64_t val)
{
	char digits[20], *p = digits + sizeof(digits);

	do
		*--p = '0' + val % 10;
	while (val /= 10);
	fwrite(p, 1, digits + sizeof(digits) - p, out);
}

void json_u64(struct json *j, const char *key, uint64_t val)
{
	if (member(j, key))
		put_u64(j->out, val);
}

void json_i64(struct json *j, const char *key, int64_t val)
{
	if (member(j, key))
		fprintf(j->out, "%" PRId64, val);
}

void json_rounded(struct json *j, const char *key, double val, unsigned int digits)
{
	if (!member(j, key))
		return;
	if (isfinite(val))
		fprintf(j->out, "%.*g", digits ? (int)digits : 15, val);
	else
		fputs("null", j->out);
}

void json_double(struct json *j, const char *key, double val)
{
	json_rounded(j, key, val, 0);
}

void json_decimal(struct json *j, const char *key, uint64_t val, unsigned int decimals)
{
	char digits[20];
	uint64_t unit = 1;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		unit *= 10;
	if (!member(j, key))
		return;
	put_u64(j->out, val / unit);
	for (i = decimals, val %= unit; i; i--, val /= 10)
		digits[i - 1] = '0' + val % 10;
	while (decimals && digits[decimals - 1] == '0')
		decimals--;
	if (decimals) {
		putc('.', j->out);
		fwrite(digits, 1, decimals, j->out);
	}
}

void json_bool(struct json *j, const char *key, bool val)
{
	if (member(j, key))
		fputs(val ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	if (member(j, key))
		fputs("null", j->out);
}

void json_u64_known(struct json *j, const char *key, bool known, uint64_t val)
{
	if (known)
		json_u64(j, key, val);
	else
		json_null(j, key);
}
