// SPDX-License-Identifier: GPL-2.0-or-later
/* f-memory.c - a table of sampled blocks that says anything: each sample is live once at most. */
#include "base/mem.h"
#include "collect/parts/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { NR_SAMPLES = 64 };

static unsigned int nr_live[NR_SAMPLES + 1];

static void on_live(void *ctx, const struct memory_sample *s)
{
	if (s->id > NR_SAMPLES || nr_live[s->id]++)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct memory_table table;
	struct memory_blocks m = { 0 };
	uint32_t i;

	memset(&table, 0, sizeof(table));
	memset(nr_live, 0, sizeof(nr_live));
	memcpy(&table.blocks[0], data, MIN(len, sizeof(table.blocks)));
	memcpy(&table.mappings[0], data, MIN(len, sizeof(table.mappings)));
	for (i = 1; i <= NR_SAMPLES; i++)
		memory_keep(&m, &(struct memory_sample){ .id = i, .value = i },
			    &(struct frame){ .kind = FRAME_NAMED, .function = i % 5 }, 1, &table);
	memory_live(&m, &table, on_live, NULL);
	memory_release(&m);
	return 0;
}
