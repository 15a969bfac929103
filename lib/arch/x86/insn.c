// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insn.c - the length of an instruction: prefixes, opcode, ModRM and SIB, displacement,
 * immediate (Intel SDM volume 2, chapter 2 and appendix A).
 *
 * A letter an opcode says what follows it:
 *   space nothing   M ModRM   b byte   w word   z dword (word after 66)   B, Z ModRM and those
 *   d dword always (near jumps and calls)   q as wide as the operand   o an address
 *   e word and byte (enter)   F, G ModRM, and b or z when reg is 0 or 1   P prefix   ! invalid
 */
#include <string.h>

#include "arch/x86/insn.h"

static const char one_byte[256 + 1] =
	"MMMMbz!!MMMMbz!P" "MMMMbz!!MMMMbz!!" "MMMMbzP!MMMMbzP!" "MMMMbzP!MMMMbzP!"
	"PPPPPPPPPPPPPPPP" "                " "!!PMPPPPzZbB    " "bbbbbbbbbbbbbbbb"
	"BZ!BMMMMMMMMMMMM" "          !     " "oooo    bz      " "bbbbbbbbqqqqqqqq"
	"BBw PPBZe w  b! " "MMMM!!! MMMMMMMM" "bbbbbbbbdd!b    " "P PP  FG      MM";

static const char two_byte[256 + 1] =
	"MMMM!     ! !M B" "MMMMMMMMMMMMMMMM" "MMMM!!!!MMMMMMMM" "      ! P!P!!!!!"
	"MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "BBBBMMM MMMMMMMM"
	"dddddddddddddddd" "MMMMMMMMMMMMMMMM" "   MBM!!   MBMMM" "MMMMMMMMMMBMMMMM"
	"MMBMBBBM        " "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM";

struct cursor {
	const uint8_t *p;
	size_t len, at;
	bool bad, opsize;	/* opsize: a 66 was seen */
};

static uint8_t insn_next_byte(struct cursor *c)
{
	if (c->at >= c->len || c->at >= X86_INSN_MAX) {
		c->bad = true;
		return 0;
	}
	return c->p[c->at++];
}

/* Read n bytes, sign-extended. */
static int64_t insn_number(struct cursor *c, int n)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)insn_next_byte(c) << 8 * i;
	if (n < 8 && n && v >> (8 * n - 1))
		v |= ~0ull << 8 * n;
	return (int64_t)v;
}

static void memory_operand(struct cursor *c, struct x86_insn *in)
{
	int mod = in->modrm >> 6, rm = in->modrm & 7, base = rm;

	if (mod == 3)
		return;
	if (rm == 4) {
		in->sib = insn_next_byte(c);
		base = in->sib & 7;
	}
	if (mod == 1)
		in->disp = insn_number(c, 1);
	else if (mod == 2 || base == 5)
		in->disp = insn_number(c, 4);
}

static void operands(struct cursor *c, struct x86_insn *in, char kind)
{
	int z = c->opsize && !(in->rex & 8) ? 2 : 4;

	if (strchr("MBZFG", kind)) {
		in->has_modrm = true;
		in->modrm = insn_next_byte(c);
		memory_operand(c, in);
	}
	if ((kind == 'F' || kind == 'G') && (in->modrm & 0x38) <= 8)
		kind = kind == 'F' ? 'b' : 'z';
	switch (kind) {
	case ' ':
	case 'M':
	case 'F':
	case 'G':
		break;
	case 'b':
	case 'B':
		in->imm = insn_number(c, 1);
		break;
	case 'w':
		in->imm = insn_number(c, 2);
		break;
	case 'z':
	case 'Z':
		in->imm = insn_number(c, z);
		break;
	case 'd':
		in->imm = insn_number(c, 4);
		break;
	case 'q':
		in->imm = insn_number(c, in->rex & 8 ? 8 : z);
		break;
	case 'o':
		in->imm = insn_number(c, 8);
		break;
	case 'e':
		in->imm = insn_number(c, 3);
		break;
	default:
		c->bad = true;
	}
}

static char opcode_kind(uint8_t map, uint8_t opcode)
{
	switch (map) {
	case 0:
		return one_byte[opcode];
	case 1:
		return two_byte[opcode];
	case 3:
	case 8:
		return 'B';
	case 10:
		return 'Z';
	default:
		return 'M';
	}
}

/* Decode VEX (c4, c5), EVEX (62) and AMD's XOP (8f), whose prefix has the opcode map. */
static void vector_prefix(struct cursor *c, struct x86_insn *in, uint8_t first)
{
	uint8_t p = insn_next_byte(c);

	in->vex = true;
	in->map = first == 0xc5 ? 1 : p & (first == 0x62 ? 7 : 0x1f);
	if (first != 0xc5)
		insn_next_byte(c);
	if (first == 0x62)
		insn_next_byte(c);
	if (!in->map)
		c->bad = true;
	in->opcode = insn_next_byte(c);
	operands(c, in, opcode_kind(in->map, in->opcode));
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x26 || b == 0x2e ||
	       b == 0x36 || b == 0x3e || b == 0x64 || b == 0x65;
}

bool x86_insn_decode(const uint8_t *p, size_t len, struct x86_insn *in)
{
	struct cursor c = { p, len, 0, false, false };
	uint8_t b = insn_next_byte(&c);

	memset(in, 0, sizeof(*in));
	for (; is_prefix(b) && !c.bad; b = insn_next_byte(&c)) {
		c.opsize |= b == 0x66;
		in->rep |= b == 0xf2 || b == 0xf3;
	}
	if ((b & 0xf0) == 0x40) {
		in->rex = b;
		b = insn_next_byte(&c);
	}
	if (b == 0xc4 || b == 0xc5 || b == 0x62 || (b == 0x8f && c.at < len && (p[c.at] & 0x1f) >= 8)) {
		vector_prefix(&c, in, b);
	} else {
		if (b == 0x0f) {
			in->map = 1;
			b = insn_next_byte(&c);
			if (b == 0x38 || b == 0x3a) {
				in->map = b == 0x38 ? 2 : 3;
				b = insn_next_byte(&c);
			}
		}
		in->opcode = b;
		operands(&c, in, opcode_kind(in->map, b));
	}
	in->len = (uint8_t)c.at;
	return !c.bad;
}
