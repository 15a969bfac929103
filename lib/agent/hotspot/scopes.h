/* SPDX-License-Identifier: MIT */
/*
 * scopes.h - which methods a place in compiled code belongs to: what the compiler noted of inlining, read
 * from the nmethod where a sample is, once a place.
 *
 * The VM would report it for all code it compiles (CompiledMethodLoad), most of which no sample ever hits.
 */
#ifndef AGENT_SCOPES_H
#define AGENT_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/hotspot/blocked.h"
#include "agent/hotspot/vm.h"
#include "jvm/proto.h"

enum {
	SCOPES_MAX_LEVELS = 64,			/* outer ones are left out; fits a varint's byte */
	SCOPES_ROOM = 3 + SCOPES_MAX_LEVELS * 10,
};

/*
 * Forgets which places were sent. No handler may run. Returns false if this VM's notes cannot be read, so
 * that CompiledMethodLoad is used.
 */
bool scopes_init(void);
/*
 * Try what is read of the code that exists by now, with scopes_init() done. Returns false if it is wrong;
 * scopes_init() returns false from then on. Not in a signal handler.
 */
bool scopes_try(void);
/*
 * Send a code record of size 1 to the ring for each frame of compiled code whose place was not sent
 * before; for signal handlers. What does not fit is sent with a later sample. buf has SCOPES_ROOM bytes.
 * b is NULL, or the thread whose frames they are when it is another one. Returns false if what is read is
 * wrong, like scopes_try().
 */
bool scopes_tell(const struct jvm_rec_frame *frames, uint32_t nr, struct jvm_ring *ring, char *buf,
		 struct blocked *b);

/* Return whether this VM's notes can be read, as far as its tables say. */
bool scopes_readable(void);
/*
 * Return how many methods a place in code on the calling thread's stack belongs to: 1, or more where
 * methods are inlined; 0 if that is not known. pc is one less than the return address.
 */
uint32_t scopes_levels(const struct vm_blob *b, uintptr_t pc);
/*
 * Return whether the note that the compiler made for the place at that offset in the code was found to be
 * of other code. Not in a signal handler.
 */
bool scopes_wrong_at(const struct vm_blob *b, uint32_t off);

#endif
