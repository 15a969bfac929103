// SPDX-License-Identifier: GPL-2.0-or-later
/* code.c - recognizes short pieces of A64 code (code.h). */
#include <string.h>

#include "arch/arm64/code.h"

bool arm64_is_sigreturn(const uint8_t p[ARM64_SIGRETURN])
{
	static const uint8_t want[ARM64_SIGRETURN] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

	return !memcmp(p, want, sizeof(want));
}

bool arm64_is_call(const uint8_t p[ARM64_CALL])
{
	uint32_t i = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;

	return (i & 0xfc000000) == 0x94000000 || (i & 0xfffffc1f) == 0xd63f0000 ||
	       (i & 0xfefff800) == 0xd63f0800;
}
