/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - the user registers of a thread that entered the kernel. */
#ifndef WALL_BPF_REGS_H
#define WALL_BPF_REGS_H

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r10, r9, r8, dx, si, di, orig_ax, ip, sp;
} __attribute__((preserve_access_index));

static __always_inline void read_regs(struct wall_slot *s, const struct pt_regs *r)
{
	s->regs.pc = r->ip;
	s->regs.sp = r->sp;
	s->regs.fp = r->bp;
	s->regs.rbx = r->bx;
	s->regs.r12 = r->r12;
	s->regs.r13 = r->r13;
	s->regs.r14 = r->r14;
	s->regs.r15 = r->r15;
	s->syscall = r->orig_ax;
	s->args[0] = r->di;
	s->args[1] = r->si;
	s->args[2] = r->dx;
}

static __always_inline __s32 syscall_of(const struct pt_regs *r)
{
	return r->orig_ax;
}

#endif
