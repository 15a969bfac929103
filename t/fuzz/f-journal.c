// SPDX-License-Identifier: GPL-2.0-or-later
/* f-journal.c - a file that a JVM's agent is said to have written: it becomes a trace, or an error. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/jvm/replay.h"
#include "jvm/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void take(void *ctx, const void *p, size_t len)
{
	size_t *nr = ctx;

	*nr += len;
}

/* What follows the 16 bytes of a chunk's head is 8-aligned, as in a file that is mapped. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t *copy = xmalloc(len + 8);
	size_t nr = 0;
	const struct replay_opts o = {
		.data = copy, .len = len, .version = "fuzz",
		.trace = { .take = take, .take_ctx = &nr },
	};
	struct journal_header *h = (void *)copy;
	struct err e;

	memcpy(copy, data, len);
	if (len >= sizeof(*h)) {		/* seeds outlive both */
		h->version = JOURNAL_VERSION;
		h->proto = JVM_PROTO_VERSION;
	}
	if (!replay_journal(&o, &e) && !nr)
		abort();
	free(copy);
	return 0;
}
