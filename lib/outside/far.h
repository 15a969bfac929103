/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * far.h - the memory of another process, for the walker of lib/agent (agent/hotspot/load.h includes this in
 * place of its own loads).
 *
 * Pages are kept until far_forget(), so what is loaded may be of a while ago: whoever uses it looks again
 * afterwards (far_look()) whether it is that still. The code cache is mirrored in one piece, where it can be
 * read through pointers. Of pages that cannot be read all bytes are 0. Nothing here faults, whatever address
 * is asked for.
 */
#ifndef OUTSIDE_FAR_H
#define OUTSIDE_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAR_PAGE = 4096 };

struct far {
	int pid;
	uintptr_t lo, size;		/* of the code cache */
	char *mirror;
	uint32_t *read_in;		/* [page]: in which age it was read; 0: never */
	uint32_t age;
};
extern struct far far;
struct iovec;

bool far_init(int pid);
/* Mirror [lo, hi). Returns false if that is not a code cache, or without memory. */
bool far_mirror(uintptr_t lo, uintptr_t hi);
/* Forget all pages, so that they are read again when needed. */
void far_forget(void);
/* Read as it is now. False: not all of it can be read. */
bool far_look(const struct iovec *to, const struct iovec *from, size_t nr);

void far_read_page(size_t page);
/* Return at most FAR_PAGE bytes, valid until more have been read. */
const char *far_elsewhere(uintptr_t p, size_t n);

/* Return where n bytes, less than a page, can be read. */
static inline const char *far_at(uintptr_t p, size_t n)
{
	uintptr_t off = p - far.lo;
	size_t first, last;

	if (__builtin_expect(off >= far.size, 0))
		return far_elsewhere(p, n);
	first = off / FAR_PAGE;
	last = (off + n - 1) / FAR_PAGE;
	if (far.read_in[first] != far.age)
		far_read_page(first);
	if (last != first && far.read_in[last] != far.age)
		far_read_page(last);
	return far.mirror + off;
}

static inline uintptr_t vm_word(uintptr_t p, int off)
{
	return *(const uintptr_t *)far_at(p + off, sizeof(uintptr_t));
}

static inline int32_t vm_i32(uintptr_t p, int off) { return *(const int32_t *)far_at(p + off, 4); }
static inline uint16_t vm_u16(uintptr_t p, int off) { return *(const uint16_t *)far_at(p + off, 2); }
static inline uint8_t vm_u8(uintptr_t p, int off) { return *(const uint8_t *)far_at(p + off, 1); }

static inline const uint8_t *vm_bytes(uintptr_t p)
{
	enum { BEFORE = 64, AFTER = 1024 };

	return (const uint8_t *)far_at(p - BEFORE, BEFORE + AFTER) + BEFORE;
}

static inline bool vm_read_anew(void)
{
	far_forget();
	return true;
}

const char *vm_string(uintptr_t p);

#endif
