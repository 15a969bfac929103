// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef __x86_64__
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/user.h"

enum { USER_CS = 0x33, TRAP_FLAG = 0x100, ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

const bool arch_has_exclusive = false;

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
#endif
