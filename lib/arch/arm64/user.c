// SPDX-License-Identifier: GPL-2.0-or-later
/* user.c - registers and breakpoints of a traced arm64 thread (user.h). */
#ifdef __aarch64__
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "arch/user.h"

enum { PSTATE_32BIT = 0x10, ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

const bool arch_has_exclusive = true, arch_call_traps_twice = true;
const unsigned int arch_nr_breakpoints = 0;

static int arm64_get_regs(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = { r, sizeof(*r) };

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) < 0 ? -errno : 0;
}

int user_regs_get(pid_t tid, struct user_regs *u)
{
	struct user_regs_struct r;
	int64_t result;
	int ret = arm64_get_regs(tid, &r);

	if (ret)
		return ret;
	result = (int64_t)r.regs[0];
	u->pc = r.pc;
	u->sp = r.sp;
	u->nr = r.regs[8];
	u->arg[0] = r.regs[0];
	u->arg[1] = r.regs[1];
	u->arg[2] = r.regs[2];
	/*
	 * The kernel does not say whether it is in a system call; no other code leaves such a value behind an
	 * svc.
	 */
	u->restarts = result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
	u->trap_flag = false;	/* the bit that makes it step is not visible to the program */
	u->passes = false;
	u->foreign = r.pstate & PSTATE_32BIT;
	return 0;
}

void user_clean_pushed_flags(pid_t tid, const struct user_regs *u)
{
}

void user_clear_trap_flag(pid_t tid)
{
}

int user_breakpoints_on(pid_t tid, struct user_breakpoints *b, const uint64_t *addr, unsigned int nr)
{
	return -ENOTSUP;
}

void user_breakpoints_off(pid_t tid, struct user_breakpoints *b)
{
}

int user_pass_breakpoint(pid_t tid)
{
	return -ENOTSUP;
}
#endif
