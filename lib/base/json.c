// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

void json_init(struct json *j, FILE *out)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
	j->first[0] = true;
}

/* Length of the UTF-8 sequence at s, 0 when it is none (RFC 3629). */
static int utf8_len(const unsigned char *s)
{
	uint32_t cp;
	int i, n;

	if (s[0] < 0x80)
		return 1;
	n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
	    s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : 0;
	if (!n)
		return 0;
	cp = s[0] & (0xff >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && cp < 0x800) || (n == 4 && (cp < 0x10000 || cp > 0x10ffff)) ||
	    (cp >= 0xd800 && cp < 0xe000))
		return 0;
	return n;
}

static void put_string(FILE *out, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;

	putc('"', out);
	while (*s) {
		int n = utf8_len(s);

		if (!n) {
			fputs("\xef\xbf\xbd", out);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			putc('\\', out);
			putc(*s, out);
		} else if (*s < 0x20) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, n, out);
		}
		s += n;
	}
	putc('"', out);
}

static void member(struct json *j, const char *key)
{
	if (!j->first[j->depth])
		putc(',', j->out);
	if (j->depth && j->depth <= 2)
		putc('\n', j->out);
	j->first[j->depth] = false;
	if (key) {
		put_string(j->out, key);
		putc(':', j->out);
	}
}

static void open_level(struct json *j, const char *key, char opener, char closer)
{
	member(j, key);
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
	putc(j->closer[j->depth], j->out);
	j->depth--;
	if (!j->depth)
		putc('\n', j->out);
}

void json_str(struct json *j, const char *key, const char *val)
{
	member(j, key);
	if (val)
		put_string(j->out, val);
	else
		fputs("null", j->out);
}

void json_u64(struct json *j, const char *key, uint64_t val)
{
	member(j, key);
	fprintf(j->out, "%" PRIu64, val);
}

void json_i64(struct json *j, const char *key, int64_t val)
{
	member(j, key);
	fprintf(j->out, "%" PRId64, val);
}

void json_double(struct json *j, const char *key, double val)
{
	member(j, key);
	if (isfinite(val))
		fprintf(j->out, "%.15g", val);
	else
		fputs("null", j->out);
}

void json_bool(struct json *j, const char *key, bool val)
{
	member(j, key);
	fputs(val ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	member(j, key);
	fputs("null", j->out);
}
