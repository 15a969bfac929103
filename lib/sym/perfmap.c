// SPDX-License-Identifier: GPL-2.0-or-later
/* perfmap.c - parses lines of perf-PID.map; any of them may be nonsense. */
#include "base/buf.h"
#include "base/span.h"
#include "sym/jitdump.h"

enum { NAME_MAX_BYTES = 4096 };

/* Read a number and the spaces behind it. */
static uint64_t hex(struct span *s)
{
	const uint8_t *start;
	uint64_t v = 0;

	if (span_left(s) > 2 && s->p[0] == '0' && (s->p[1] | 0x20) == 'x')
		s->p += 2;
	for (start = s->p; s->p < s->end && hex_digit(*s->p) >= 0; s->p++)
		v = v << 4 | hex_digit(*s->p);
	if (s->p == start || s->p - start > 16 || s->p == s->end || *s->p != ' ')
		s->bad = true;
	while (s->p < s->end && *s->p == ' ')
		s->p++;
	return v;
}

bool perfmap_line(struct perfmap_code *c, const char *line, size_t len)
{
	struct span s = span_init(line, len);

	c->addr = hex(&s);
	c->size = s.bad ? 0 : hex(&s);
	c->name = (const char *)s.p;
	c->name_len = span_left(&s);
	if (c->name_len && c->name[c->name_len - 1] == '\r')
		c->name_len--;
	if (c->name_len > NAME_MAX_BYTES)
		c->name_len = NAME_MAX_BYTES;
	return !s.bad && c->size && c->size <= UINT64_MAX - c->addr && c->name_len;
}
