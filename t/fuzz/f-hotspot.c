// SPDX-License-Identifier: GPL-2.0-or-later
/* f-hotspot.c - what a JVM says of its memory: claims stay sorted and disjoint, whatever it says. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "resident/hotspot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct claims *c)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < c->nr; i++) {
		if (c->items[i].start < end || c->items[i].end <= c->items[i].start ||
		    c->items[i].part >= RESIDENT_NR_PARTS)
			abort();
		end = c->items[i].end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xcalloc(len + 1, 1), version[128];
	struct hotspot_nmt n;
	struct claims c = { 0 };
	size_t i;

	memcpy(text, data, len);
	hotspot_info(text, &c);
	hotspot_metaspace(text, &c);
	hotspot_regions(text, &c);
	hotspot_map(text, &c);
	check(&c);
	hotspot_version(text, version, sizeof(version));
	hotspot_nmt(text, &n);
	for (i = 0; i < n.nr; i++)
		if (!memchr(n.items[i].name, 0, sizeof(n.items[i].name)))
			abort();
	claims_release(&c);
	free(text);
	return 0;
}
