/* SPDX-License-Identifier: MIT */
/*
 * sys.h - all the agent has for a C library: system calls, memory and string functions, a
 * lock for code outside signal handlers, and loads that survive a bad address.
 *
 * Nothing here allocates, uses thread-local storage or calls into libc: every function but
 * sys_lock() may be called in a signal handler.
 */
#ifndef AGENT_SYS_H
#define AGENT_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <asm/unistd.h>

#include "base/atomic.h"
#include "callflow/cpu.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

void *memcpy(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t str_len(const char *s);
bool str_eq(const char *a, const char *b);

/* Zeroed pages, or NULL. Never freed: the agent is never unloaded. */
void *sys_pages(size_t size);
/* Zero such pages, and give their memory back. */
void sys_clear_pages(void *p, size_t size);
void sys_sleep_ms(int ms);
void sys_sleep_ns(uint64_t ns);
/* Return CLOCK_MONOTONIC in nanoseconds, without a system call once sys_init_clock() found the vDSO. */
uint64_t sys_now(void);
void sys_init_clock(void);
/*
 * Return a function of the vDSO; NULL: it has none of that name, or there is no vDSO. Not in a signal
 * handler.
 */
void *sys_vdso(const char *name);
/* Return the size of a page of this kernel; not in a signal handler. */
size_t sys_page_bytes(void);
int sys_tid(void);
/* Return the CPU time of a thread of ours, as the scheduler counts it; 0: not known. */
uint64_t sys_thread_cpu(int tid);
/* Return the CPU time of the calling thread. */
uint64_t sys_own_cpu(void);
/* Reads a whole file of /proc into buf; returns the length, negative on failure. */
long sys_slurp(const char *path, char *buf, size_t size);

/*
 * Copies up to n bytes from an address that may be unmapped; returns how many were readable.
 * About 0.3 us: for what is doubtful only. No SIGSEGV handler is involved, HotSpot's stays alone.
 */
size_t sys_peek(void *dst, uintptr_t src, size_t n);
/*
 * The same of several places, one after the other in dst, in as many calls as one takes: up to the first byte
 * that is not readable. nr: 1 to SYS_SPANS.
 */
struct sys_span {
	uintptr_t at;
	size_t len;
};
enum { SYS_SPANS = 32 };
size_t sys_peek_spans(void *dst, const struct sys_span *from, uint32_t nr);
/* For the child of a fork(), which would read its parent's memory. */
void sys_forked(void);
static inline bool sys_peek_all(void *dst, uintptr_t src, size_t n)
{
	return sys_peek(dst, src, n) == n;
}

/* Must not be taken in a signal handler. */
struct sys_lock {
	uint32_t word;
};
void sys_lock(struct sys_lock *l);
void sys_unlock(struct sys_lock *l);

#endif
