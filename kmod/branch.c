// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * branch.c - finds branches among x86-64 instructions (Intel SDM volume 2, chapter 2 and appendix A).
 *
 * The kernel has a decoder, and does not export it.  This one knows lengths of branches alone,
 * whose operands are few.  Built for user space too, where t/vm/branch.c compares it with objdump.
 */
#include "branch.h"

static __u8 code_byte_at(const __u8 *code, unsigned int len, unsigned int i)
{
	return i < len ? code[i] : 0;
}

/* Return the bytes of the operand of a ModRM byte, itself included. */
static unsigned int modrm_len(__u8 modrm, __u8 sib)
{
	unsigned int mod = modrm >> 6, rm = modrm & 7, n = 1;

	if (mod == 3)
		return 1;
	if (rm == 4)
		n++;
	if (mod == 1)
		n += 1;
	else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		n += 4;
	return n;
}

static int is_prefix(__u8 c)
{
	switch (c) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64 ... 0x67: case 0xf0: case 0xf2: case 0xf3:
		return 1;
	}
	return 0;
}

static int is_string_insn(__u8 c)
{
	return (c >= 0xa4 && c <= 0xa7) || (c >= 0xaa && c <= 0xaf) || (c >= 0x6c && c <= 0x6f);
}

static struct branch_insn branch(__u8 kind, unsigned int len)
{
	return (struct branch_insn){ CLASS_BRANCH, kind, len };
}

static struct branch_insn other(__u8 cls, unsigned int len)
{
	return (struct branch_insn){ cls, ARCPROF_BRANCH_OTHER, len };
}

static struct branch_insn two_byte(__u8 opcode, unsigned int i)
{
	if (opcode >= 0x80 && opcode <= 0x8f)
		return branch(ARCPROF_BRANCH_COND, i + 6);
	if (opcode == 0x05)
		return other(CLASS_SYSCALL, i + 2);
	return other(CLASS_PLAIN, 0);
}

static struct branch_insn branch_group_ff(__u8 modrm, __u8 sib, unsigned int i)
{
	switch (modrm >> 3 & 7) {
	case 2: case 3:
		return branch(ARCPROF_BRANCH_CALL_INDIRECT, i + 1 + modrm_len(modrm, sib));
	case 4: case 5:
		return branch(ARCPROF_BRANCH_JUMP_INDIRECT, i + 1 + modrm_len(modrm, sib));
	}
	return other(CLASS_PLAIN, 0);
}

struct branch_insn branch_decode(const __u8 *code, unsigned int len)
{
	unsigned int i = 0;
	int rep = 0;
	__u8 c;

	while (i < len && is_prefix(code[i])) {
		rep |= code[i] == 0xf2 || code[i] == 0xf3;
		i++;
	}
	if ((code_byte_at(code, len, i) & 0xf0) == 0x40)
		i++;
	c = code_byte_at(code, len, i);
	if (rep && is_string_insn(c))
		return other(CLASS_REPEATED, i + 1);
	switch (c) {
	case 0x0f:
		return two_byte(code_byte_at(code, len, i + 1), i);
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		return branch(ARCPROF_BRANCH_COND, i + 2);
	case 0x9c:
		return other(CLASS_PUSHF, i + 1);
	case 0xc2: case 0xca:
		return branch(ARCPROF_BRANCH_RETURN, i + 3);
	case 0xc3: case 0xcb:
		return branch(ARCPROF_BRANCH_RETURN, i + 1);
	case 0xc7:	/* xbegin: an abort goes elsewhere */
		return code_byte_at(code, len, i + 1) == 0xf8 ? branch(ARCPROF_BRANCH_COND, i + 6) :
						      other(CLASS_PLAIN, 0);
	case 0xcc: case 0xf1:
		return other(CLASS_TRAP, i + 1);
	case 0xcd:	/* int 0x80 is a system call as well */
		return other(code_byte_at(code, len, i + 1) == 0x80 ? CLASS_SYSCALL : CLASS_TRAP, i + 2);
	case 0xcf:
		return other(CLASS_IRET, i + 1);
	case 0xe8:
		return branch(ARCPROF_BRANCH_CALL, i + 5);
	case 0xe9:
		return branch(ARCPROF_BRANCH_JUMP, i + 5);
	case 0xeb:
		return branch(ARCPROF_BRANCH_JUMP, i + 2);
	case 0xff:
		return branch_group_ff(code_byte_at(code, len, i + 1), code_byte_at(code, len, i + 2), i);
	}
	return other(CLASS_PLAIN, 0);
}
