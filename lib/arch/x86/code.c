// SPDX-License-Identifier: GPL-2.0-or-later
/* code.c - recognizes short pieces of x86-64 code (code.h). */
#include <string.h>

#include "arch/x86/code.h"

const uint8_t x86_sigframe_regs[X86_NR_REGS] = {
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15, X86_RDI,
	X86_RSI, X86_RBP, X86_RBX, X86_RDX, X86_RAX, X86_RCX, X86_RSP, X86_RIP,
};

bool x86_ends_in_call(const uint8_t p[X86_CALL_MAX])
{
	const uint8_t *end = p + X86_CALL_MAX;
	int len;

	if (end[-X86_CALL_DIRECT] == 0xe8)
		return true;
	for (len = 2; len <= 7; len++)		/* ff /2 */
		if (end[-len] == 0xff && (end[1 - len] >> 3 & 7) == 2)
			return true;
	return false;
}

bool x86_is_direct_call(const uint8_t p[X86_CALL_DIRECT], int32_t *rel)
{
	memcpy(rel, p + 1, 4);
	return p[0] == 0xe8;
}

bool x86_is_jump(const uint8_t p[X86_JUMP], int32_t *rel)
{
	memcpy(rel, p + 1, 4);
	return p[0] == 0xe9;
}

bool x86_is_without_frame(const uint8_t p[X86_START])
{
	static const uint8_t endbr64[X86_START] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return p[0] == 0x55 || p[0] == 0xc3 || !memcmp(p, endbr64, sizeof(endbr64));
}

bool x86_is_frame_setup(const uint8_t p[X86_START])
{
	static const uint8_t setup[X86_START] = { 0x55, 0x48, 0x89, 0xe5 };

	return !memcmp(p, setup, sizeof(setup));
}

bool x86_is_sigreturn(const uint8_t p[X86_SIGRETURN])
{
	static const uint8_t want[X86_SIGRETURN] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return !memcmp(p, want, sizeof(want));
}

bool x86_is_thread_exit(const uint8_t p[X86_THREAD_EXIT])
{
	static const uint8_t want[X86_THREAD_EXIT] = { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };

	return !memcmp(p, want, sizeof(want));
}

bool x86_is_thread_result(const uint8_t p[X86_THREAD_RESULT])
{
	static const uint8_t cltq[] = { 0x48, 0x98 }, keep[] = { 0x64, 0x48, 0x89, 0x04, 0x25 };

	return !memcmp(p + (memcmp(p, cltq, sizeof(cltq)) ? 0 : sizeof(cltq)), keep, sizeof(keep));
}

bool x86_is_exit_result(const uint8_t p[X86_EXIT_RESULT], int32_t *rel)
{
	return p[0] == 0x89 && p[1] == 0xc7 && x86_is_direct_call(p + 2, rel);
}
