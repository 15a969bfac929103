/* SPDX-License-Identifier: MIT */
/*
 * load.h - loads from the JVM: what the walker and its files read of it, they read by these. In the agent the
 * JVM's memory is its own. Where the same files walk another process (LOADS_FAR), lib/outside brings loads
 * that read that process's memory, and can neither fault nor go on for ever.
 */
#ifndef AGENT_LOAD_H
#define AGENT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* These read our own memory, such as a copy of the JVM's. */
static inline uintptr_t own_word(uintptr_t p, int off) { return *(const uintptr_t *)(p + off); }
static inline int32_t own_i32(uintptr_t p, int off) { return *(const int32_t *)(p + off); }
static inline uint16_t own_u16(uintptr_t p, int off) { return *(const uint16_t *)(p + off); }

#ifdef LOADS_FAR
#include "outside/far.h"
#else
static inline uintptr_t vm_word(uintptr_t p, int off) { return own_word(p, off); }
static inline int32_t vm_i32(uintptr_t p, int off) { return own_i32(p, off); }
static inline uint16_t vm_u16(uintptr_t p, int off) { return own_u16(p, off); }
static inline uint8_t vm_u8(uintptr_t p, int off) { return *(const uint8_t *)(p + off); }
/* Return a pointer to code, of which some instructions before p and after can be read. */
static inline const uint8_t *vm_bytes(uintptr_t p) { return (const uint8_t *)p; }
/* May be NULL. Where it is copied, the copy is good until some more have been asked for. */
static inline const char *vm_string(uintptr_t p) { return (const char *)p; }
/* Return true if what was read may be outdated, so that reading it again gives what is there now. */
static inline bool vm_read_anew(void) { return false; }
#endif

/* Return a variable of the JVM's. */
static inline uintptr_t vm_global(const uintptr_t *p) { return vm_word((uintptr_t)p, 0); }

#endif
