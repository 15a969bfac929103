// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - the kind of branch of an A64 instruction (Arm ARM, "A64 instruction set encoding"). */
#include <string.h>

#include "arch/insn.h"

/* Return the signed field of that many bits from bit "at" up, in units of instructions. */
static int64_t offset(uint32_t w, int at, int bits)
{
	uint64_t v = (uint64_t)w << (64 - at - bits);

	return ((int64_t)v >> (64 - bits)) * 4;
}

static bool direct(struct insn *in, uint8_t kind, int64_t rel)
{
	in->kind = kind;
	in->direct = true;
	in->rel = rel;
	return true;
}

static bool immediate_branch(uint32_t w, struct insn *in)
{
	if ((w & 0xfc000000) == 0x14000000)
		return direct(in, INSN_JUMP, offset(w, 0, 26));
	if ((w & 0xfc000000) == 0x94000000)
		return direct(in, INSN_CALL, offset(w, 0, 26));
	if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000)	/* b.cond, cbz */
		return direct(in, INSN_COND, offset(w, 5, 19));
	if ((w & 0x7e000000) == 0x36000000)					/* tbz */
		return direct(in, INSN_COND, offset(w, 5, 14));
	return false;
}

/* Return the kind of br, blr, ret and those with pointer authentication, and eret. */
static uint8_t register_branch(uint32_t w)
{
	switch (w >> 21 & 0xf) {
	case 0:
	case 8:
		return INSN_JUMP_INDIRECT;
	case 1:
	case 9:
		return INSN_CALL_INDIRECT;
	case 2:
		return INSN_RETURN;
	}
	return INSN_IRET;
}

static uint8_t exclusive(uint32_t w)
{
	if ((w & 0x3fe00000) == 0x08400000 || (w & 0xbfe00000) == 0x88600000)
		return INSN_EXCLUSIVE_LOAD;
	if ((w & 0x3fe00000) == 0x08000000 || (w & 0xbfe00000) == 0x88200000)
		return INSN_EXCLUSIVE_STORE;
	return 0;
}

bool insn_decode_arm64(const uint8_t *p, size_t len, struct insn *in)
{
	uint32_t w;

	*in = (struct insn){ 0 };
	if (len < 4)
		return false;
	memcpy(&w, p, 4);
	in->len = 4;
	if (immediate_branch(w, in))
		return true;
	if ((w & 0xfe000000) == 0xd6000000)
		in->kind = register_branch(w);
	else if ((w & 0xffe0001f) == 0xd4000001)
		in->kind = INSN_SYSCALL;
	else if ((w & 0xff000000) == 0xd4000000 || !(w & 0xffff0000))	/* brk, hlt, ...; udf */
		in->kind = INSN_TRAP;
	else
		in->flags = exclusive(w);
	return true;
}

#ifdef __aarch64__
bool insn_decode(const uint8_t *p, size_t len, struct insn *in)
{
	return insn_decode_arm64(p, len, in);
}
#endif
