// SPDX-License-Identifier: GPL-2.0-or-later
/* u-memory.c - which sampled blocks were not freed, by a table that nobody has to believe. */
#include <string.h>

#include "collect/parts/memory.h"
#include "unit.h"

static struct memory_table table;
static uint64_t live_bytes, nr_live;

static void on_live(void *ctx, const struct memory_sample *s)
{
	live_bytes += s->value;
	nr_live++;
}

static void count(const struct memory_blocks *m)
{
	live_bytes = nr_live = 0;
	memory_live(m, &table, on_live, NULL);
}

static void keep(struct memory_blocks *m, uint32_t id, uint64_t value)
{
	const struct frame f = { .kind = FRAME_NAMED, .function = id };

	memory_keep(m, &(struct memory_sample){ .id = id, .value = value }, &f, 1, &table);
}

TEST(memory_live_is_what_the_table_has)
{
	struct memory_blocks m = { 0 };

	memset(&table, 0, sizeof(table));
	keep(&m, 1, 10);
	keep(&m, 2, 200);
	keep(&m, 3, 3000);
	count(&m);
	CHECK_U64(nr_live, 0);
	table.blocks[47] = (struct memory_block){ .addr = 0x1000, .id = 2 };
	table.mappings[0] = (struct memory_block){ .addr = 0x2000, .id = 3 };
	table.blocks[48] = (struct memory_block){ .addr = MEMORY_RESERVED, .id = 1 };
	count(&m);
	CHECK_U64(nr_live, 2);
	CHECK_U64(live_bytes, 3200);
	memory_release(&m);
}

TEST(memory_tables_that_lie_make_no_samples)
{
	struct memory_blocks m = { 0 };

	memset(&table, 0, sizeof(table));
	keep(&m, 1, 10);
	keep(&m, 1, 20);
	table.blocks[0] = (struct memory_block){ .addr = 0x1000, .id = 1 };
	table.blocks[MEMORY_SLOTS] = (struct memory_block){ .addr = 0x2000, .id = 1 };
	table.blocks[8] = (struct memory_block){ .addr = 0x3000, .id = 0 };
	table.blocks[9] = (struct memory_block){ .addr = 0x4000, .id = UINT32_MAX };
	count(&m);
	CHECK_U64(nr_live, 1);
	CHECK_U64(live_bytes, 20);
	memory_release(&m);
}

TEST(memory_of_blocks_that_were_freed_is_bounded)
{
	struct memory_blocks m = { 0 };
	uint32_t id;

	memset(&table, 0, sizeof(table));
	table.blocks[9] = (struct memory_block){ .addr = 0x1000, .id = 7 };
	for (id = 1; id <= 1000000 / UNIT_STRIDE; id++)
		keep(&m, id, 1);
	CHECK(m.nr < 10000);
	count(&m);
	CHECK_U64(nr_live, 1);
	memory_release(&m);
}
