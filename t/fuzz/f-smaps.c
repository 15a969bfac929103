// SPDX-License-Identifier: GPL-2.0-or-later
/* f-smaps.c - the text of /proc/PID/smaps: mappings come out sorted, disjoint and no fuller than large. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "resident/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xcalloc(len + 1, 1);
	struct smaps s = { 0 };
	uint64_t end = 0;
	size_t i;

	memcpy(text, data, len);
	smaps_parse(&s, text);
	for (i = 0; i < s.nr; i++) {
		const struct smap *m = &s.items[i];

		if (m->start < end || m->end <= m->start || m->rss > m->end - m->start || m->name < text ||
		    m->name + strlen(m->name) > text + len || smaps_find(&s, m->start) != m)
			abort();
		end = m->end;
	}
	smaps_release(&s);
	free(text);
	return 0;
}
