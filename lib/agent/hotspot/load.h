/* SPDX-License-Identifier: MIT */
/*
 * load.h - loads from the JVM: what the walker and its files read of it, they read by these. The
 * agent is in the JVM, so that they are plain ones.
 */
#ifndef AGENT_LOAD_H
#define AGENT_LOAD_H

#include <stdint.h>

/* In what is here, wherever the JVM is: a copy of its memory. */
static inline uintptr_t own_word(uintptr_t p, int off) { return *(const uintptr_t *)(p + off); }
static inline int32_t own_i32(uintptr_t p, int off) { return *(const int32_t *)(p + off); }
static inline uint16_t own_u16(uintptr_t p, int off) { return *(const uint16_t *)(p + off); }

static inline uintptr_t vm_word(uintptr_t p, int off) { return own_word(p, off); }
static inline int32_t vm_i32(uintptr_t p, int off) { return own_i32(p, off); }
static inline uint16_t vm_u16(uintptr_t p, int off) { return own_u16(p, off); }
static inline uint8_t vm_u8(uintptr_t p, int off) { return *(const uint8_t *)(p + off); }
/* Of code, some instructions before p and after. */
static inline const uint8_t *vm_bytes(uintptr_t p) { return (const uint8_t *)p; }
/* May be NULL. Where it is copied, the copy is good until some more have been asked for. */
static inline const char *vm_string(uintptr_t p) { return (const char *)p; }

/* A variable of the JVM's. */
static inline uintptr_t vm_global(const uintptr_t *p) { return vm_word((uintptr_t)p, 0); }

#endif
