// SPDX-License-Identifier: MIT
/*
 * walk_code.c - reads instructions around a pc in compiled code (walk_code.h).
 *
 * Source: MachPrologNode and MachEpilogNode in HotSpot's x86_64.ad, string_indexof() and verified_entry() in
 * macroAssembler_x86.cpp, C1's build_frame and remove_frame; Intel SDM volume 2 for CALL.
 */
#include "agent/hotspot/vm.h"
#include "agent/sys.h"
#include "agent/x86/walk_code.h"

enum { FARTHEST_IN_STUB = 4096 };	/* that anything is looked for */

/* Length of the no-operation at p, 0 when it is something else. */
static int nop_length(const uint8_t *p)
{
	enum { MAX_PREFIXES = 8 };
	int nr = 0;

	for (; p[0] == 0x66 && nr < MAX_PREFIXES; p++)
		nr++;
	if (p[0] == 0x90)
		return nr + 1;
	if (p[0] != 0x0f || p[1] != 0x1f)
		return 0;
	switch (p[2]) {
	case 0x00: return nr + 3;
	case 0x40: return nr + 4;
	case 0x44: return nr + 5;
	case 0x80: return nr + 7;
	case 0x84: return nr + 8;
	}
	return 0;
}

/* mov [rsp + disp], rbp */
static int store_rbp_length(const uint8_t *p)
{
	if (p[0] != 0x48 || p[1] != 0x89 || p[3] != 0x24)
		return 0;
	return p[2] == 0x6c ? 5 : p[2] == 0xac ? 8 : 0;
}

/* sub rsp, imm */
static int sub_rsp_length(const uint8_t *p)
{
	if (p[0] != 0x48 || p[2] != 0xec)
		return 0;
	return p[1] == 0x83 ? 4 : p[1] == 0x81 ? 7 : 0;
}

/* What may come before the frame is built and does not touch it. */
static int harmless_length(const uint8_t *p)
{
	int n = nop_length(p);

	if (n)
		return n;
	if (p[0] == 0x89 && p[1] == 0x84 && p[2] == 0x24)	/* stack bang: mov [rsp - x], eax */
		return 7;
	if (p[0] == 0x49 && p[1] == 0xba)			/* mov r10, imm64: class init barrier */
		return 10;
	if (p[0] == 0x41 && p[1] == 0x80 && p[2] == 0xba)	/* cmp byte [r10 + x], imm */
		return 8;
	if (p[0] == 0x4d && p[1] == 0x3b && p[2] == 0xba)	/* cmp r15, [r10 + x] */
		return 7;
	if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80)		/* jcc rel32 */
		return 6;
	if ((p[0] & 0xf0) == 0x70)				/* jcc rel8 */
		return 2;
	return 0;
}

enum code_state code_prologue(uintptr_t entry, uintptr_t pc)
{
	uintptr_t at = entry;
	bool pushed = false;
	int i, n;

	for (i = 0; i < 24; i++) {
		const uint8_t *p = vm_bytes(at);

		if (at >= pc)
			return pushed ? CODE_RBP_AT_SP : CODE_RETURN_AT_SP;
		if ((n = sub_rsp_length(p))) {
			if (at + n > pc)
				return CODE_UNKNOWN;
			if (pushed || !store_rbp_length(p + n) || pc >= at + n + store_rbp_length(p + n))
				return CODE_FULL;
			return CODE_FULL_RBP_LIVE;
		}
		if (p[0] == 0x55 && !pushed) {
			pushed = true;
			at++;
		} else if (pushed && p[0] == 0x48 && ((p[1] == 0x8b && p[2] == 0xec) ||
						      (p[1] == 0x89 && p[2] == 0xe5))) {
			at += 3;	/* mov rbp, rsp */
		} else if (!pushed && (n = harmless_length(p))) {
			at += n;
		} else {
			return CODE_UNKNOWN;
		}
	}
	return CODE_UNKNOWN;
}

