/* SPDX-License-Identifier: MIT */
/*
 * scopes.h - which methods a place in compiled code belongs to: what the compiler noted of inlining, read
 * from the nmethod where a sample is, once a place.
 *
 * The VM would tell it for all code it compiles (CompiledMethodLoad), most of which no sample ever hits.
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
 * Forgets which places were told. No handler may run. False: this VM's notes cannot be read, and
 * CompiledMethodLoad it is.
 */
bool scopes_init(void);
/*
 * Tries what is read of code that there is by now, with scopes_init() done. False: it is not what it should
 * be, and scopes_init() returns false from now on. Not in a signal handler.
 */
bool scopes_try(void);
/*
 * For signal handlers: sends a code record of size 1 to the ring for each frame of compiled code whose
 * place was not told before. What does not fit is told with a later sample. buf: SCOPES_ROOM bytes. b: NULL,
 * or the thread whose frames they are, when it is another one. False: what is read is not what it should be,
 * as scopes_try() has it.
 */
bool scopes_tell(const struct jvm_rec_frame *frames, uint32_t nr, struct jvm_ring *ring, char *buf,
		 struct blocked *b);

/* This VM's notes can be read, as far as its tables say. */
bool scopes_readable(void);
/*
 * How many methods a place in code that is on the calling thread's stack belongs to: 1, or more where methods
 * are inlined; 0: not known. pc is one less than where it returns to.
 */
uint32_t scopes_levels(const struct vm_blob *b, uintptr_t pc);
/*
 * What the compiler noted for the place at that offset in the code, which has a note, was found to be
 * of other code. Not in a signal handler.
 */
bool scopes_wrong_at(const struct vm_blob *b, uint32_t off);

#endif
