// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chunks.c - see native.h.
 *
 * A chunk is a word that belongs to the one before it, its size, and what the program has of it; the next
 * one follows. The lowest bit of its size says whether the one before it is in use; the last one, "top", never
 * is. Small chunks that threads keep for themselves, and "fast" ones, are in use for all we can see.
 *
 * Source: glibc's malloc/malloc.c, "Chunk representation"; 2.26 to 2.42.
 */
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "resident/native.h"

enum { PAGE = 4096, WINDOW = 65536, ALIGNMENT = 16, SMALLEST = 32, IN_USE = 1, FLAGS = 7 };
/* of the arena itself, before the first chunk; and what may be left at the end of one that is not the last */
enum { LARGEST_HEAD = 0xa00, LARGEST_TAIL = 64 };

static const uint64_t most_steps = 1 << 26;

struct reader {
	const struct native_process *p;
	uint64_t from, len, end;	/* what is in data */
	uint8_t data[WINDOW];
};

/*
 * Return how many of len bytes from at on are before the first page that does not exist: reading would
 * create one of zeros.
 */
static uint64_t chunks_readable(const struct native_process *p, uint64_t at, uint64_t len)
{
	uint64_t entries[WINDOW / PAGE + 1], page = at / PAGE;
	ssize_t n = pread(p->pagemap, entries, sizeof(entries), page * 8), i;

	for (i = 0; i < n / 8 && entries[i] >> 62; i++)
		;
	return i ? MIN(len, (page + i) * PAGE - at) : 0;
}

static bool read_size(struct reader *r, uint64_t chunk, uint64_t *size)
{
	uint64_t at = chunk + 8;

	if (at < r->from || at + 8 > r->from + r->len) {
		struct iovec local = { r->data, 0 }, remote = { (void *)(uintptr_t)at, 0 };
		ssize_t n;

		local.iov_len = remote.iov_len = chunks_readable(r->p, at,
								 MIN(r->end - at, (uint64_t)WINDOW));
		n = process_vm_readv(r->p->pid, &local, 1, &remote, 1, 0);
		r->from = at;
		r->len = n < 0 ? 0 : n;
		if (n < 8)
			return false;
	}
	memcpy(size, r->data + (at - r->from), sizeof(*size));
	return true;
}

/* Return the bytes of [start, end) in pages that are present. */
static uint64_t present(const struct native_process *p, uint64_t start, uint64_t end)
{
	uint64_t entries[512], at = start, sum = 0;

	while (at < end) {
		uint64_t page = at / PAGE, last = (end - 1) / PAGE;
		uint64_t want = MIN(last - page + 1, (uint64_t)ARRAY_SIZE(entries));
		ssize_t n = pread(p->pagemap, entries, want * 8, page * 8), i;

		if (n < 8)
			return sum;
		for (i = 0; i < n / 8; i++) {
			uint64_t next = MIN(end, (page + i + 1) * PAGE);

			sum += entries[i] >> 63 ? next - at : 0;
			at = next;
		}
	}
	return sum;
}

static void add_free(const struct native_process *p, uint64_t chunk, uint64_t size, struct native_free *f)
{
	f->bytes += size;
	/* most are smaller than a page, and at its ends there are words of malloc() */
	f->resident += size <= PAGE ? size : present(p, chunk, chunk + size);
}

static bool chunks_walk(struct reader *r, uint64_t chunk, struct native_free *f)
{
	uint64_t size, before = 0, size_before = 0;

	while (r->end - chunk > LARGEST_TAIL) {
		if (f->nr_steps++ > most_steps || !read_size(r, chunk, &size))
			return false;
		if (before && !(size & IN_USE))
			add_free(r->p, before, size_before, f);
		before = chunk;
		size_before = size & ~(uint64_t)FLAGS;
		if (size_before < SMALLEST || size_before % ALIGNMENT || size_before > r->end - chunk)
			return false;
		chunk += size_before;
	}
	if (chunk == r->end && before)
		add_free(r->p, before, size_before, f);
	return before;
}

bool chunks_free(const struct native_process *p, uint64_t start, uint64_t end, struct native_free *f)
{
	struct reader r = { .p = p, .end = end };
	uint64_t head;

	for (head = 0; head < LARGEST_HEAD && start + head < end; head += ALIGNMENT) {
		struct native_free found = { .nr_steps = f->nr_steps };
		bool ok = chunks_walk(&r, start + head, &found);

		f->nr_steps = found.nr_steps;
		if (!ok)
			continue;
		f->bytes += found.bytes;
		f->resident += found.resident;
		return true;
	}
	return false;
}
