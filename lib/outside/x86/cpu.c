// SPDX-License-Identifier: GPL-2.0-or-later
/* cpu.c - outside/cpu.h for x86-64. */
#include <string.h>

#include "agent/x86/walk_code.h"
#include "outside/cpu.h"

/* Numbers of registers: System V ABI, AMD64, figure 3.36. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R12 = 12, R13, R14, R15 };

struct walk_regs cpu_regs(const struct outside_ask *a)
{
	const uint64_t *r = a->reg;

	return (struct walk_regs){
		.pc = a->pc, .sp = a->sp, .fp = r[RBP], .rax = r[RAX], .rbx = r[RBX], .rcx = r[RCX],
		.rdx = r[RDX], .rdi = r[RDI], .r12 = r[R12], .r13 = r[R13], .r14 = r[R14], .r15 = r[R15],
	};
}

bool cpu_is_leaf_call(uintptr_t ret)
{
	return !code_returns_to_native_transition(ret);
}

void cpu_find_call_stub(struct vm_range *r)
{
	enum { FURTHEST = 512, RET = 0xc3 };
	static const char enter[] = "\x55\x48\x8b\xec";	/* push rbp; mov rbp, rsp */
	uintptr_t ret = vm_global(vm.call_stub_return), at = ret, end = ret;

	while (ret - at < FURTHEST && memcmp(vm_bytes(at), enter, sizeof(enter) - 1))
		at--;
	while (end - ret < FURTHEST && vm_u8(end, 0) != RET)
		end++;
	if (ret - at < FURTHEST && end - ret < FURTHEST)
		*r = (struct vm_range){ at, end + 1 };
}
