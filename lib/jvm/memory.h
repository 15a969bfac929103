/* SPDX-License-Identifier: MIT */
/*
 * memory.h - which sampled blocks of native memory a process has not freed: a table at the end of what it
 * shares with the recorder (proto.h). The process enters the address of each sampled block and takes it out
 * when the block is freed; the recorder looks at it when the process has ended, or the recording has. So
 * frees are not reported, and none can be lost.
 *
 * Most blocks that are freed were not sampled. The filter says so with one load: it has, for each value of a
 * part of the hash, how many blocks in the table have it. For the others the rest of the hash is the first of
 * up to MEMORY_REACH slots where the block can be; the filter's value also says how many of these were ever
 * needed, so that few are looked at.
 *
 * What the table says is the process's word: the recorder takes each number once, and only those of samples
 * that it got.
 */
#ifndef JVM_MEMORY_H
#define JVM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mix.h"

struct memory_regs {
	uint64_t pc, sp, fp, rbx, r12, r13, r14, r15;
};

/* A thread has waited for a lock of native code, by pthread_mutex_lock() and the like (preload/waits.c). */
struct memory_wait {
	uint64_t addr, ns;
	uint64_t blamed_ns;		/* of ns: with which those are charged who gave it back meanwhile */
	uint32_t owner;			/* tid of who had it when the wait began; 0 not known, or nobody */
	uint32_t kind;			/* enum jvm_wait_kind */
	uint64_t weight_ns;		/* that its stack stands for; 0: none is wanted */
	uint32_t given_back;		/* not 0: it gives back what so many others wait for */
};

/*
 * In a JVM the agent takes the samples, with their Java frames, and reports the waits. It finds this struct
 * by the address that the process sent in HELLO, and sets the functions, which return false if the agent
 * cannot. A child of fork() finds it empty.
 */
struct memory_hook {
	uint32_t magic, bytes;		/* JVM_PROTO_MAGIC, sizeof(struct memory_hook) */
	bool (*take)(const struct memory_regs *r, uint32_t call, uint64_t size, uint32_t id);
	bool (*wait)(const struct memory_regs *r, const struct memory_wait *w);
	/* the agent calls it when the recording ends; NULL: the library was there from the start */
	void (*leave)(void);
};

enum memory_call {
	MEMORY_MALLOC,
	MEMORY_CALLOC,
	MEMORY_REALLOC,
	MEMORY_POSIX_MEMALIGN,
	MEMORY_ALIGNED_ALLOC,
	MEMORY_MEMALIGN,
	MEMORY_VALLOC,
	MEMORY_MMAP,
	MEMORY_MREMAP,
	MEMORY_NR_CALLS
};

enum {
	MEMORY_FILTER = 1 << 15,
	/* half of them, MEMORY_BLOCKS, find room even where chance is unkind: t/unit/u-sampler.c */
	MEMORY_SLOTS = 1 << 17, MEMORY_REACH = 512, MEMORY_BLOCKS = MEMORY_SLOTS / 2,
	MEMORY_MAPPINGS = 4096,
	MEMORY_RESERVED = 1,		/* as an address: its number is being written */
};

struct memory_block {
	uint64_t addr;			/* 0: none */
	uint32_t id, pad;		/* jvm_rec_sample.id of its sample */
};

struct memory_table {
	uint32_t last_id, pad;
	uint64_t nr_untracked;		/* sampled blocks for which there was no room: their id is 0 */
	uint64_t nr_mappings;		/* so many slots of them were ever used */
	uint64_t pad2[5];
	uint8_t filter[MEMORY_FILTER];	/* 255: or more; it stays so */
	uint16_t reach[MEMORY_FILTER];	/* the most slots that a block of it was behind its first one */
	struct memory_block blocks[MEMORY_SLOTS + MEMORY_REACH];
	/* of mmap(): addr is a random point of the mapping, which lives as long as that is mapped */
	struct memory_block mappings[MEMORY_MAPPINGS];
};

_Static_assert(sizeof(struct memory_table) % 64 == 0, "it ends the shared area");

/* Hash an address: it chooses its value of the filter, and its first slot. */
static inline uint64_t memory_hash(uint64_t addr)
{
	return mix64(addr);
}

static inline uint32_t memory_filter(uint64_t hash)
{
	return hash % MEMORY_FILTER;
}

static inline uint32_t memory_first(uint64_t hash)
{
	return hash / MEMORY_FILTER % MEMORY_SLOTS;
}

#endif
