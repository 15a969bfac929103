// SPDX-License-Identifier: GPL-2.0-or-later
/* opt_num.c - numbers, durations and sizes as options accept them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"

struct unit {
	const char *name;
	uint64_t factor;
};

#define KI 1024ull
static const struct unit count_units[] = {
	{ "", 1 }, { "k", 1000 }, { "K", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
	{ "Ki", KI }, { "Mi", KI * KI }, { "Gi", KI * KI * KI },
};

static const struct unit size_units[] = {
	{ "", 1 }, { "B", 1 },
	{ "k", KI }, { "K", KI }, { "kB", KI }, { "KB", KI }, { "KiB", KI },
	{ "m", KI * KI }, { "M", KI * KI }, { "MB", KI * KI }, { "MiB", KI * KI },
	{ "g", KI * KI * KI }, { "G", KI * KI * KI }, { "GB", KI * KI * KI }, { "GiB", KI * KI * KI },
	{ "t", KI * KI * KI * KI }, { "T", KI * KI * KI * KI }, { "TB", KI * KI * KI * KI },
	{ "TiB", KI * KI * KI * KI },
};
#undef KI

static const struct unit time_units[] = {
	{ "", 1000000000 }, { "s", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "µs", 1000 },
	{ "ms", 1000000 }, { "m", 60000000000 }, { "min", 60000000000 }, { "h", 3600000000000 },
	{ "d", 86400000000000 },
};

struct number {
	const struct unit *units;
	size_t nr_units;
	bool round;		/* a fraction of the smallest unit is cut off, not refused */
	const char *what;	/* for the error: "is not <what>" */
	const char *hint;
};

static const struct number count_number = {
	count_units, ARRAY_SIZE(count_units), false, "a number", "examples: 4000, 10k, 1M, 64Ki, 0xc0de",
};
static const struct number time_number = {
	time_units, ARRAY_SIZE(time_units), true, "a duration", "examples: 250us, 10ms, 1.5s, 2m, 1h; without a unit it is seconds",
};
static const struct number size_number = {
	size_units, ARRAY_SIZE(size_units), true, "a size", "examples: 65536, 64k, 1.5M, 2G",
};

static int refuse_number(const struct number *n, const char *s, struct err *e)
{
	int r = err_set(e, EINVAL, "'%s' is not %s", s, n->what);

	err_hint(e, "%s", n->hint);
	return r;
}

static int too_big(const char *s, struct err *e)
{
	return err_set(e, EINVAL, "'%s' is too large", s);
}

static int parse_hex(const struct number *n, const char *s, uint64_t *v, struct err *e)
{
	const char *p = s + 2;

	*v = 0;
	if (!*p)
		return refuse_number(n, s, e);
	for (; *p; p++) {
		if (!isxdigit((unsigned char)*p))
			return refuse_number(n, s, e);
		if (*v >> 60)
			return too_big(s, e);
		*v = *v << 4 |
			(isdigit((unsigned char)*p) ? *p - '0' : tolower((unsigned char)*p) - 'a' + 10);
	}
	return 0;
}

/*
 * Parse exactly: the whole part and the decimals, an integer over a power of ten, are each multiplied by the
 * unit.
 */
static int parse_number(const struct number *n, const char *s, uint64_t *v, struct err *e)
{
	unsigned __int128 whole = 0, decimals = 0, total;
	uint64_t scale = 1, factor;
	bool digits = false, point = false;
	const char *p;
	size_t i;

	if (n->units == count_units && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return parse_hex(n, s, v, e);
	for (p = s; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		digits = true;
		if (!point) {
			whole = whole * 10 + (*p - '0');
			if (whole >> 64)
				return too_big(s, e);
		} else if (scale < 1000000000000000000) {
			/* what follows is finer than a ns in an hour */
			decimals = decimals * 10 + (*p - '0');
			scale *= 10;
		}
	}
	for (i = 0; i < n->nr_units && strcmp(p, n->units[i].name); i++)
		;
	if (!digits || i == n->nr_units)
		return refuse_number(n, s, e);
	factor = n->units[i].factor;
	if (!n->round && decimals * factor % scale)
		return err_set(e, EINVAL, "'%s' is not a whole number", s);
	total = whole * factor + decimals * factor / scale;
	if (total >> 64)
		return too_big(s, e);
	*v = total;
	return 0;
}

int opt_parse_u64(const char *s, uint64_t *v, struct err *e)
{
	return parse_number(&count_number, s, v, e);
}

int opt_parse_time(const char *s, uint64_t *ns, struct err *e)
{
	return parse_number(&time_number, s, ns, e);
}

int opt_parse_size(const char *s, uint64_t *bytes, struct err *e)
{
	return parse_number(&size_number, s, bytes, e);
}

void opt_put_time(struct buf *b, uint64_t ns)
{
	static const struct { const char *unit; uint64_t ns; } units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	buf_fmt(b, "%" PRIu64 "%s", ns / units[i].ns, units[i].unit);
}
