// SPDX-License-Identifier: GPL-2.0-or-later
/* ring.c - reads a perf_event ring (ring.h). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Look at what the kernel has written so far. */
static void ring_begin(struct ring *r)
{
	r->head = load_acquire(&r->page->data_head);
}

/* Return the next record, borrowed until ring_next(), or NULL. */
static const struct perf_event_header *ring_peek(struct ring *r)
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

static void ring_next(struct ring *r)
{
	r->tail += ((const struct perf_event_header *)(r->data + (r->tail & r->mask)))->size;
}

/* Give the space of what was read back to the kernel. */
static void ring_end(struct ring *r)
{
	store_release(&r->page->data_tail, r->tail);
}

static int device_check(int fd, unsigned int features, struct err *e)
{
	struct arcprof_version v = { .size = sizeof(v) };

	if (ioctl(fd, ARCPROF_IOC_VERSION, &v) || v.abi != ARCPROF_ABI)
		return err_set(e, EPROTO, "%s: the module is of another version (ABI %u, this arcprof's is %u)",
			       ARCPROF_DEVICE, v.abi, ARCPROF_ABI);
	if ((v.features & features) == features)
		return 0;
	err_set(e, ENOTSUP, "%s: the loaded module cannot do that", ARCPROF_DEVICE);
	err_hint(e, "instruction traces take x86-64 and a module as new as this arcprof");
	return -ENOTSUP;
}

int device_open(unsigned int features, struct err *e)
{
	int fd = open(ARCPROF_DEVICE, O_RDWR | O_CLOEXEC), r;

	if (fd < 0) {
		r = err_errno(e, "%s", ARCPROF_DEVICE);
		if (r == -ENOENT)
			err_hint(e, "load the module arcprof: 'make -C kmod && sudo insmod kmod/arcprof.ko', or for good "
				    "'sudo make kmod-install' and 'sudo modprobe arcprof'");
		else if (r == -EACCES || r == -EPERM)
			err_hint(e, "root, or 'sudo chgrp <group> %s; sudo chmod g+rw %s'", ARCPROF_DEVICE,
				 ARCPROF_DEVICE);
		return r;
	}
	r = device_check(fd, features, e);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/*
 * Every event here samples IDENTIFIER, IP, TID, TIME first, and other records end in TID, TIME, CPU,
 * IDENTIFIER (sample_id_all): there the time stamp is.
 */
static uint64_t record_time(const struct perf_event_header *h)
{
	const uint8_t *p = (const uint8_t *)h;
	uint64_t t;

	if (h->type == PERF_RECORD_SAMPLE)
		p += sizeof(*h) + 24;
	else
		p += h->size - 24;
	memcpy(&t, p, sizeof(t));
	return t;
}

static void ring_look(struct ring *r)
{
	const struct perf_event_header *h = ring_peek(r);

	r->next_ns = h ? record_time(h) : UINT64_MAX;
}

/* Return the ring with the oldest record; *bound gets the time up to which it stays the oldest. */
static struct ring *oldest(struct ring *rings, size_t nr_rings, uint64_t *bound)
{
	struct ring *best = NULL;
	uint64_t best_ns = UINT64_MAX, next_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < nr_rings; i++) {
		uint64_t t = rings[i].next_ns;

		if (t < best_ns) {
			next_ns = best_ns;
			best_ns = t;
			best = &rings[i];
		} else if (t < next_ns) {
			next_ns = t;
		}
	}
	*bound = next_ns;
	return best;
}

size_t merge_drain(struct ring *rings, size_t nr_rings, uint64_t until_ns, merge_fn fn, void *ctx)
{
	struct ring *r;
	uint64_t bound;
	size_t i, nr = 0;

	for (i = 0; i < nr_rings; i++) {
		ring_begin(&rings[i]);
		ring_look(&rings[i]);
	}
	while ((r = oldest(rings, nr_rings, &bound)) && r->next_ns <= until_ns) {
		if (bound > until_ns)
			bound = until_ns;
		do {
			fn(ctx, r, ring_peek(r), r->next_ns);
			ring_next(r);
			nr++;
			ring_look(r);
		} while (r->next_ns != UINT64_MAX && r->next_ns <= bound);
		ring_end(r);
	}
	return nr;
}
