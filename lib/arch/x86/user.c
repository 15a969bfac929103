// SPDX-License-Identifier: GPL-2.0-or-later
/* user.c - registers and breakpoints of a traced x86-64 thread (user.h). */
#ifdef __x86_64__
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/user.h"

enum {
	USER_CS = 0x33, TRAP_FLAG = 0x100, RESUME_FLAG = 0x10000, ERESTARTSYS = 512,
	ERESTART_RESTARTBLOCK = 516
};

const bool arch_has_exclusive = false, arch_call_traps_twice = false;
const unsigned int arch_nr_breakpoints = USER_BREAKPOINTS;

int user_regs_get(pid_t tid, struct user_regs *u)
{
	struct user_regs_struct r;
	int64_t result;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0)
		return -errno;
	result = (int64_t)r.rax;
	u->pc = r.rip;
	u->sp = r.rsp;
	u->nr = r.rax;
	u->arg[0] = r.rdi;
	u->arg[1] = r.rsi;
	u->arg[2] = r.rdx;
	u->restarts = (int64_t)r.orig_rax >= 0 && result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
	u->trap_flag = r.eflags & TRAP_FLAG;
	u->passes = r.eflags & RESUME_FLAG;
	u->foreign = r.cs != USER_CS;
	return 0;
}

void user_clean_pushed_flags(pid_t tid, const struct user_regs *u)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, tid, u->sp, NULL);
	if (!errno && word & TRAP_FLAG)
		ptrace(PTRACE_POKEDATA, tid, u->sp, word & ~(long)TRAP_FLAG);
}

void user_clear_trap_flag(pid_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0 || !(r.eflags & TRAP_FLAG))
		return;
	r.eflags &= ~(unsigned long long)TRAP_FLAG;
	ptrace(PTRACE_SETREGS, tid, NULL, &r);
}

static int put_debug_register(pid_t tid, unsigned int nr, uint64_t value)
{
	size_t off = offsetof(struct user, u_debugreg) + nr * sizeof(((struct user *)0)->u_debugreg[0]);

	return ptrace(PTRACE_POKEUSER, tid, off, value) < 0 ? -errno : 0;
}

/* Return the bits of DR7: two enable a register; the rest is 0 for instructions. */
static uint32_t enable(unsigned int nr)
{
	return 1u << 2 * nr;
}

static int x86_debug_control(pid_t tid, struct user_breakpoints *b, uint32_t on)
{
	int r = on == b->on ? 0 : put_debug_register(tid, 7, on);

	b->on = r ? b->on : on;
	return r;
}

/* Return the registers that have one of the addresses already; missing: the addresses that none has. */
static uint32_t x86_keep_breakpoints(const struct user_breakpoints *b, const uint64_t *addr, unsigned int nr,
				     uint64_t *missing, unsigned int *nr_missing)
{
	uint32_t kept = 0;
	unsigned int i, k;

	*nr_missing = 0;
	for (i = 0; i < nr; i++) {
		for (k = 0; k < USER_BREAKPOINTS && (b->addr[k] != addr[i] || kept & enable(k)); k++)
			;
		if (k < USER_BREAKPOINTS)
			kept |= enable(k);
		else
			missing[(*nr_missing)++] = addr[i];
	}
	return kept;
}

/* Changing a breakpoint that is on takes the kernel longer than turning all of them off and on. */
int user_breakpoints_on(pid_t tid, struct user_breakpoints *b, const uint64_t *addr, unsigned int nr)
{
	uint64_t missing[USER_BREAKPOINTS];
	unsigned int nr_missing, k;
	uint32_t on = x86_keep_breakpoints(b, addr, nr, missing, &nr_missing);
	int r = nr_missing ? x86_debug_control(tid, b, 0) : 0;

	for (k = 0; k < USER_BREAKPOINTS && nr_missing && !r; k++) {
		if (on & enable(k))
			continue;
		r = put_debug_register(tid, k, missing[--nr_missing]);
		b->addr[k] = r ? 0 : missing[nr_missing];
		on |= enable(k);
	}
	if (!r)
		r = x86_debug_control(tid, b, on);
	if (r)
		user_breakpoints_off(tid, b);
	return r;
}

void user_breakpoints_off(pid_t tid, struct user_breakpoints *b)
{
	x86_debug_control(tid, b, 0);
}

int user_pass_breakpoint(pid_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0)
		return -errno;
	r.eflags |= RESUME_FLAG;
	return ptrace(PTRACE_SETREGS, tid, NULL, &r) < 0 ? -errno : 0;
}
#endif
