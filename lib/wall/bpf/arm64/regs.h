/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - the user registers of a thread that entered the kernel. */
#ifndef WALL_BPF_REGS_H
#define WALL_BPF_REGS_H

struct pt_regs {
	__u64 regs[31], sp, pc, orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));

/* Read the registers; rbx is the link register, and x19 to x28 are not stored. */
static __always_inline void read_regs(struct wall_regs *v, const struct pt_regs *r)
{
	v->pc = FIELD(r, pc);
	v->sp = FIELD(r, sp);
	v->fp = FIELD(r, regs[29]);
	v->rbx = FIELD(r, regs[30]);
}

static __always_inline void read_call(struct wall_slot *s, const struct pt_regs *r)
{
	s->syscall = FIELD(r, syscallno);
	s->args[0] = FIELD(r, orig_x0);
	s->args[1] = FIELD(r, regs[1]);
	s->args[2] = FIELD(r, regs[2]);
}

static __always_inline __s32 syscall_of(const struct pt_regs *r)
{
	return FIELD(r, syscallno);
}

#endif
