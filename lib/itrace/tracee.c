// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracee.c - one thread from stop to stop: what it executed, and how it left the straight line.
 *
 * At every stop the instruction at pc is read, before it runs.  At the next trap it has run, and
 * where the thread is now says the rest:
 *  - at pc still: a round of a repeated string instruction, or nothing (the trap that ends an exec);
 *    a branch to itself has run;
 *  - behind it: it fell through;
 *  - anywhere else: a branch was taken; or, after an instruction that cannot branch, two were
 *    executed in one step (mov ss, and under some kernels syscall), and the second one is looked at.
 *
 * A signal's handler begins with a stop of its own that executes nothing, and ends by a system
 * call that does not come back.  An interrupted system call is made again: pc goes back to it.
 */
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "itrace/stepper.h"

enum {
	RUN_MAX = 4096, RUN_NS = 5000000, LOOK_AT_CLOCK = 32, PAGE = 4096, MERGED_MAX = 2, CODES_MAX
	= 1 << 22
};

/* ---- what is there ---- */

/* Read code page by page: a read that reaches beyond a mapping returns what is before it. */
static size_t tracee_read_code(int tid, uint64_t addr, uint8_t *out, size_t len)
{
	size_t first = MIN(len, (size_t)(PAGE - addr % PAGE));
	struct iovec local = { out, len };
	struct iovec remote[2] = {
		{ (void *)(uintptr_t)addr, first }, { (void *)(uintptr_t)(addr + first), len - first },
	};
	ssize_t n = process_vm_readv(tid, &local, 1, remote, len > first ? 2 : 1, 0);

	return n > 0 ? n : 0;
}

static void tracee_look(struct tracee *t, uint64_t pc)
{
	size_t n = tracee_read_code(t->tid, pc, t->code, INSN_MAX);

	t->pc = pc;
	insn_decode(t->code, n, &t->insn);
}

static void keep_regs(struct tracee *t, const struct user_regs *u)
{
	t->sp = u->sp;
	t->passes = u->passes;
	if (t->insn.kind != INSN_SYSCALL)
		return;
	t->call_nr = u->nr;
	memcpy(t->call_arg, u->arg, sizeof(t->call_arg));
}

static void begin_block(struct tracee *t, uint64_t pc)
{
	t->start = t->end = pc;
	t->nr_insns = 0;
	t->block_len = 0;
}

/* ---- what was executed ---- */

/*
 * Report the bytes of a block once, before the run that it is in; and again when they have changed, after
 * what ran before.
 */
static void tell_code(struct stepper *s, struct tracee *t)
{
	uint32_t bytes, *told;

	if (!t->block_len || t->block_len > BLOCK_MAX || s->seen_code.nr > CODES_MAX)
		return;
	bytes = (uint32_t)hash_bytes(t->block, t->block_len) & INT32_MAX;
	told = map_put(&s->seen_code, hash_pair(hash_pair(t->start, t->pid), t->block_len));
	if (*told == bytes)
		return;
	if (*told != MAP_NONE)
		report_run(s, t);
	*told = bytes;
	report(s, t, (struct wire){ .type = WIRE_CODE, .len = t->block_len, .a = t->start }, t->block);
}

static void branched(struct stepper *s, struct tracee *t, enum branch_kind kind, uint8_t len, uint64_t to)
{
	struct branch b = {
		.kind = kind, .len = len, .start = t->start, .end = t->end, .to = to, .nr_insns = t->nr_insns,
	};

	tell_code(s, t);
	if (!t->run_nr) {
		t->run_start = t->start;
		t->run_ns = clock_mono_ns();
	}
	branch_put(&t->run, &b);
	t->run_nr++;
	s->t.nr_branches += len || kind == BRANCH_INTERRUPT;
	if (t->run_nr >= RUN_MAX ||
	    (t->run_nr % LOOK_AT_CLOCK == 0 && clock_mono_ns() - t->run_ns > RUN_NS))
		report_run(s, t);
	begin_block(t, to);
}