enum code_state code_epilogue(uintptr_t pc)
{
	const uint8_t *p = vm_bytes(pc);

	if (p[0] == 0xc3 || p[0] == 0xc2)
		return CODE_RETURN_AT_SP;
	if (p[0] == 0x5d && (p[1] == 0xc3 || p[1] == 0xc2 || p[1] == 0x49 || p[1] == 0x4d || p[1] == 0x85 ||
			     p[1] == 0xc5 || p[1] == 0x41 || p[1] == 0xe9))
		return CODE_RBP_AT_SP;
	/* pop rbp; jmp: an exception leaves the method */
	if (p[-1] == 0x5d && p[0] == 0xe9)
		return CODE_RETURN_AT_SP;
	/* cmp rsp, [r15 + poll word]; ja slow path; ret */
	if (p[0] == 0x49 && p[1] == 0x3b && (p[2] == 0x67 || p[2] == 0xa7))
		return CODE_RETURN_AT_SP;
	if (p[0] == 0x0f && p[1] == 0x87 && (p[6] == 0xc3 || p[6] == 0xc2))
		return CODE_RETURN_AT_SP;
	return CODE_FULL;
}

static bool bytes_are(uintptr_t at, const char *bytes, size_t n)
{
	return !memcmp(vm_bytes(at), bytes, n);
}

bool code_frame_ends(uintptr_t pc)
{
	const uint8_t *p = vm_bytes(pc);

	return p[0] == 0x48 && p[2] == 0xc4 &&
		((p[1] == 0x83 && p[4] == 0x5d) || (p[1] == 0x81 && p[7] == 0x5d));
}

/* Return whether the bytes begin at most farthest before pc. */
static bool found_before(uintptr_t pc, size_t farthest, const char *bytes, size_t n)
{
	uintptr_t at;

	for (at = pc - 1; at + farthest >= pc; at--)
		if (bytes_are(at, bytes, n))
			return true;
	return false;
}

/* push rbp; mov rbp, rsp; sub rsp, imm: where the frame of a native method is built; 0: not before end. */
static uintptr_t find_enter(uintptr_t begin, uintptr_t end)
{
	uintptr_t at;

	for (at = begin; at + 7 <= end && at - begin < FARTHEST_IN_STUB; at++)
		if (bytes_are(at, "\x55\x48\x8b\xec", 4) && sub_rsp_length(vm_bytes(at) + 4))
			return at;
	return 0;
}

/*
 * leave, and what may come between that and the return: a poll, a look for an exception. An exception is then
 * forwarded out of line, right behind the return.
 */
static bool after_leave(uintptr_t pc, uintptr_t begin)
{
	enum { FARTHEST = 48 };

	return pc > begin + FARTHEST && (found_before(pc, FARTHEST, "\xc9\x41\xf6\x47", 4) ||
					 found_before(pc, FARTHEST, "\xc9\x49\x83\x7f", 4) ||
					 found_before(pc, FARTHEST, "\xc9\x49\x81\x7f", 4));
}

enum code_state code_native(uintptr_t begin, int frame_complete, uintptr_t pc)
{
	uintptr_t enter = frame_complete > 0 ? find_enter(begin, begin + frame_complete) : 0;

	if (!enter)
		return CODE_UNKNOWN;
	if (pc <= enter || after_leave(pc, enter))
		return CODE_RETURN_AT_SP;
	return pc == enter + 1 ? CODE_RBP_AT_SP : CODE_RBP_FRAME;
}

enum code_state code_framed_stub(uintptr_t begin, uintptr_t pc)
{
	enum code_state s;

