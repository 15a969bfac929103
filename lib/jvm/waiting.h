/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - which threads of a process wait for native locks just now: a table in what the process shares
 * with the recorder (proto.h), before that of memory.h. A wait is reported when it is over (preload/waits.c);
 * those that never are while the recording lasts, as those of a deadlock, the recorder finds here.
 *
 * It also says who waits for which lock, for the one that gives it back: see preload/waiting.h.
 *
 * What the table says is the process's word.
 */
#ifndef JVM_WAITING_H
#define JVM_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/memory.h"

/* A wait lies in one of the WAITING_MOST slots after its hash. */
enum { WAITING_HASHES = 1 << 14, WAITING_MOST = 512, WAITING_SLOTS = WAITING_HASHES + WAITING_MOST };
enum { WAITING_BLOCK = 64, WAITING_BLOCKS = WAITING_SLOTS / WAITING_BLOCK };	/* in slots */

/* struct waiting.lock, where it is not an address */
enum { WAITING_FREE, WAITING_WRITTEN, WAITING_TOLD, WAITING_FIRST };

struct waiting {
	uint64_t lock;			/* its address; WAITING_TOLD: the recorder has reported the wait */
	uint64_t began_ns;
	uint64_t since_ns;		/* since when no owner was charged; 0: it is over */
	uint64_t blamed_ns;		/* what was before */
	uint32_t tid, owner;		/* that waits; that had it when the wait began, 0: not known */
	uint32_t kind, pad;		/* enum jvm_wait_kind */
	struct memory_regs regs;	/* of the thread, in a function below which it waits */
};

struct waiting_table {
	uint64_t nr_elsewhere;		/* waits that go on and found no slot */
	uint16_t nr[WAITING_HASHES];	/* waits for locks, by hash */
	uint8_t used[WAITING_BLOCKS];	/* some slot of the block ever was: nobody reads the others */
	uint8_t pad[64 - (sizeof(uint64_t) + WAITING_BLOCKS) % 64];
	struct waiting slots[WAITING_SLOTS];
};

_Static_assert(WAITING_SLOTS % WAITING_BLOCK == 0 && sizeof(struct waiting_table) % 64 == 0,
	       "it is followed by another table");

#endif
