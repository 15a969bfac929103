// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gorules.c - rules from Go's table of functions, and the functions that are not like others.
 */
#include <string.h>

#include "arch/arm64/regs.h"
#include "arch/x86/regs.h"
#include "base/mem.h"
#include "unwind/gorules.h"
#include "unwind/module.h"

#define DEPTH_MAX (1 << 30)

static const struct {
	const char *name;
	uint8_t flags;
} specials[] = {
	/* where goroutines and threads begin */
	{ "runtime.goexit", ROW_SWITCHES }, { "runtime.rt0_go", ROW_SWITCHES },
	{ "runtime.clone", ROW_SWITCHES },
	/* to the thread's stack, and to a goroutine's */
	{ "runtime.systemstack", ROW_SWITCHES }, { "runtime.mcall", ROW_SWITCHES },
	{ "runtime.morestack", ROW_SWITCHES }, { "runtime.gogo", ROW_SWITCHES },
	{ "runtime.asmcgocall", ROW_SWITCHES },
	/* to the thread's stack for the kernel's vdso */
	{ "runtime.nanotime1", ROW_SWITCHES | ROW_KEEPS_SP },
	{ "runtime.walltime", ROW_SWITCHES | ROW_KEEPS_SP },
	{ "runtime.walltime1", ROW_SWITCHES | ROW_KEEPS_SP },
	{ "time.now", ROW_SWITCHES | ROW_KEEPS_SP },
	/* whose caller has made no call: a signal's handler, or the runtime, made it look so */
	{ "runtime.asyncPreempt", ROW_SIGNAL }, { "runtime.sigpanic", ROW_SIGNAL },
	{ "runtime.cgocallback", ROW_SIGNAL },
};

/* Check for the function that a handler of a signal returns to: its frame has the registers (guess.h). */
static bool is_trampoline(const char *name)
{
	return gopcln_name_is(name, "runtime.sigreturn") || gopcln_name_is(name, "runtime.sigreturn__sigaction");
}

uint8_t gorules_flags(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(specials); i++)
		if (gopcln_name_is(name, specials[i].name))
			return specials[i].flags;
	return 0;
}

uint8_t gorules_sp_reg(const struct cpu *cpu)
{
	return cpu == &cpu_arm64 ? 20 : X86_R12;
}

/*
 * Set the rules for x86-64: the return address is above the function's own part of the stack, and the frame
 * pointer below it.
 */
static void set_x86(struct rule_state *s, int32_t depth)
{
	s->cfa = (struct rule){ RULE_REG, X86_RSP, depth + 8 };
	s->r[X86_RIP] = (struct rule){ RULE_AT_CFA, 0, -8 };
	if (depth >= 8)
		s->r[X86_RBP] = (struct rule){ RULE_AT_CFA, 0, -16 };
}

/*
 * Set the rules for arm64: the return address is at the stack pointer, and the frame pointer below it, where
 * no copy reaches.
 */
static void set_arm64(struct rule_state *s, int32_t depth)
{
	s->cfa = (struct rule){ RULE_REG, ARM64_SP, depth };
	if (!depth)
		return;
	s->r[ARM64_LR] = (struct rule){ RULE_AT_CFA, 0, -depth };
	s->r[ARM64_FP] = (struct rule){ RULE_UNDEFINED, 0, 0 };
}

bool gorules_run(const struct gopcln *t, const struct gopcln_func *f, const struct cpu *cpu, rules_fn *fn,
		 void *ctx)
{
	struct gopcln_values v;

	if (is_trampoline(f->name) || !gopcln_depths(t, f, &v))
		return true;
	while (gopcln_next(&v)) {
		struct rule_state s;

		if (v.value < 0 || v.value > DEPTH_MAX || v.end > f->end)
			return false;
		memset(&s, 0, sizeof(s));
		if (cpu == &cpu_arm64)
			set_arm64(&s, v.value);
		else
			set_x86(&s, v.value);
		fn(ctx, v.start, v.end, &s);
	}
	return !v.code.bad;
}

/* A handler returns to the first byte of its trampoline, and a caller is looked up one byte before that. */
uint64_t gorules_end(const struct gopcln *t, size_t i, uint64_t end)
{
	struct gopcln_func next;

	return gopcln_func(t, i + 1, &next) && is_trampoline(next.name) && end == next.start ? end - 1 : end;
}