	if (bytes_are(begin, "\x52\x48", 2)) {	/* push rdx; sub rsp, imm; at the end pop rdx; mov r8, rax */
		if (pc == begin || (pc > begin + 48 && found_before(pc, 32, "\x5a\x4c\x8b\xc0", 4)))
			return CODE_RETURN_IN_RDX;
		return pc == begin + 1 ? CODE_RETURN_AT_SP : CODE_UNKNOWN;
	}
	if (!bytes_are(begin, "\x55\x48\x8b\xec", 4))
		return CODE_UNKNOWN;
	if (pc <= begin + 1)
		return pc == begin ? CODE_RETURN_AT_SP : CODE_RBP_AT_SP;
	s = code_epilogue(pc);
	if (s != CODE_FULL)
		return s;
	/* popf; pop rbp: the last of all registers, shortly before the stub jumps or returns */
	return pc > begin + 34 && found_before(pc - 1, 31, "\x9d\x5d", 2) ? CODE_RETURN_AT_SP :
		CODE_RBP_FRAME;
}

enum code_state code_compiled_stub(uintptr_t begin, uintptr_t pc, int frame_words)
{
	const uint8_t *p = vm_bytes(begin);
	int pushed = p[0] == 0x55, n = sub_rsp_length(p + pushed);
	enum code_state s;
	int32_t space;

	if (!n)
		return CODE_UNKNOWN;
	space = n == 4 ? (int8_t)p[pushed + 3] : *(const int32_t *)(p + pushed + 3);
	if (space != (frame_words - 1 - pushed) * 8)
		return CODE_UNKNOWN;
	if (bytes_are(pc, "\x5d\x5a\x41\xff\xe2", 5))	/* pop rbp; pop rdx; jmp r10 */
		return CODE_RBP_AT_SP;
	if (bytes_are(pc, "\x5a\x41\xff\xe2", 4))
		return CODE_RETURN_AT_SP;
	if (bytes_are(pc, "\x41\xff\xe2", 3))
		return CODE_RETURN_AT_SP;
	s = code_epilogue(pc);
	return s == CODE_FULL ? code_prologue(begin, pc) : s;
}

bool code_jumps_to_handler(uintptr_t pc)
{
	return bytes_are(pc - 1, "\x5a\x41\xff\xe2", 4) || bytes_are(pc - 1, "\x5a\xff\xe3", 3);
}

bool code_jumps_to_rcx(uintptr_t pc)
{
	return bytes_are(pc - 1, "\x59\xff\xe1", 3);
}

bool code_throws_at(uintptr_t pc)
{
	/* mov rdx, imm64 */
	return bytes_are(pc, "\x48\xba", 2) && vm_word(pc, 2) == pc;
}

enum code_r13 code_adapter(uintptr_t begin, uintptr_t pc)
{
	enum code_r13 state = CODE_R13_OTHER;
	uintptr_t at;

	for (at = pc - begin > 2048 ? pc - 2048 : begin; at < pc; at++) {
		if (at + 5 <= pc && bytes_are(at, "\x4c\x8d\x6c\x24\x08", 5))
			state = CODE_R13_CALLER_SP;		/* lea r13, [rsp + 8] */
		else if (at + 4 <= pc && bytes_are(at, "\x58\x4c\x8b\xec", 4))
			state = CODE_R13_CALLER_SP;		/* pop rax; mov r13, rsp */
		else if (at + 3 <= pc && bytes_are(at, "\x4c\x8b\xec", 3) && state != CODE_R13_CALLER_SP)
			state = CODE_R13_AT_RETURN;		/* mov r13, rsp */
		else if (at + 3 <= pc && bytes_are(at, "\x49\x8b\xe5", 3))
			state = CODE_R13_OTHER;			/* mov rsp, r13 */
	}
	return state;
}

bool code_leaves_interpreter(uintptr_t pc)
{
	if (bytes_are(pc, "\x41\xc6\x87", 3))	/* mov byte [r15 + x], 0 */
		pc += 8;
	return bytes_are(pc, "\x41\x5d\x48\x8b\xe3", 5);
}

bool code_leaves_by_rdi(uintptr_t pc)
{
	if (bytes_are(pc, "\x49\x8b\xe5", 3))
		pc += 3;
	return bytes_are(pc, "\xff\xe7", 2);
}

