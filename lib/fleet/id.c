// SPDX-License-Identifier: GPL-2.0-or-later
/* id.c - computes the numbers of functions and contexts in tables (id.h). */
#include <string.h>

#include "base/quote.h"
#include "base/siphash.h"
#include "fleet/id.h"

static const uint64_t no_key[2];

static int64_t not_zero(uint64_t hash)
{
	return hash ? (int64_t)hash : 1;
}

int64_t fleet_trace(const void *data, size_t len)
{
	return not_zero(siphash(data, len, no_key));
}

int64_t fleet_func(const char *kind, const char *module, const char *name, const char *detail)
{
	const char *parts[] = { kind, module, name, detail };
	struct buf b = BUF_INIT;
	int64_t id;
	size_t i;

	for (i = 0; i < 4; i++)
		buf_add(&b, parts[i], strlen(parts[i]) + 1);
	id = fleet_trace(b.data, b.len);
	buf_release(&b);
	return id;
}

int64_t fleet_path(int64_t parent, int64_t func)
{
	const uint64_t ids[2] = { (uint64_t)parent, (uint64_t)func };
	uint8_t bytes[16];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = ids[i / 8] >> 8 * (i % 8);
	return not_zero(siphash(bytes, sizeof(bytes), no_key));
}

void fleet_text(struct buf *b, const char *s)
{
	size_t len = strlen(s), n;

	buf_reset(b);
	buf_str(b, "");
	for (; len; s += n, len -= n) {
		n = *s == '\\' ? 0 : quote_plain_len(s, len);
		if (n) {
			buf_add(b, s, n);
		} else {
			buf_putc(b, '?');
			n = 1;
		}
	}
}
