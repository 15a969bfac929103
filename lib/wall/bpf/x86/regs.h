/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - the user registers of a thread that entered the kernel. */
#ifndef WALL_BPF_REGS_H
#define WALL_BPF_REGS_H

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r10, r9, r8, dx, si, di, orig_ax, ip, sp;
} __attribute__((preserve_access_index));

static __always_inline void read_regs(struct wall_regs *v, const struct pt_regs *r)
{
	v->pc = FIELD(r, ip);
	v->sp = FIELD(r, sp);
	v->fp = FIELD(r, bp);
	v->rbx = FIELD(r, bx);
	v->r12 = FIELD(r, r12);
	v->r13 = FIELD(r, r13);
	v->r14 = FIELD(r, r14);
	v->r15 = FIELD(r, r15);
}

static __always_inline void read_call(struct wall_slot *s, const struct pt_regs *r)
{
	s->syscall = FIELD(r, orig_ax);
	s->args[0] = FIELD(r, di);
	s->args[1] = FIELD(r, si);
	s->args[2] = FIELD(r, dx);
}

static __always_inline __s32 syscall_of(const struct pt_regs *r)
{
	return FIELD(r, orig_ax);
}

#endif