static int leading_pops(const uint8_t *p)
{
	int nr = 0;

	for (; nr < 8; nr++) {
		if (p[0] == 0x41)
			p++;
		if ((*p++ & 0xf8) != 0x58)
			break;
	}
	return nr;
}

int code_pops(uintptr_t pc, int frame_words)
{
	const uint8_t *p = vm_bytes(pc);
	int dropped;

	if (p[0] != 0x48 || p[1] != 0x83 || p[2] != 0xc4)
		return leading_pops(p);
	/* add rsp, imm8; perhaps mov to a register; pops */
	dropped = p[3] / 8;
	if (!dropped || dropped + 2 == frame_words)
		return 0;
	p += 4;
	if ((p[0] & 0xf8) == 0x48 && (p[1] == 0x8b || p[1] == 0x89) && p[2] >= 0xc0)
		p += 3;
	return dropped + leading_pops(p);
}

/* Return the length of nr pops at p. */
static int pops_length(const uint8_t *p, int nr)
{
	int len = 0;

	while (nr--)
		len += p[len] == 0x41 ? 2 : 1;
	return len;
}

/* Return the length of the ModRM byte at p and what belongs to it, if it addresses rsp or a register. */
static int operand_length(const uint8_t *p, bool vector)
{
	switch (p[0] >> 6) {
	case 3:
		return vector ? 0 : 1;
	case 0:
		return (p[0] & 7) == 4 && p[1] == 0x24 ? 2 : 0;
	case 1:
		return (p[0] & 7) == 4 && p[1] == 0x24 ? 3 : 0;
	default:
		return (p[0] & 7) == 4 && p[1] == 0x24 ? 6 : 0;
	}
}

/* A load of a register from the stack, a move between registers, vzeroupper; 0: something else. */
static int restore_length(const uint8_t *p)
{
	int n;

	if ((p[0] & 0xf0) == 0x40 && (p[1] == 0x8b || (p[1] == 0x89 && p[2] >= 0xc0))) {
		n = operand_length(p + 2, false);
		return n ? n + 2 : 0;
	}
	if (p[0] == 0xc5 && p[1] == 0xf8 && p[2] == 0x77)
		return 3;
	if (p[0] == 0xc5 && (p[2] == 0x6f || p[2] == 0x10 || p[2] == 0x7e)) {
		n = operand_length(p + 3, true);
		return n ? n + 3 : 0;
	}
	if (p[0] == 0x62 && (p[4] == 0x6f || p[4] == 0x10)) {
		n = operand_length(p + 5, true);
		return n ? n + 5 : 0;
	}
	return 0;
}

int code_restores(uintptr_t pc, int frame_words)
{
	enum { MOST_WORDS = 1 << 20 };
	const uint8_t *p = vm_bytes(pc);
	int words = 0, i, n;

	for (i = 0; i < 96 && words >= 0 && words <= MOST_WORDS; i++) {
		if (p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xc4) {
			words += p[3] / 8;
			n = 4;
			/* the stack was aligned for the call; a call that had no need of it is in between */
			if (words == 1 && i == 0 && p[4] == 0xe9)
				n += 5 + *(const int32_t *)(p + 5);
		} else if (p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xc4) {
			words += *(const int32_t *)(p + 3) / 8;
			n = 7;
		} else if ((n = leading_pops(p)) > 0) {
			words += n;
			n = pops_length(p, n);
		} else if (!(n = restore_length(p))) {
			break;
		}
		pc += n;
		p = vm_bytes(pc);
	}
	if (p[0] == 0xc3 || (p[0] == 0x49 && p[1] == 0x3b) || words < 0)
		return 0;
	return words + 1 == frame_words ? 0 : words;
}

