// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "ring/ring.h"

enum { MAX_RECORD_BYTES = 65536 };

int ring_open(struct ring *r, int fd, uint32_t cpu, size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	if (p == MAP_FAILED)
		return -errno;
	r->fd = fd;
	r->cpu = cpu;
	r->page = p;
	r->data = (const uint8_t *)p + page;
	r->mask = bytes - 1;
	r->bounce = xmalloc(MAX_RECORD_BYTES);
	r->bounced = UINT64_MAX;
	return 0;
}

void ring_close(struct ring *r)
{
	if (r->page)
		munmap(r->page, sysconf(_SC_PAGESIZE) + r->mask + 1);
	if (r->fd >= 0)
		close(r->fd);
	free(r->bounce);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

void ring_begin(struct ring *r)
{
	r->head = load_acquire(&r->page->data_head);
}

const struct perf_event_header *ring_peek(struct ring *r)
{
	const struct perf_event_header *h;
	uint64_t at = r->tail & r->mask;
	size_t first = r->mask + 1 - at;	/* headers are 8-aligned and so never wrap */

	if (r->tail >= r->head)
		return NULL;
	h = (const struct perf_event_header *)(r->data + at);
	if (h->size <= first)
		return h;
	if (r->bounced != r->tail) {
		memcpy(r->bounce, h, first);
		memcpy(r->bounce + first, r->data, h->size - first);
		r->bounced = r->tail;
	}
	return (const struct perf_event_header *)r->bounce;
}

void ring_next(struct ring *r)
{
	r->tail += ((const struct perf_event_header *)(r->data + (r->tail & r->mask)))->size;
}

void ring_end(struct ring *r)
{
	store_release(&r->page->data_tail, r->tail);
}