static enum branch_kind branch_kind_of(const struct insn *in)
{
	static const enum branch_kind kinds[INSN_NR] = {
		[INSN_PLAIN] = BRANCH_OTHER,
		[INSN_CALL] = BRANCH_CALL,
		[INSN_CALL_INDIRECT] = BRANCH_CALL_INDIRECT,
		[INSN_RETURN] = BRANCH_RETURN,
		[INSN_JUMP] = BRANCH_JUMP,
		[INSN_JUMP_INDIRECT] = BRANCH_JUMP_INDIRECT,
		[INSN_COND] = BRANCH_COND,
		[INSN_SYSCALL] = BRANCH_OTHER,
		[INSN_TRAP] = BRANCH_OTHER,
		[INSN_IRET] = BRANCH_IRET,
	};

	return kinds[in->kind];
}

/* Count the instruction at t->pc, which is part of the block. */
static void tracee_count_insn(struct stepper *s, struct tracee *t)
{
	uint8_t len = t->insn.len;

	t->nr_insns++;
	s->t.nr_insns++;
	t->end = t->pc + len;
	if (t->block_len + len <= BLOCK_MAX)
		memcpy(t->block + t->block_len, t->code, len);
	t->block_len = t->block_len + len <= BLOCK_MAX ? t->block_len + len : UINT32_MAX - INSN_MAX;
}

static bool maps_executable(const struct tracee *t)
{
	switch (t->call_nr) {
	case SYS_mmap:
	case SYS_mprotect:
#ifdef SYS_pkey_mprotect
	case SYS_pkey_mprotect:
#endif
		return t->call_arg[2] & PROT_EXEC;
	case SYS_mremap:
		return true;
	}
	return false;
}

static void after_call(struct stepper *s, struct tracee *t, uint64_t pc)
{
	if (t->call_nr == SYS_rt_sigreturn) {
		branched(s, t, BRANCH_IRET, t->insn.len, pc);
	} else if (maps_executable(t)) {
		report_maps(s, t);
	}
}

/* Retire the instruction at t->pc, and perhaps another one in the same step. */
static void retire_insn(struct stepper *s, struct tracee *t, uint64_t pc)
{
	int merged;

	for (merged = 0; merged < MERGED_MAX; merged++) {
		uint64_t next = t->pc + t->insn.len;
		bool call = t->insn.kind == INSN_SYSCALL;

		tracee_count_insn(s, t);
		if (insn_always_branches(&t->insn) || (t->insn.kind == INSN_COND && pc != next)) {
			branched(s, t, branch_kind_of(&t->insn), t->insn.len, pc);
			return;
		}
		if (call && (pc == next || t->call_nr == SYS_rt_sigreturn)) {
			after_call(s, t, pc);
			return;
		}
		if (pc == next)
			return;
		if (!t->insn.len || !(call || t->insn.flags & INSN_SHADOWS))
			break;
		tracee_look(t, next);
	}
	branched(s, t, BRANCH_OTHER, t->insn.len, pc);
}

/* ---- stops ---- */

/* Return the length of the system call instruction that ends at pc; 0: there is none. */
static uint8_t call_before(const struct tracee *t, uint64_t pc)
{
	static const uint8_t lengths[] = { 2, 4 };
	uint8_t code[4];
	struct insn in;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t n = tracee_read_code(t->tid, pc - lengths[i], code, lengths[i]);

		if (insn_decode(code, n, &in) && in.len == lengths[i] && in.kind == INSN_SYSCALL)
			return lengths[i];
	}
	return 0;
}

bool tracee_begin(struct tracee *t)
{
	struct user_regs u;

	if (user_regs_get(t->tid, &u))
		return false;
	t->stepping = true;
	tracee_look(t, u.pc);
	keep_regs(t, &u);
	begin_block(t, u.pc);
	t->restart = u.restarts && call_before(t, u.pc);
	if (t->restart)		/* found asleep in a system call: it begins with that */
		begin_block(t, u.pc - call_before(t, u.pc));
	return true;
}

/* Go back: the kernel restarts the system call, which is executed next. */
static void tracee_go_back(struct stepper *s, struct tracee *t)
{
	uint64_t pc = t->pc - call_before(t, t->pc);

	t->restart = false;
	if (t->end != pc)
		branched(s, t, BRANCH_OTHER, 0, pc);
	tracee_look(t, pc);
	t->call_nr = (uint64_t)-1;	/* the same call again, or restart_syscall */
}

enum trap tracee_stepped(struct stepper *s, struct tracee *t)
{
	bool idle = t->idle_trap;
	struct user_regs u;

