// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "arch/arm64/code.h"

bool arm64_is_sigreturn(const uint8_t p[ARM64_SIGRETURN])
{
	static const uint8_t want[ARM64_SIGRETURN] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

	return !memcmp(p, want, sizeof(want));
}
