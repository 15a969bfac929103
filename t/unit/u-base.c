// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/strtab.h"
#include "unit.h"

TEST(strtab_same_bytes_give_the_same_id)
{
	struct strtab t;
	char name[32];
	uint32_t i;

	strtab_init(&t);
	CHECK_U64(strtab_adds(&t, ""), 0);
	for (i = 1; i <= 5000; i++) {
		snprintf(name, sizeof(name), "name-%u", i);
		CHECK_U64(strtab_adds(&t, name), i);
	}
	CHECK_U64(strtab_adds(&t, "name-77"), 77);
	CHECK_STR(strtab_get(&t, 5000), "name-5000");
	strtab_release(&t);
}

TEST(map_finds_every_key_that_was_put)
{
	struct map m = MAP_INIT;
	uint32_t i;

	for (i = 0; i < 10000; i++)
		*map_put(&m, (uint64_t)i * 4096) = i;
	for (i = 0; i < 10000; i++)
		CHECK_U64(map_get(&m, (uint64_t)i * 4096), i);
	CHECK_U64(map_get(&m, 1), MAP_NONE);
	map_release(&m);
}

TEST(varint_of_any_value_reads_back_and_refuses_every_truncation)
{
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t v = unit_random() >> (unit_random() % 64);
		struct buf b = BUF_INIT;
		struct span s;
		size_t cut;

		buf_varint(&b, v);
		s = span_init(b.data, b.len);
		CHECK_U64(span_varint(&s), v);
		CHECK(!s.bad);
		for (cut = 0; cut < b.len; cut++) {
			s = span_init(b.data, cut);
			span_varint(&s);
			CHECK(s.bad);
		}
		buf_release(&b);
	}
}

TEST(arena_pieces_are_aligned_and_do_not_overlap)
{
	struct arena a = ARENA_INIT;
	char *prev = NULL;
	int i;

	for (i = 0; i < 1000; i++) {
		char *p = arena_alloc(&a, i % 100 + 1);

		CHECK_U64((uintptr_t)p % 16, 0);
		CHECK(p != prev);
		memset(p, 0xaa, i % 100 + 1);
		CHECK_STR(arena_strndup(&a, "abcdef", 3), "abc");
		prev = p;
	}
	arena_release(&a);
}

TEST(mem_min_and_max_evaluate_each_argument_once)
{
	uint32_t n = 5;
	int i = 0;

	CHECK_U64(MIN(i++, 9), 0);
	CHECK_U64(i, 1);
	CHECK_U64(MAX(n++, (uint64_t)2), 5);
	CHECK_U64(n, 6);
	CHECK_U64(MIN(MAX(3, 7), MIN(9, 8)), 7);
}
