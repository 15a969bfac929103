/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hprof.h - the bytes of a heap dump in HPROF's binary format 1.0.1 or 1.0.2, record by record and item by
 * item. A dump is hostile input: what is damaged is skipped up to the next thing that makes sense, and
 * counted.
 *
 * Source of the format: hprof_b_spec of HotSpot's sources (src/hotspot/share/services/heapDumper.cpp).
 */
#ifndef HEAP_HPROF_H
#define HEAP_HPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

enum hprof_record_tag {
	HPROF_LOST = 0x00,		/* of no record: bytes that are damaged, in which items may be */
	HPROF_UTF8 = 0x01,
	HPROF_LOAD_CLASS = 0x02,
	HPROF_STACK_FRAME = 0x04,
	HPROF_STACK_TRACE = 0x05,
	HPROF_HEAP_DUMP = 0x0c,
	HPROF_HEAP_SEGMENT = 0x1c,
	HPROF_HEAP_END = 0x2c,
};

enum hprof_type {
	HPROF_OBJECT = 2,
	HPROF_BOOLEAN = 4,
	HPROF_CHAR, HPROF_FLOAT, HPROF_DOUBLE, HPROF_BYTE, HPROF_SHORT, HPROF_INT, HPROF_LONG,
	HPROF_TYPE_NR
};

enum hprof_root {
	HPROF_ROOT_JNI_GLOBAL = 0x01,
	HPROF_ROOT_JNI_LOCAL = 0x02,
	HPROF_ROOT_JAVA_FRAME = 0x03,
	HPROF_ROOT_NATIVE_STACK = 0x04,
	HPROF_ROOT_STICKY_CLASS = 0x05,
	HPROF_ROOT_THREAD_BLOCK = 0x06,
	HPROF_ROOT_MONITOR = 0x07,
	HPROF_ROOT_THREAD = 0x08,
	HPROF_ROOT_UNKNOWN = 0xff,
};

struct hprof {
	const uint8_t *data;
	size_t len;
	int fd;				/* of the file that is mapped, ours to close; -1: data is not ours */
	unsigned int id_size;		/* 4 or 8 */
	uint64_t time_ms;		/* since 1970 */
	size_t first;			/* offset of the first record */
};

/*
 * Maps the dump at path; one that gzip compressed is decompressed into a file without a name first, in
 * TMPDIR. -EINVAL: it is none, or empty.
 */
int hprof_open(struct hprof *h, const char *path, struct err *e);
/* Do the same with bytes that stay the caller's. */
int hprof_open_bytes(struct hprof *h, const void *data, size_t len, struct err *e);
/* Return whether the file is a dump, plain or compressed; false if it cannot be read. */
bool hprof_recognize(const char *path);
void hprof_close(struct hprof *h);

/* Return how many bytes a value of that type has in the dump; 0: no such type. */
static inline unsigned int hprof_type_size(const struct hprof *h, unsigned int type)
{
	static const uint8_t sizes[HPROF_TYPE_NR] = { [HPROF_BOOLEAN] = 1, 2, 4, 8, 1, 2, 4, 8 };

	return type == HPROF_OBJECT ? h->id_size : type < HPROF_TYPE_NR ? sizes[type] : 0;
}

static inline uint16_t hprof_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t hprof_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t hprof_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline uint64_t hprof_id(const struct hprof *h, const uint8_t *p)
{
	return h->id_size == 8 ? hprof_u64(p) : hprof_u32(p);
}

/* --- records: the top level --- */

struct hprof_record {
	uint8_t tag;
	const uint8_t *body;
	size_t len;			/* of what is there: less than the record says in a truncated dump */
};

/* what of a dump could not be read; all walks over a dump find the same */
struct hprof_damage {
	uint64_t nr;			/* places */
	uint64_t bytes;			/* skipped */
	uint64_t first_at;		/* offset of the first place */
	bool truncated;			/* the last record is not whole, or what ends a dump is not there */
};

struct hprof_walk {
	const struct hprof *h;
	const uint8_t *p;
	struct hprof_damage damage;
	bool unended;			/* segments of a dump, and no record yet that says it is whole */
};

void hprof_walk(struct hprof_walk *w, const struct hprof *h);
/* Read the next record; return false at the end. */
bool hprof_next(struct hprof_walk *w, struct hprof_record *r);

/* --- items: what is in heap segments --- */

enum hprof_kind { HPROF_ROOT, HPROF_CLASS, HPROF_INSTANCE, HPROF_OBJECTS, HPROF_VALUES };

enum { HPROF_LARGE = 1 << 16 };	/* bytes of an item, behind which is looked whether its length can be */

struct hprof_item {
	enum hprof_kind kind;
	uint8_t root;			/* HPROF_ROOT: enum hprof_root, or another of Android's */
	uint8_t type;			/* HPROF_VALUES: of its elements */
	uint32_t thread;		/* HPROF_ROOT: serial number, of kinds that have one */
	uint32_t frame;			/* HPROF_ROOT_JAVA_FRAME: its index in the thread's stack */
	uint64_t id;
	uint64_t class_id;		/* HPROF_INSTANCE, HPROF_OBJECTS */
	/* fields, own ones first; elements; of a class what follows its id */
	const uint8_t *data;
	uint32_t n;			/* HPROF_INSTANCE: bytes; arrays: elements */
};

