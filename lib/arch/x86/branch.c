// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - the kind of branch of an x86-64 instruction (Intel SDM volume 2, appendix A). */
#include "arch/insn.h"
#include "arch/x86/insn.h"

static uint8_t x86_group_ff(const struct x86_insn *x)
{
	static const uint8_t kinds[8] = {
		[2] = INSN_CALL_INDIRECT,
		[3] = INSN_CALL_INDIRECT,
		[4] = INSN_JUMP_INDIRECT,
		[5] = INSN_JUMP_INDIRECT,
	};

	return kinds[x->modrm >> 3 & 7];
}

static uint8_t kind_of_one_byte(const struct x86_insn *x)
{
	switch (x->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return INSN_COND;
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
		return INSN_RETURN;
	case 0xcf:
		return INSN_IRET;
	case 0xcc:
	case 0xcd:
	case 0xf1:
		return INSN_TRAP;
	case 0xc7:	/* xbegin: an abort goes elsewhere */
		return x->modrm == 0xf8 ? INSN_COND : INSN_PLAIN;
	case 0xff:
		return x86_group_ff(x);
	}
	return INSN_PLAIN;
}

static uint8_t kind_of_two_byte(const struct x86_insn *x)
{
	switch (x->opcode) {
	case 0x80 ... 0x8f:
		return INSN_COND;
	case 0x05:
	case 0x34:
		return INSN_SYSCALL;
	case 0x07:
	case 0x35:
		return INSN_IRET;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return INSN_TRAP;
	}
	return INSN_PLAIN;
}

static uint8_t flags_of_one_byte(const struct x86_insn *x)
{
	bool string = (x->opcode >= 0xa4 && x->opcode <= 0xa7) || (x->opcode >= 0xaa && x->opcode <= 0xaf) ||
		      (x->opcode >= 0x6c && x->opcode <= 0x6f);

	if (x->rep && string)
		return INSN_REPEATS;
	if (x->opcode == 0x9c)
		return INSN_PUSHES_FLAGS;
	if (x->opcode == 0x9d || x->opcode == 0xcf)
		return INSN_POPS_FLAGS;
	return x->opcode == 0x8e && (x->modrm >> 3 & 7) == 2 ? INSN_SHADOWS : 0;
}

bool insn_decode_x86(const uint8_t *p, size_t len, struct insn *in)
{
	struct x86_insn x;

	*in = (struct insn){ 0 };
	if (!x86_insn_decode(p, len, &x))
		return false;
	in->len = x.len;
	if (x.vex)
		return true;
	if (x.map == 0) {
		in->kind = kind_of_one_byte(&x);
		in->flags = flags_of_one_byte(&x);
	} else if (x.map == 1) {
		in->kind = kind_of_two_byte(&x);
	}
	in->direct = in->kind == INSN_CALL || in->kind == INSN_JUMP || in->kind == INSN_COND;
	if (in->direct)
		in->rel = x.len + x.imm;
	return true;
}

#ifdef __x86_64__
bool insn_decode(const uint8_t *p, size_t len, struct insn *in)
{
	return insn_decode_x86(p, len, in);
}
#endif
