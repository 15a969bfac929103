/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - short pieces of A64 code that are known by their bytes, on any host. */
#ifndef ARCH_ARM64_CODE_H
#define ARCH_ARM64_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ARM64_SIGRETURN = 8,
	ARM64_CALL = 4,
	ARM64_SIGFRAME_REGS = 312,	/* siginfo 128, ucontext up to the registers 184 */
};

/* Check for the code that a signal handler returns to. */
bool arm64_is_sigreturn(const uint8_t p[ARM64_SIGRETURN]);
/* Recognise bl and blr, also those that authenticate. */
bool arm64_is_call(const uint8_t p[ARM64_CALL]);

#endif
