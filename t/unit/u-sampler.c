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
