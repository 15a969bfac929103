/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - short pieces of x86-64 code that are known by their bytes, on any host. */
#ifndef ARCH_X86_CODE_H
#define ARCH_X86_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/regs.h"

enum {
	X86_CALL_MAX = 8,	/* bytes before a return address that are looked at */
	X86_CALL_DIRECT = 5,	/* bytes of a direct call */
	X86_JUMP = 5,
	X86_START = 4,
	X86_SIGRETURN = 9,
	X86_THREAD_EXIT = 8,
	X86_THREAD_RESULT = 7,
	X86_EXIT_RESULT = 7,
	X86_SIGFRAME_REGS = 40,	/* where struct ucontext has registers */
};

/* DWARF numbers in the order of struct sigcontext. */
extern const uint8_t x86_sigframe_regs[X86_NR_REGS];

/* Return whether the bytes before a return address end in a call. */
bool x86_ends_in_call(const uint8_t p[X86_CALL_MAX]);
/* Check for a direct call; *rel is the distance from its end. */
bool x86_is_direct_call(const uint8_t p[X86_CALL_DIRECT], int32_t *rel);
/* Check for a direct jump; *rel is the distance from its end. */
bool x86_is_jump(const uint8_t p[X86_JUMP], int32_t *rel);
/* Check for code with the return address on top of the stack: push %rbp, ret, endbr64. */
bool x86_is_without_frame(const uint8_t p[X86_START]);
/* push %rbp, and right behind it mov %rsp, %rbp. */
bool x86_is_frame_setup(const uint8_t p[X86_START]);
/* Check for the code that a signal handler returns to. */
bool x86_is_sigreturn(const uint8_t p[X86_SIGRETURN]);
/*
 * Check for the code that a thread's function returns to in musl: mov %eax, %edi; xor %eax, %eax; mov
 * $60, %al; syscall.
 */
bool x86_is_thread_exit(const uint8_t p[X86_THREAD_EXIT]);
/*
 * Check for the same in glibc, which keeps what the function returned: mov %rax, %fs:..., a cltq may be
 * before it.
 */
bool x86_is_thread_result(const uint8_t p[X86_THREAD_RESULT]);
/* Recognise what main() returns to: mov %eax, %edi; a direct call, whose distance from its end is *rel. */
bool x86_is_exit_result(const uint8_t p[X86_EXIT_RESULT], int32_t *rel);

#endif
