/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - big-endian bytes: a cursor that survives short input, an output that grows in the
 * caller's memory. Both fail by a flag that sticks: do the work, then look once.
 */
#ifndef CLASSFILE_BYTES_H
#define CLASSFILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static inline uint32_t be16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void put16(uint8_t *p, uint32_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static inline void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

struct reader {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;		/* something was read that is not there: it read as 0 */
};

static inline struct reader reader_init(const void *p, size_t len)
{
	return (struct reader){ p, (const uint8_t *)p + len, false };
}

/* Return the next len bytes, or NULL. */
static inline const uint8_t *read_bytes(struct reader *r, size_t len)
{
	const uint8_t *p = r->p;

	if (r->bad || (size_t)(r->end - p) < len) {
		r->bad = true;
		return NULL;
	}
	r->p += len;
	return p;
}

static inline uint32_t read8(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 1);

	return p ? *p : 0;
}

static inline uint32_t read16(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 2);

	return p ? be16(p) : 0;
}

static inline uint32_t read32(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 4);

	return p ? be32(p) : 0;
}

/* Return a reader of the next len bytes; an empty, bad one if they are not there. */
static inline struct reader read_part(struct reader *r, size_t len)
{
	const uint8_t *p = read_bytes(r, len);

	return p ? reader_init(p, len) : (struct reader){ r->end, r->end, true };
}

struct memory {
	void *(*more)(void *ctx, size_t size);
	void *ctx;
};

static inline void *memory_get(const struct memory *m, size_t size)
{
	return m->more(m->ctx, size ? size : 1);
}

/* Return zeroed memory, otherwise as memory_get() does. */
static inline void *memory_zeroed(const struct memory *m, size_t size)
{
	void *p = memory_get(m, size);

	return p ? memset(p, 0, size) : NULL;
}

struct writer {
	uint8_t *data;
	size_t len, alloc;
	const struct memory *mem;
	bool bad;		/* no memory: what was written since is lost */
};

static inline struct writer writer_init(const struct memory *mem)
{
	return (struct writer){ .mem = mem };
}

/* Return room for n bytes at the end, already counted as written, or NULL. Moves w->data. */
static inline uint8_t *write_room(struct writer *w, size_t n)
{
	if (w->bad)
		return NULL;
	if (w->alloc - w->len < n) {
		size_t alloc = 2 * w->alloc + n + 256;
		uint8_t *data = memory_get(w->mem, alloc);

		if (!data) {
			w->bad = true;
			return NULL;
		}
		if (w->len)
			memcpy(data, w->data, w->len);
		w->data = data;
		w->alloc = alloc;
	}
	w->len += n;
	return w->data + w->len - n;
}

static inline void write_bytes(struct writer *w, const void *p, size_t n)
{
	uint8_t *to = write_room(w, n);

	if (to && n)
		memcpy(to, p, n);
}

static inline void write8(struct writer *w, uint32_t v)
{
	uint8_t *to = write_room(w, 1);

	if (to)
		*to = v;
}

static inline void write16(struct writer *w, uint32_t v)
{
	uint8_t *to = write_room(w, 2);

	if (to)
		put16(to, v);
}

static inline void write32(struct writer *w, uint32_t v)
{
	uint8_t *to = write_room(w, 4);

	if (to)
		put32(to, v);
}

#endif