size_t code_saved_fpu(uintptr_t pc, uintptr_t end)
{
	uintptr_t at;

	for (at = pc; at + 12 <= end && at - pc < FARTHEST_IN_STUB; at++)
		if (bytes_are(at, "\x48\x0f\xae\x0c\x24\x48\x81\xc4", 8))
			return (uint32_t)vm_i32(at, 8);
	return 0;
}

bool code_returns_to_native_transition(uintptr_t ret)
{
	enum { FARTHEST = 24, IN_NATIVE_TRANS = 5 };
	uintptr_t at;

	for (at = ret; at < ret + FARTHEST; at++)
		if (bytes_are(at, "\x41\xc7\x87", 3) && vm_i32(at, 7) == IN_NATIVE_TRANS)
			return true;
	return false;
}

int code_pushed(uintptr_t pc, int frame_words)
{
	const uint8_t *first = vm_bytes(pc), *p = first;
	int ahead, pops = leading_pops(p);

	if (pops)
		return pops;
	for (ahead = 0; ahead < 8; ahead++) {
		const uint8_t *op = p[0] == 0x41 ? p + 1 : p;

		if ((*op & 0xf8) != 0x50)
			break;
		p = op + 1;
	}
	if (*p != 0xe8)
		return 0;
	pops = code_pops(pc + (p - first) + 5, frame_words);
	return pops > ahead ? pops - ahead : 0;
}

enum code_old_sp code_old_sp(uintptr_t begin, uintptr_t pc)
{
	enum { FARTHEST = 400 };
	uintptr_t at = pc - begin > FARTHEST ? pc - FARTHEST : begin;
	enum code_old_sp state = CODE_OLD_SP_NONE;

	for (; at < pc; at++) {
		if (at + 3 <= pc && bytes_are(at, "\x48\x8b\xcc", 3))
			state = CODE_OLD_SP_IN_RCX;		/* mov rcx, rsp */
		else if (bytes_are(at, "\x51\x48\x8b\xdf", 4))
			state = CODE_OLD_SP_ON_TOP;		/* push rcx; mov rbx, rdi */
	}
	return state;
}

bool code_call_before(uintptr_t ret)
{
	static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };
	const uint8_t *p = vm_bytes(ret);
	size_t i;

	if (p[-5] == 0xe8)
		return true;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		const uint8_t *q = p - lengths[i];

		if (q[0] == 0xff && (q[1] & 0x38) == 0x10)
			return true;
	}
	return false;
}

/* call through a register, as HotSpot reaches far functions */
static bool is_register_call(uintptr_t ret)
{
	const uint8_t *p = vm_bytes(ret) - 2;

	return p[0] == 0xff && (p[1] & 0xf8) == 0xd0;
}

uintptr_t code_call_target(uintptr_t ret)
{
	/* mov r10, imm64; call r10 */
	if (bytes_are(ret - 13, "\x49\xba", 2) && bytes_are(ret - 3, "\x41\xff\xd2", 3))
		return vm_word(ret, -11);
	return vm_u8(ret, -5) == 0xe8 ? ret + vm_i32(ret, -4) : 0;
}

bool code_call_pushes_rbp(uintptr_t ret)
{
	uintptr_t target = code_call_target(ret);

	return target && vm_in_code(target) && vm_u8(target, 0) == 0x55;
}

bool code_calls_native(uintptr_t ret)
{
	uintptr_t target = code_call_target(ret);

	return target ? !vm_in_code(target) : is_register_call(ret);
}

bool code_calls_blob(uintptr_t ret, uintptr_t addr)
{
	uintptr_t target = code_call_target(ret);
	struct vm_blob b;

	return target && vm_in_code(target) && vm_find_blob(target, &b) && b.addr == addr;
}

bool code_calls_stub(uintptr_t ret)
{
	uintptr_t target = code_call_target(ret);
	struct vm_blob b;

	if (!target)
		return is_register_call(ret);
	return vm_in_code(target) && vm_find_blob(target, &b) &&
	       (b.kind == VM_BLOB_ROUTINES || b.kind == VM_BLOB_STUB);
}