	if (user_regs_get(t->tid, &u))
		return TRAP_GONE;
	t->idle_trap = false;
	if (t->restart)
		tracee_go_back(s, t);
	if (u.pc == t->pc && (idle || !(insn_always_branches(&t->insn) || t->insn.kind == INSN_COND)))
		return !idle && t->insn.flags & INSN_REPEATS ? TRAP_STEP : TRAP_IDLE;
	if (t->insn.flags & INSN_PUSHES_FLAGS)
		user_clean_pushed_flags(t->tid, &u);
	t->rearm = t->insn.flags & INSN_POPS_FLAGS;
	t->idle_trap = arch_call_traps_twice && t->insn.kind == INSN_SYSCALL;
	retire_insn(s, t, u.pc);
	tracee_look(t, u.pc);
	keep_regs(t, &u);
	t->restart = u.restarts && call_before(t, u.pc);
	return TRAP_STEP;
}

bool tracee_may_signal(const struct tracee *t)
{
	if (t->insn.kind != INSN_SYSCALL)
		return false;
	switch (t->call_nr) {
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
		return true;
	}
	return false;
}

void tracee_note_restart(struct tracee *t)
{
	struct user_regs u;

	if (!user_regs_get(t->tid, &u))
		t->restart = u.restarts && u.pc == t->pc && call_before(t, u.pc);
}

/*
 * A trap that comes while SIGTRAP is blocked is forced through, and the program's handler for it is
 * gone.  A handler of SIGTRAP begins like that; what it returns to is not touched.
 */
static void unblock_trap(int tid)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(mask), &mask) < 0 ||
	    !(mask & 1ull << (SIGTRAP - 1)))
		return;
	mask &= ~(1ull << (SIGTRAP - 1));
	ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
}

bool tracee_handler(struct stepper *s, struct tracee *t)
{
	struct user_regs u;

	if (user_regs_get(t->tid, &u))
		return false;
	t->restart = false;
	unblock_trap(t->tid);
	branched(s, t, BRANCH_INTERRUPT, 0, u.pc);
	tracee_look(t, u.pc);
	keep_regs(t, &u);
	return true;
}

void tracee_rearmed(struct stepper *s, struct tracee *t)
{
	struct user_regs u;

	t->quiet = false;
	if (!user_regs_get(t->tid, &u) && u.pc != t->pc)
		tracee_handler(s, t);
}

bool tracee_exclusive(struct tracee *t)
{
	uint8_t code[EXCLUSIVE_MAX * 4];

	if (!(t->insn.flags & INSN_EXCLUSIVE_LOAD))
		return false;
	return exclusive_plan(&t->excl, t->pc, code, tracee_read_code(t->tid, t->pc, code, sizeof(code)));
}

/* Retire nr instructions that follow each other. */
static void retire_line(struct stepper *s, struct tracee *t, uint64_t nr)
{
	for (; nr; nr--) {
		tracee_count_insn(s, t);
		tracee_look(t, t->pc + t->insn.len);
	}
}

bool tracee_left_exclusive(struct stepper *s, struct tracee *t)
{
	const struct exclusive *x = &t->excl;
	struct user_regs u;
	uint32_t i;

	exclusive_disarm(x, t->tid);
	t->in_exclusive = false;
	if (user_regs_get(t->tid, &u))
		return false;
	for (i = 0; i < x->nr_stops && x->stops[i].addr != u.pc; i++)
		;
	if (i < x->nr_stops) {
		retire_line(s, t, x->stops[i].nr_insns);
		if (x->stops[i].branch)
			branched(s, t, BRANCH_COND, 4, u.pc);
	} else {
		retire_line(s, t, (u.pc - t->pc) / 4);	/* a signal came inside */
	}
	tracee_look(t, u.pc);
	keep_regs(t, &u);
	return i < x->nr_stops;
}

/* ---- trails ---- */

struct steady_code {
	struct stepper *s;
	const struct tracee *t;
};

static size_t read_steady(void *ctx, uint64_t addr, uint8_t *out, size_t len)
{
	const struct steady_code *c = ctx;
	uint64_t most = steady_bytes(&c->s->steady, c->t->pid, addr);

	return most ? tracee_read_code(c->t->tid, addr, out, MIN((uint64_t)len, most)) : 0;
}

static uint64_t return_address(const struct tracee *t)
{
	uint64_t addr = 0;

	return t->insn.kind == INSN_RETURN &&
	       tracee_read_code(t->tid, t->sp, (uint8_t *)&addr, 8) == 8 ? addr : 0;
}

