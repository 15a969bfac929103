// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef __x86_64__	/* as what is preloaded */
#include <sys/mman.h>

#include "preload/sampler.c"
#include "unit.h"

/* What the rest of the library does. */
struct sampler_wishes sampler_wishes = { .interval = 1 };
bool preload_has_begun = true;
static struct memory_table *shared;

void preload_begin(void) { }

struct memory_table *sampler_connect(const char *recorder, const struct memory_hook *hook)
{
	return shared;
}

void sampler_send(const struct memory_regs *r, enum jvm_source source, uint64_t value, uint32_t leaf,
		  uint32_t id)
{
}

void sys_init_clock(void) { }

uint64_t sys_now(void)
{
	return 1;
}

void *sys_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

TEST(sampler_finds_the_block_that_is_freed)
{
	int block, other;

	shared = sys_pages(sizeof(*shared));
	CHECK(sampler_attach("/", NULL));
	sampler_put(&block, 7);
	CHECK(sampler_may_have(&block));
	CHECK_U64(sampler_take(&other), 0);
	CHECK_U64(sampler_take(&block), 7);
	CHECK_U64(sampler_take(&block), 0);
}

static void put_and_take(uintptr_t first, uintptr_t step, uint32_t nr)
{
	uint32_t i, wrong = 0;

	shared = sys_pages(sizeof(*shared));
	CHECK(sampler_attach("/", NULL));
	for (i = 0; i < nr; i++)
		sampler_put((void *)(first + i * step), i + 1);
	CHECK_U64(shared->nr_untracked, 0);
	/* others, between those: not one is taken for a block of the table */
	for (i = 0; i < nr; i++)
		wrong += step > 1 && sampler_take((void *)(first + i * step + 1)) != 0;
	/* freed and allocated in turn, they leave the table as it was */
	for (i = 0; i < nr; i += 2)
		wrong += sampler_take((void *)(first + i * step)) != i + 1;
	for (i = 0; i < nr; i += 2)
		sampler_put((void *)(first + i * step), i + 1);
	for (i = 0; i < nr; i++)
		wrong += sampler_take((void *)(first + i * step)) != i + 1;
	CHECK_U64(wrong, 0);
	CHECK_U64(shared->nr_untracked, 0);
	for (i = 0; i < MEMORY_FILTER; i++)
		wrong += shared->filter[i];
	CHECK_U64(wrong, 0);
}

TEST(sampler_keeps_as_many_blocks_as_it_says_wherever_they_are)
{
	static const uintptr_t steps[] = { 16, 32, 48, 64, 1008, 2016, 4096, 65552, 1 << 20, 1ull << 29 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		put_and_take(0x5555557802a0, steps[i], MEMORY_BLOCKS);
}

TEST(sampler_counts_the_blocks_that_it_has_no_room_for)
{
	const uint32_t nr = MEMORY_SLOTS + MEMORY_SLOTS / 2;
	uint32_t i, found = 0;

	shared = sys_pages(sizeof(*shared));
	CHECK(sampler_attach("/", NULL));
	for (i = 0; i < nr; i++)
		sampler_put((void *)(0x5555557802a0 + i * 32ul), i + 1);
	for (i = 0; i < nr; i++)
		found += sampler_take((void *)(0x5555557802a0 + i * 32ul)) == i + 1;
	CHECK(found > MEMORY_SLOTS / 4 * 3);
	CHECK_U64(found + shared->nr_untracked, nr);
}

TEST(sampler_looks_at_as_many_mappings_as_there_ever_were)
{
	uint32_t i;

	shared = sys_pages(sizeof(*shared));
	CHECK(sampler_attach("/", NULL));
	for (i = 1; i <= MEMORY_MAPPINGS; i++)
		CHECK(enter_mapping(shared, (void *)(i * 0x100000ul), 4096, i));
	CHECK(!enter_mapping(shared, (void *)0x70000000, 4096, i));
	CHECK_U64(shared->nr_mappings, MEMORY_MAPPINGS);
	sampler_unmap(0x100000ul * 77, 4096);
	CHECK_U64(shared->mappings[76].addr, 0);
	CHECK(enter_mapping(shared, (void *)0x70000000, 4096, 7777));
	CHECK_U64(shared->mappings[76].id, 7777);
}

/* free() has asked sampler_may_have(), and then the recording ends. */
TEST(sampler_takes_nothing_from_a_recording_that_has_ended)
{
	int block;

	shared = sys_pages(sizeof(*shared));
	CHECK(sampler_attach("/", NULL));
	sampler_put(&block, 7);
	CHECK(sampler_may_have(&block));
	sampler_detach();
	CHECK_U64(sampler_take(&block), 0);
	CHECK(!sampler_may_have(&block));
	sampler_put(&block, 7);
	CHECK_U64(sampler_take(&block), 0);
}
#endif
