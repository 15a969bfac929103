// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wallstack.c - walks blocked threads from outside: registers are in their slot, the stack is read from
 * their memory, and both count only when the thread did not run meanwhile.
 */
#include <string.h>
#include <unistd.h>

#include "arch/arm64/regs.h"
#include "arch/cpu.h"
#include "arch/x86/regs.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/wall/wallstack.h"
#include "wall/polls.h"
#include "wall/switches.h"
#include "wall/syscalls.h"

enum { FIRST_BYTES = 4 << 10, GROWTH = 8, MOST_BYTES = 256 << 10 };

/* ---- the stack ---- */

static void set_reg(struct unwind_regs *r, unsigned int number, uint64_t value)
{
	r->r[number] = value;
	r->valid |= 1ull << number;
}

static void set_saved(const struct wall_regs *v, struct unwind_regs *r)
{
	if (cpu_host == &cpu_arm64) {
		set_reg(r, ARM64_FP, v->fp);
		set_reg(r, ARM64_LR, v->rbx);
		return;
	}
	set_reg(r, X86_RBP, v->fp);
	set_reg(r, X86_RBX, v->rbx);
	set_reg(r, X86_R12, v->r12);
	set_reg(r, X86_R13, v->r13);
	set_reg(r, X86_R14, v->r14);
	set_reg(r, X86_R15, v->r15);
}

/* all: also those that calls preserve; the kernel told no others. */
static void user_regs(const struct wall_regs *v, bool all, struct unwind_regs *r)
{
	*r = (struct unwind_regs){ .pc = v->pc, .sp = v->sp };
	set_reg(r, cpu_host->pc, v->pc);
	set_reg(r, cpu_host->sp, v->sp);
	if (all)
		set_saved(v, r);
}

/* Reading stops where the stack's mapping does: what is there before is returned. */
static size_t wallstack_read_stack(const struct wall_slot *s, uint8_t *buf, size_t len)
{
	ssize_t r = wall_read_memory(s->pid, s->regs.sp, buf, len);

	return r > 0 ? r : 0;
}

/* Return whether the thread has not moved until now. */
static bool still_there(struct collect *c, const struct wall_slot *s, const struct wall_slot *copy)
{
	if (walls_polled(c))
		return wall_stays(walls_switches(c), s);
	if (walls_switches(c))
		collect_merge(c, clock_mono_ns());
	fence_acquire();
	return load_relaxed(&s->block_nr) == copy->block_nr && load_relaxed(&s->tid) == copy->tid;
}

size_t wallstack_walk(struct collect *c, struct proc *p, const struct wall_slot *s,
		      const struct wall_slot *copy, struct frame *out)
{
	static uint8_t stack[MOST_BYTES];
	struct unwind_stack st = { copy->regs.sp, stack, 0 };
	size_t bytes = FIRST_BYTES, nr;
	struct unwind_regs regs;

	for (;;) {
		st.len = wallstack_read_stack(copy, stack, bytes);
		if (!still_there(c, s, copy))
			return 0;
		user_regs(&copy->regs, !walls_switches(c), &regs);
		nr = stack_user_dwarf(c, p, &regs, &st, out);
		if (st.len < bytes || bytes == MOST_BYTES || out[0].kind != FRAME_MARK ||
		    out[0].mark != MARK_TRUNCATED_STACK)
			return nr;
		bytes *= GROWTH;
	}
}

size_t wallstack_waker(struct collect *c, const struct wall_wake *at, struct frame *out)
{
	const struct thread *th = tasks_any(&c->tasks, at->tid);
	struct unwind_stack st = { at->regs.sp, at->stack, at->nr_bytes };
	struct unwind_regs regs;

	if (!at->nr_bytes || !th || th->proc->pid != (int)at->pid)
		return 0;
	user_regs(&at->regs, true, &regs);
	return th->proc->java ? stack_up_to_java(c, th->proc->java, &regs, &st, out) :
				stack_user_dwarf(c, th->proc, &regs, &st, out);
}

/* ---- the reason ---- */

const char *wallstack_class(enum wall_class class)
{
	static const char *const names[WALL_NR_CLASSES] = {
		[WALL_CLASS_OTHER] = "[system call]",
		[WALL_CLASS_FUTEX] = "[futex]",
		[WALL_CLASS_SLEEP] = "[sleep]",
		[WALL_CLASS_READ] = "[read]",
		[WALL_CLASS_WRITE] = "[write]",
		[WALL_CLASS_POLL] = "[poll]",
		[WALL_CLASS_FILE] = "[file system]",
		[WALL_CLASS_CHILD] = "[child process]",
		[WALL_CLASS_SIGNAL] = "[signal]",
		[WALL_CLASS_FAULT] = "[page fault]",
		[WALL_CLASS_STOPPED] = "[stopped]",
		[WALL_CLASS_KERNEL] = "[kernel]",
	};

	return names[MIN((unsigned int)class, (unsigned int)WALL_NR_CLASSES - 1)];
}

void wallstack_reason(const struct wall_slot *s, struct buf *text, struct waitfile *file)
{
	const struct wall_syscall *call = wall_syscall(s->syscall);

	buf_reset(text);
	waitfile_none(file);
	switch (s->class) {
	case WALL_CLASS_FUTEX:
	case WALL_CLASS_SLEEP:
	case WALL_CLASS_FAULT:
	case WALL_CLASS_STOPPED:
	case WALL_CLASS_KERNEL:
		buf_str(text, wallstack_class(s->class));
		return;
	}
	if (!call) {
		buf_fmt(text, "[system call %d]", s->syscall);
		return;
	}
	if ((call->files == WALL_FILE && call->class != WALL_CLASS_POLL) ||
	    (call->files == WALL_LIST && s->args[1] == 1))
		waitfile_look(s->pid, s->args[0], file);
	if (*file->kind)
		buf_fmt(text, "[%s: %s]", call->name, file->kind);
	else
		buf_fmt(text, "[%s]", call->name);
}

void wallstack_java_reason(enum wall_reason reason, const char *class, struct buf *text)
{
	static const char *const names[WALL_NR_REASONS] = {
		[WALL_UNKNOWN] = "[unknown]",
		[WALL_MONITOR] = "[monitor]",
		[WALL_PARK] = "[park]",
		[WALL_WAIT] = "[Object.wait]",
		[WALL_SLEEP] = "[sleep]",
		[WALL_SAFEPOINT] = "[safepoint]",
		[WALL_GC] = "[GC]",
		[WALL_IO] = "[I/O]",
		[WALL_LOCK] = "[VM lock]",
		[WALL_FAULT] = "[page fault]",
		[WALL_STOPPED] = "[stopped]",
		[WALL_OTHER] = "[system call]",
	};

	buf_reset(text);
	if (reason == WALL_PARK && class)
		buf_fmt(text, "[park: %s]", class);
	else
		buf_str(text, names[MIN((unsigned int)reason, WALL_NR_REASONS - 1u)]);
}
