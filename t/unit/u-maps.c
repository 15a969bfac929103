// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "sym/maps.h"
#include "unit.h"

enum { UNITS = 96 };

/* What is mapped at each address of a tiny space, kept the simplest way. */
struct model {
	uint32_t module[UNITS];
	uint64_t off[UNITS];
};

static void model_add(struct model *m, uint64_t start, uint64_t end, uint64_t pgoff, uint32_t module)
{
	uint64_t a;

	for (a = start; a < end; a++) {
		m->module[a] = module;
		m->off[a] = pgoff + a - start;
	}
}

static void check_same(struct maps *maps, const struct model *m)
{
	uint64_t a;
	size_t i;

	for (i = 0; i < 200; i++) {
		const struct map_entry *e;

		a = unit_random() % UNITS;
		e = maps_find(maps, a);
		CHECK_U64(e ? e->module : 0, m->module[a]);
		if (e)
			CHECK_U64(map_entry_off(e, a), m->off[a]);
	}
	for (i = 1; i < maps->nr_entries; i++)
		CHECK(maps->entries[i - 1].end <= maps->entries[i].start);
}

TEST(maps_agree_with_an_array_after_any_additions)
{
	struct maps maps = { 0 }, copy = { 0 };
	struct model m = { 0 };
	uint32_t round, i;

	for (round = 0; round < 300; round++) {
		maps_reset(&maps);
		memset(&m, 0, sizeof(m));
		for (i = 1; i < 12; i++) {
			uint64_t start = unit_random() % UNITS, end = unit_random() % UNITS;
			uint64_t pgoff = unit_random() % 1000 * UNITS;

			if (start > end)
				continue;
			maps_add(&maps, start, end, pgoff, i);
			model_add(&m, start, end, pgoff, i);
		}
		check_same(&maps, &m);
		maps_copy(&copy, &maps);
		maps_reset(&maps);
		CHECK(!maps_find(&maps, 5));
		check_same(&copy, &m);
	}
	maps_release(&maps);
	maps_release(&copy);
}

TEST(maps_the_rest_of_a_split_mapping_keeps_its_offsets)
{
	struct maps m = { 0 };

	maps_add(&m, 0x1000, 0x9000, 0x100000, 1);
	maps_add(&m, 0x3000, 0x4000, 0, 2);
	CHECK_U64(m.nr_entries, 3);
	CHECK_U64(maps_find(&m, 0x2fff)->end, 0x3000);
	CHECK_U64(maps_find(&m, 0x3000)->module, 2);
	CHECK_U64(maps_find(&m, 0x4000)->pgoff, 0x103000);
	CHECK(!maps_find(&m, 0xfff));
	CHECK(!maps_find(&m, 0x9000));
	maps_add(&m, 0, UINT64_MAX, 0, 3);
	CHECK_U64(m.nr_entries, 1);
	maps_add(&m, 0x5000, 0x5000, 0, 4);
	CHECK_U64(m.nr_entries, 1);
	maps_release(&m);
}
