// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ring/ring.h"
#include "unit.h"

enum { RING_BYTES = 4096 };

struct fake_sample {
	struct perf_event_header h;
	uint64_t id, ip, pid_tid, time_ns, payload[3];
};

static void fake_ring(struct ring *r, uint32_t cpu)
{
	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->cpu = cpu;
	r->page = xcalloc(1, sizeof(*r->page));
	r->data = xcalloc(1, RING_BYTES);
	r->mask = RING_BYTES - 1;
	r->bounce = xmalloc(65536);
	r->bounced = UINT64_MAX;
}

static void free_ring(struct ring *r)
{
	free(r->page);
	free((void *)r->data);
	free(r->bounce);
}

/* As the kernel writes: bytes may wrap, head moves last. */
static void put(struct ring *r, uint64_t time_ns, size_t nr_payload)
{
	struct fake_sample s = { .h = { PERF_RECORD_SAMPLE, 0, 0 }, .time_ns = time_ns };
	const uint8_t *p = (const uint8_t *)&s;
	size_t i;

	s.h.size = offsetof(struct fake_sample, payload) + 8 * nr_payload;
	s.payload[0] = s.payload[1] = s.payload[2] = time_ns ^ 0x5555;
	for (i = 0; i < s.h.size; i++)
		((uint8_t *)r->data)[(r->page->data_head + i) & r->mask] = p[i];
	r->page->data_head += s.h.size;
}

struct seen {
	uint64_t last_ns;
	size_t nr;
	bool in_order, intact;
};

static void look(void *ctx, const struct ring *r, const struct perf_event_header *h, uint64_t time_ns)
{
	struct seen *s = ctx;
	const struct fake_sample *f = (const void *)h;
	size_t i;

	s->in_order &= time_ns >= s->last_ns;
	s->last_ns = time_ns;
	s->nr++;
	for (i = 0; offsetof(struct fake_sample, payload) + 8 * i < h->size; i++)
		s->intact &= f->payload[i] == (time_ns ^ 0x5555);
}

TEST(merge_gives_every_record_once_in_order_of_time_across_wraps)
{
	struct seen s = { .in_order = true, .intact = true };
	struct ring rings[3];
	uint64_t now = 0;
	size_t put_nr = 0, round, i;

	for (i = 0; i < 3; i++)
		fake_ring(&rings[i], i);
	for (round = 0; round < 500; round++) {
		for (i = 0; i < 60; i++) {
			struct ring *r = &rings[unit_random() % 3];

			if (r->page->data_head - r->page->data_tail > RING_BYTES - 128)
				continue;
			put(r, now += unit_random() % 3, unit_random() % 4);
			put_nr++;
		}
		merge_drain(rings, 3, UINT64_MAX, look, &s);
	}
	CHECK_U64(s.nr, put_nr);
	CHECK(s.in_order);
	CHECK(s.intact);
	for (i = 0; i < 3; i++)
		free_ring(&rings[i]);
}

TEST(merge_keeps_what_is_younger_than_the_bound_for_later)
{
	struct seen s = { .in_order = true, .intact = true };
	struct ring rings[2];

	fake_ring(&rings[0], 0);
	fake_ring(&rings[1], 1);
	put(&rings[0], 10, 1);
	put(&rings[0], 30, 1);
	put(&rings[1], 20, 1);
	put(&rings[1], 40, 1);
	CHECK_U64(merge_drain(rings, 2, 25, look, &s), 2);
	CHECK_U64(s.last_ns, 20);
	CHECK_U64(merge_drain(rings, 2, 40, look, &s), 2);
	CHECK_U64(s.last_ns, 40);
	CHECK(s.in_order);
	CHECK_U64(rings[0].page->data_tail, rings[0].page->data_head);
	free_ring(&rings[0]);
	free_ring(&rings[1]);
}
