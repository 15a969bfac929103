// SPDX-License-Identifier: GPL-2.0-or-later
/* f-splice-calls.c - chunks of calls of segments: whatever is in them, what is made of them can be read. */
#include <stdlib.h>

#include "trace/splice_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t nr_records(const struct buf *b)
{
	struct span span = span_init(b->data, b->len);
	struct walk_record r = { 0 };
	size_t nr = 0;
	int got;

	while ((got = walk_record(&span, (const uint8_t *)b->data, &r)) > 0)
		nr++;
	if (got < 0)
		abort();
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct splice_calls *s = splice_calls_new();
	struct records out = { .type = TRF_CALLS };
	int i;

	for (i = 0; i < 3; i++) {
		splice_calls_chunk(s, data, len, &out);
		if (out.b.len && nr_records(&out.b) != out.nr)
			abort();
		records_reset(&out);
		splice_calls_next(s);
	}
	buf_release(&out.b);
	splice_calls_free(s);
	return 0;
}
