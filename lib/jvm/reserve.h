/* SPDX-License-Identifier: MIT */
/*
 * reserve.h - how a producer writes a record to a ring (proto.h), inline and with nothing but atomics, for
 * the agent and for libarcprof.a.
 */
#ifndef JVM_RESERVE_H
#define JVM_RESERVE_H

#include <stdbool.h>

#include "base/atomic.h"
#include "jvm/proto.h"

static inline void jvm_ring_publish(void *rec, uint64_t pos, uint64_t ring_bytes, size_t size, uint32_t type)
{
	uint64_t h = (uint64_t)(jvm_ring_stamp(pos, ring_bytes) | type) << 32 | (uint32_t)size;

	store_release((uint64_t *)rec, h);
}

/*
 * Reserve room for a record of size bytes (a multiple of 8), not yet visible; return NULL if the ring is
 * full. Every reservation must be committed; the header must not be touched before.
 *
 * The reserved position itself is kept where the header will be, without a type: that is
 * not a valid header, and saves the caller from carrying it.
 */
static inline void *jvm_ring_reserve(struct jvm_ring *r, uint64_t ring_bytes, size_t size)
{
	uint64_t head = load_relaxed(&r->head), mask = ring_bytes - 1;
	char *data = (char *)r + JVM_PAGE;
	uint64_t pad, tail;

	if (size > ring_bytes)
		return NULL;
	do {
		pad = (head & mask) + size > ring_bytes ? ring_bytes - (head & mask) : 0;
		tail = load_acquire(&r->tail);
		if (head + pad + size - tail > ring_bytes)
			return NULL;
	} while (!__atomic_compare_exchange_n(&r->head, &head, head + pad + size, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	if (pad)
		jvm_ring_publish(data + (head & mask), head, ring_bytes, pad, JVM_REC_PAD);
	head += pad;
	store_relaxed((uint64_t *)(data + (head & mask)), head / ring_bytes << 40);
	return data + (head & mask);
}

static inline void jvm_ring_commit(void *rec, uint64_t ring_bytes, size_t size, enum jvm_rec_type type)
{
	uint64_t lap = load_relaxed((uint64_t *)rec) >> 40;

	jvm_ring_publish(rec, lap * ring_bytes, ring_bytes, size, type);
}

/* Return the ring of a thread; ctl is the area's first page. */
static inline struct jvm_ring *jvm_ring_of(struct jvm_ctl *ctl, uint32_t nr_rings, uint64_t ring_bytes,
					   uint32_t tid)
{
	uint32_t i = tid * 0x9e3779b1u >> 16 & (nr_rings - 1);
	const size_t first = JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS;

	return (void *)((char *)ctl + first + i * (JVM_PAGE + ring_bytes));
}

/* Return whether an area of area_bytes has the layout that its first page describes. */
static inline bool jvm_area_fits(const struct jvm_ctl *ctl, uint64_t area_bytes)
{
	return ctl->magic == JVM_PROTO_MAGIC && ctl->version == JVM_PROTO_VERSION && ctl->nr_rings &&
	       ctl->nr_rings <= JVM_MAX_RINGS && !(ctl->nr_rings & (ctl->nr_rings - 1)) &&
	       ctl->ring_bytes >= JVM_PAGE && !(ctl->ring_bytes & (ctl->ring_bytes - 1)) &&
	       ctl->ring_bytes <= area_bytes &&
	       JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS +
			       ctl->nr_rings * (JVM_PAGE + ctl->ring_bytes) <= area_bytes;
}

#endif
