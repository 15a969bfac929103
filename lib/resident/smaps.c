// SPDX-License-Identifier: GPL-2.0-or-later
/* smaps.c - parses /proc/PID/smaps (smaps.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "resident/smaps.h"

void smaps_release(struct smaps *s)
{
	free(s->items);
	*s = (struct smaps){ 0 };
}

/* "5500-5600 rw-p 00000000 fe:00 318543    /usr/lib/x.so"; false: it is no such line. */
static bool read_head(struct smap *m, char *line)
{
	int at = 0;

	*m = (struct smap){ 0 };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %*u%n", &m->start, &m->end,
		   m->perms, &m->offset, &at) != 4 || !at || strlen(m->perms) != 4)
		return false;
	m->name = line + at + strspn(line + at, " ");
	return m->end > m->start;
}

static void smaps_read_value(struct smap *m, const char *line)
{
	static const struct {
		const char *key;
		size_t offset;
	} keys[] = {
		{ "Rss:", offsetof(struct smap, rss) }, { "Pss:", offsetof(struct smap, pss) },
		{ "Swap:", offsetof(struct smap, swap) },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t len = strlen(keys[i].key);
		uint64_t kb, *to = (uint64_t *)((char *)m + keys[i].offset);

		if (strncmp(line, keys[i].key, len))
			continue;
		kb = strtoull(line + len, NULL, 10);
		*to = MIN(kb, (m->end - m->start) >> 10) << 10;
	}
}

void smaps_parse(struct smaps *s, char *text)
{
	bool skipped = true;
	struct smap m;

	while (*text) {
		char *end = text + strcspn(text, "\n"), *next = *end ? end + 1 : end;

		*end = '\0';
		if (read_head(&m, text)) {
			skipped = s->nr && m.start < s->items[s->nr - 1].end;
			if (!skipped)
				*VEC_ADD(s->items, s->nr, s->alloc) = m;
		} else if (!skipped) {
			smaps_read_value(&s->items[s->nr - 1], text);
		}
		text = next;
	}
}

const struct smap *smaps_find(const struct smaps *s, uint64_t addr)
{
	size_t lo = BISECT(i, s->nr, s->items[i].end <= addr);

	return lo < s->nr && s->items[lo].start <= addr ? &s->items[lo] : NULL;
}