/* Read the item at p; return where it ends, or NULL if it is truncated or of an unknown kind. */
const uint8_t *hprof_item(const struct hprof *h, const uint8_t *p, const uint8_t *end, struct hprof_item *x);

/*
 * Returns whether an instance of that class has that many bytes; after damage, items go on with the first
 * instance of which this is true, or a class.
 */
typedef bool (*hprof_is_instance_fn)(const void *ctx, uint64_t class_id, uint32_t len);

struct hprof_items {
	struct hprof_walk walk;
	const uint8_t *p, *end;		/* of the segment */
	hprof_is_instance_fn is_instance;	/* NULL: the rest of a damaged segment is skipped */
	const void *ctx;
	/* the bytes of the dump from "from" to "to" lie at copy, too; usual items are read there */
	const uint8_t *from, *to, *copy;
	uint8_t *window;		/* NULL: copy is the dump itself */
	bool data_in_window;		/* if it is there: valid until the next item */
};

void hprof_items(struct hprof_items *i, const struct hprof *h, hprof_is_instance_fn is_instance,
		 const void *ctx);
/*
 * Reads a file piece by piece into one window, because the first touch of each mapped page costs as much as
 * copying ten: the heads of items, or their data as well. Then hprof_items_release() is due at the end.
 */
void hprof_items_by_window(struct hprof_items *i, bool data);
void hprof_items_release(struct hprof_items *i);
void hprof_items_move_window(struct hprof_items *i);
bool hprof_items_next_slow(struct hprof_items *i, struct hprof_item *x);

enum { HPROF_INSTANCE_HEAD = 25, HPROF_OBJECTS_HEAD = 25, HPROF_VALUES_HEAD = 18, HPROF_MOST_HEAD = 25 };

/*
 * Do what hprof_item() does at i->p for most items: instances and arrays whose ids have 8 bytes. Return
 * NULL for others, and for what is not within the segment.
 */
static inline const uint8_t *hprof_item_usual(const struct hprof_items *i, struct hprof_item *x)
{
	const uint8_t *const p = i->p, *const head = i->copy + (p - i->from);
	size_t len;
	uint64_t bytes;

	if (i->end - p < HPROF_MOST_HEAD)
		return NULL;
	x->id = hprof_u64(head + 1);
	if (*head == 0x21) {
		x->kind = HPROF_INSTANCE;
		x->class_id = hprof_u64(head + 13);
		x->n = hprof_u32(head + 21);
		len = HPROF_INSTANCE_HEAD;
		bytes = x->n;
	} else if (*head == 0x23) {
		x->kind = HPROF_VALUES;
		x->type = head[17];
		x->n = hprof_u32(head + 13);
		len = HPROF_VALUES_HEAD;
		bytes = (uint64_t)x->n * hprof_type_size(i->walk.h, x->type);
		if (x->type < HPROF_BOOLEAN || x->type >= HPROF_TYPE_NR)
			return NULL;
	} else if (*head == 0x22) {
		x->kind = HPROF_OBJECTS;
		x->n = hprof_u32(head + 13);
		x->class_id = hprof_u64(head + 17);
		len = HPROF_OBJECTS_HEAD;
		bytes = (uint64_t)x->n * 8;
	} else {
		return NULL;
	}
	if (bytes > (size_t)(i->end - p) - len)
		return NULL;
	x->data = (i->data_in_window && p + len + bytes <= i->to ? head : p) + len;
	return p + len + bytes;
}

/* Read the next item of the dump, whatever is in between; return false at the end. */
static inline bool hprof_items_next(struct hprof_items *i, struct hprof_item *x)
{
	const uint8_t *next;

	if (i->window && i->to - i->p < HPROF_MOST_HEAD)
		hprof_items_move_window(i);
	next = i->walk.h->id_size == 8 ? hprof_item_usual(i, x) : NULL;
	if (!next && i->p < i->end)
		next = hprof_item(i->walk.h, i->p, i->end, x);
	if (!next || next - i->p >= HPROF_LARGE)
		return hprof_items_next_slow(i, x);
	i->p = next;
	return true;
}

/* --- classes --- */

/* A class as it lies in the dump, checked. */
struct hprof_class {
	uint64_t id, super, loader, signers, domain;
	uint32_t instance_len;		/* bytes of an instance's fields in the dump */
	const uint8_t *statics;		/* (id of the name, type, value) */
	uint16_t nr_statics;
	const uint8_t *fields;		/* own ones: (id of the name, type) */
	uint16_t nr_fields;
};

/* Read a class; x must be of kind HPROF_CLASS. */
void hprof_class(const struct hprof *h, const struct hprof_item *x, struct hprof_class *c);

struct hprof_field {
	uint64_t name;
	uint8_t type;
	const uint8_t *value;		/* NULL: the class alone does not say */
};

/* Return the static or instance field at *p, which moves behind it. */
static inline struct hprof_field hprof_static(const struct hprof *h, const uint8_t **p)
{
	struct hprof_field f = { hprof_id(h, *p), (*p)[h->id_size], *p + h->id_size + 1 };

	*p = f.value + hprof_type_size(h, f.type);
	return f;
}

static inline struct hprof_field hprof_field(const struct hprof *h, const uint8_t **p)
{
	struct hprof_field f = { hprof_id(h, *p), (*p)[h->id_size], NULL };

	*p += h->id_size + 1;
	return f;
}

#endif