static bool plan(struct stepper *s, struct tracee *t)
{
	struct steady_code code = { s, t };
	uint64_t left = s->o->limit ? s->o->limit - MIN(s->o->limit, s->t.nr_insns) : UINT32_MAX;

	/* what the kernel will do first is not known, or not if nothing steps */
	if (!s->trails || t->deliver || t->rearm || t->restart || t->injected || t->idle_trap || t->leaving ||
	    t->insn.kind == INSN_SYSCALL)
		return false;
	trail_plan(&t->trail, t->pc, return_address(t), MIN(left, (uint64_t)UINT32_MAX), read_steady, &code);
	return t->trail.nr > 1;
}

static bool arm(struct tracee *t)
{
	uint64_t addr[TRAIL_STOPS];
	uint32_t i;

	for (i = 0; i < t->trail.nr_stops; i++)
		addr[i] = t->trail.stops[i].addr;
	if (trail_begins_at_stop(&t->trail) && !t->passes && user_pass_breakpoint(t->tid))
		return false;
	return !user_breakpoints_on(t->tid, &t->breakpoints, addr, t->trail.nr_stops);
}

bool tracee_trail(struct stepper *s, struct tracee *t)
{
	t->on_trail = plan(s, t) && arm(t);
	if (!t->on_trail)
		user_breakpoints_off(t->tid, &t->breakpoints);
	return t->on_trail;
}

static bool is_stop(const struct trail *trail, uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < trail->nr_stops; i++)
		if (trail->stops[i].addr == pc)
			return true;
	return false;
}

/*
 * Return whether it was one of our breakpoints, not the program's own trap. KVM before Linux 6.14 can give
 * DR6 back as it was at an earlier trap, or empty; the kernel then says "a step", or "a trap instruction",
 * where it was a breakpoint.  A program that steps itself has the trap flag set, and no trail has a trap
 * instruction.
 */
static bool is_breakpoint(int tid, const struct trail *trail, const struct user_regs *u)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &si) < 0)
		return false;
	return si.si_code == TRAP_HWBKPT || (si.si_code == TRAP_TRACE && !u->trap_flag) ||
	       (si.si_code == TRAP_BRKPT && is_stop(trail, u->pc));
}

bool tracee_left_trail(struct stepper *s, struct tracee *t, bool trapped)
{
	const struct trail *trail = &t->trail;
	struct user_regs u;
	bool hit;
	int i, nr;

	t->on_trail = false;
	if (user_regs_get(t->tid, &u))
		return false;
	hit = trapped && is_breakpoint(t->tid, trail, &u);
	nr = trail_passed(trail, u.pc, hit);
	for (i = 0; i < nr; i++) {
		t->pc = trail->at[i].pc;
		t->insn = trail->at[i].insn;
		memcpy(t->code, trail->at[i].code, sizeof(trail->at[i].code));
		retire_insn(s, t, i + 1 < nr ? trail->at[i + 1].pc : u.pc);
	}
	if (nr < 0) {		/* the kernel has put it elsewhere */
		s->t.nr_gaps++;
		branched(s, t, BRANCH_STOP, 0, t->pc);
		begin_block(t, u.pc);
	}
	tracee_look(t, u.pc);
	keep_regs(t, &u);
	return hit;
}

/* Note that the system call instruction was executed; it did not return to its own program. */
void tracee_exec(struct stepper *s, struct tracee *t)
{
	if (t->stepping) {
		tracee_count_insn(s, t);
		branched(s, t, BRANCH_EXEC, t->insn.len, 0);
	}
	report_run(s, t);
}

void tracee_exit(struct stepper *s, struct tracee *t)
{
	struct user_regs u;

	if (!t->stepping || user_regs_get(t->tid, &u))
		return;
	if (t->insn.kind == INSN_SYSCALL && u.pc == t->pc + t->insn.len)
		tracee_count_insn(s, t);
	branched(s, t, BRANCH_EXIT, 0, 0);
	report_run(s, t);
	t->stepping = false;
}

void tracee_pause(struct stepper *s, struct tracee *t)
{
	if (!t->stepping)
		return;
	branched(s, t, BRANCH_STOP, 0, t->pc);
	report_run(s, t);
	t->stepping = false;
}
