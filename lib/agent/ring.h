/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the agent's two ways out: rings for signal handlers, the log for everything else.
 * jvm/proto.h describes both.
 */
#ifndef AGENT_RING_H
#define AGENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/sys.h"
#include "jvm/proto.h"
#include "jvm/record.h"

/* Before handlers run; area is the mapped shared area. sock and log_fd are this room's then. */
bool ring_init(void *area, size_t area_bytes, int sock, int log_fd);
/* Do the same without a recorder: what goes to the log is handed to journal_record(). */
bool ring_init_alone(void *area, size_t area_bytes);
/* Gives all of it back. No handler may run; the log is closed. */
void ring_release(void);
struct jvm_ctl *ring_ctl(void);
/* Waits until the recorder has gone, or the VM ends. */
void ring_wait_closed(void);
/* Waits until the recorder has said something, but not longer; false: it has gone, or the VM ends. */
bool ring_wait(int ms);
/* Sleeps, but no longer than until then. */
void ring_nap(uint64_t ns);
/*
 * Note that the VM ends: whoever waits returns at once. HotSpot waits up to 300 ms for threads that are in
 * native functions then.
 */
void ring_death(void);
bool ring_vm_ends(void);

/* Return the ring of a thread. */
struct jvm_ring *ring_of(int tid);
/*
 * Reserve room for a record of size bytes (a multiple of 8), not yet visible; return NULL
 * when the ring is full, which is not counted here. Every reservation must be committed; its header must not
 * be touched before.
 */
void *ring_reserve(struct jvm_ring *r, size_t size);
void ring_commit(void *rec, size_t size, enum jvm_rec_type type);
void ring_count_lost(struct jvm_ring *r);
/* Return true if what can be written later should wait, to leave the room to what cannot. */
bool ring_is_half_full(struct jvm_ring *r);
/* Get what the recorder knows of the thread whose stack ends there; return false for nothing. */
bool ring_root(uint64_t end, struct jvm_root *r);

/* Bytes of one record in the log, which is not for signal handlers. */
#define LOG_RECORD_MAX (4u << 20)
/*
 * send_method(), send_code() and so on, for the rows of jvm/table.h: a record to the ring, for signal
 * handlers, or with NULL to the log. False: the ring is full.
 */
#define RECORD(s, ...) bool send_##s(struct jvm_ring *ring, const struct jvm_##s *r);
#include "jvm/table.h"
/* Begin and end a record of which a part is written in place. The log is locked in between. */
void *send_begin(struct jvm_ring *ring, size_t size);
void send_end(struct jvm_ring *ring, void *rec, size_t size, enum jvm_rec_type type);

/* Set the bounds of code, as far as they are known. */
void ring_set_code_bounds(uintptr_t lo, uintptr_t hi);
/* Return whether the log is closed: the recorder has gone, or log_close() was called. */
bool log_closed(void);
/* Close the log. */
void log_close(void);

#define ALIGN8(n) (((n) + 7) & ~(size_t)7)

#endif
