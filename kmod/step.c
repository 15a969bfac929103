// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * step.c - a traced thread from trap to trap: which instruction was executed, whether it was a
 * branch, and the record of it.  Invariants: itrace.h.
 *
 * An instruction is read before it is executed, since it may write over itself, and a system
 * call over the registers.  What the trap flag does not do (Intel SDM volume 3, 18.3.1.4):
 *  - behind SYSCALL there is no trap, but behind the instruction after it: the kernel returns by
 *    IRET, and the flag it restores holds from the second instruction on;
 *  - a repeated string instruction traps behind each round;
 *  - PUSHF, and SYSCALL in r11, show the flag to the program, which may load it again.
 */
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/mman.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>
#include <asm/processor-flags.h>
#include "itrace.h"

#define HASH_BITS	8
#define ROOM_MIN	32		/* records that may come between a trap and its task work, and more */
#define SIGCONTEXT_IP	168		/* in the frame of rt_sigreturn, from the stack pointer on */
#define SIGCONTEXT_FLAGS	176
#define SYSCALL_LEN	2
#define CALLS_MAX	8		/* system calls without an instruction between them */
#define TIME_EVERY	128		/* records */

static struct table_bucket {
	raw_spinlock_t lock;
	struct hlist_head head;
} table[1 << HASH_BITS] = {
	[0 ... (1 << HASH_BITS) - 1].lock = __RAW_SPIN_LOCK_UNLOCKED(arcprof_table)
};

/* ---- the table ---- */

static struct table_bucket *step_bucket(const struct task_struct *task)
{
	return &table[hash_ptr(task, HASH_BITS)];
}

/* Look a thread up; its bucket must be locked. */
static struct thread *step_look_up(const struct table_bucket *b, const struct task_struct *task)
{
	struct thread *t;

	hlist_for_each_entry(t, &b->head, hash)
		if (t->task == task)
			return t;
	return NULL;
}

struct thread *thread_find_hook(const struct task_struct *task)
{
	struct table_bucket *b = step_bucket(task);
	struct thread *t;
	unsigned long flags;

	if (hlist_empty(&b->head))
		return NULL;
	raw_spin_lock_irqsave(&b->lock, flags);
	t = step_look_up(b, task);
	raw_spin_unlock_irqrestore(&b->lock, flags);
	return t;
}

static bool is_free(const struct itrace *it, const struct thread *t)
{
	const struct arcprof_ring *r = t->ring;

	if (t->task || t->work_bits || t->joining)
		return false;
	return !(r->flags & ARCPROF_RING_USED) ||
		((it->flags & ARCPROF_ITRACE_CONTINUOUS) && (r->flags & ARCPROF_RING_ENDED) &&
		 r->head == r->tail);
}

static void clear_ring(struct itrace *it, struct thread *t, const struct task_struct *task,
		       const struct task_struct *creator)
{
	struct arcprof_ring *r = t->ring;

	WRITE_ONCE(r->flags, 0);
	smp_wmb();
	it->past.steps += r->steps;
	it->past.insns += r->insns;
	it->past.records += r->head;
	it->past.lost += it->flags & ARCPROF_ITRACE_WRAP ? r->tail : 0;
	r->head = r->tail = r->steps = r->insns = 0;
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->creator = creator ? creator->tgid : 0;
	r->gen++;
	r->nr_records = it->nr_records;
	smp_wmb();
	WRITE_ONCE(r->flags, ARCPROF_RING_USED);
}

static struct thread *find_free(struct itrace *it)
{
	u32 i;

	if (it->stopped)
		return NULL;
	for (i = 0; i < it->nr_rings; i++)
		if (is_free(it, &it->thread[i]))
			return &it->thread[i];
	it->nr_refused++;
	return NULL;
}

struct thread *thread_new_hook(struct itrace *it, struct task_struct *task, const struct task_struct *creator,
			       bool waiting)
{
	struct table_bucket *b = step_bucket(task);
	struct thread *t = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&it->lock, flags);
	raw_spin_lock(&b->lock);
	if (!step_look_up(b, task))
		t = find_free(it);
	if (t) {
		clear_ring(it, t, task, creator);
		t->task = task;
		t->next = 0;
		t->waiting = waiting;
		t->joining = !creator;
		it->nr_threads++;
		it->nr_joined++;
		hlist_add_head(&t->hash, &b->head);
	}
	raw_spin_unlock(&b->lock);
	raw_spin_unlock_irqrestore(&it->lock, flags);
	return t;
}

bool thread_remove_hook(struct thread *t)
{
	struct itrace *it = t->it;
	struct table_bucket *b;
	unsigned long flags;
	bool in;

	raw_spin_lock_irqsave(&it->lock, flags);
	in = t->task && !hlist_unhashed(&t->hash);
	if (in) {
		b = step_bucket(t->task);
		raw_spin_lock(&b->lock);
		hlist_del_init(&t->hash);
		raw_spin_unlock(&b->lock);
	}
	raw_spin_unlock_irqrestore(&it->lock, flags);
	return in;
}

static void close_ring(struct thread *t)
{
	struct itrace *it = t->it;
	unsigned long flags;

	WRITE_ONCE(t->ring->flags, t->ring->flags | ARCPROF_RING_ENDED);
	raw_spin_lock_irqsave(&it->lock, flags);
	t->task = NULL;
	it->nr_threads--;
	raw_spin_unlock_irqrestore(&it->lock, flags);
	wake_up_interruptible(&it->readable);
}

/* ---- records ---- */

static u64 room(const struct thread *t)
{
	return t->it->nr_records - (t->ring->head - READ_ONCE(t->ring->tail));
}

static void step_put_record(struct thread *t, const struct arcprof_branch *record)
{
	struct arcprof_ring *r = t->ring;

	if (t->it->flags & ARCPROF_ITRACE_WRAP) {
		if (room(t) == 0)
			WRITE_ONCE(r->tail, r->tail + 1);
	} else if (room(t) == 0) {
		WRITE_ONCE(r->flags, r->flags | ARCPROF_RING_FULL);
		return;
	}
	t->record[t->next] = *record;
	if (++t->next == t->it->nr_records)
		t->next = 0;
	smp_store_release(&r->head, r->head + 1);
}

/* Report something to the reader within a block (ARCPROF_ITRACE_SYNC). */
static void step_put_note(struct thread *t, enum arcprof_branch_kind kind)
{
	struct arcprof_branch record = {
		.from = ktime_get_mono_fast_ns(),
		.to = t->ip,
		.kind = kind,
	};

	step_put_record(t, &record);
	if (kind != ARCPROF_BRANCH_TIME)
		itrace_queue_hook(t, WORK_SYNC);
}

static void put_block(struct thread *t, enum arcprof_branch_kind kind, u64 to, u8 len)
{
	struct arcprof_branch record = {
		.from = t->ip,
		.to = to,
		.nr_insns = min_t(u64, t->nr_insns, U32_MAX),
		.kind = kind,
		.len = len,
	};

	if ((t->it->flags & ARCPROF_ITRACE_SYNC) && t->next % TIME_EVERY == 0)
		step_put_note(t, ARCPROF_BRANCH_TIME);
	step_put_record(t, &record);
	t->nr_insns = 0;
}

/* Check that the ring has room for what may come; else the thread waits, or its trace ends. */
static void check_room(struct thread *t)
{
	u64 free = room(t);

	if (t->it->flags & ARCPROF_ITRACE_CONTINUOUS) {
		if (free < ROOM_MIN || free == t->it->nr_records / 2)
			itrace_queue_hook(t, WORK_WAKE);
	} else if (!(t->it->flags & ARCPROF_ITRACE_WRAP) && free <= 1) {
		WRITE_ONCE(t->ring->flags, t->ring->flags | ARCPROF_RING_FULL);
	}
}

/* ---- instructions ---- */

/* Fetch code by two loads where the general way is a loop, as this is done at every step. */
static bool fetch_within_page(u64 ip, u64 code[2])
{
	const u64 __user *from = (const u64 __user *)ip;
	bool good = false;

	pagefault_disable();
	if (user_read_access_begin(from, 16)) {
		unsafe_get_user(code[0], from, out);
		unsafe_get_user(code[1], from + 1, out);
		good = true;
out:
		user_read_access_end();
	}
	pagefault_enable();
	return good;
}

static bool step_fetch(u64 ip, struct branch_insn *insn)
{
	unsigned int in_page = PAGE_SIZE - (ip & ~PAGE_MASK), n = BRANCH_CODE_MAX;
	u64 code[2] = { 0 };
	u8 *bytes = (u8 *)code;

	if (in_page >= sizeof(code)) {
		if (!fetch_within_page(ip, code))
			return false;
	} else {
		if (copy_from_user_nofault(bytes, (void __user *)ip, in_page))
			return false;
		if (copy_from_user_nofault(bytes + in_page, (void __user *)(ip + in_page),
					   sizeof(code) - in_page))
			n = in_page;
	}
	*insn = branch_decode(bytes, n);
	return true;
}

/* Set the trap flag in flags that the program keeps in memory, in their second byte. */
static void patch_flags(u64 address, bool set)
{
	u8 __user *where = (u8 __user *)(address + 1);
	u8 byte, want;

	if (copy_from_user_nofault(&byte, where, 1))
		return;
	want = set ? byte | X86_EFLAGS_TF >> 8 : byte & ~(X86_EFLAGS_TF >> 8);
	if (want != byte)
		copy_to_user_nofault(where, &want, 1);
}

/* Note what is known of a system call only before it is executed. */
static void before_syscall(struct thread *t, const struct pt_regs *regs)
{
	bool last = false;

	t->flags = regs->flags;
	t->maps = false;
	switch (regs->ax) {
	case __NR_rt_sigreturn:
		if (copy_from_user_nofault(&t->resume_ip, (void __user *)(regs->sp + SIGCONTEXT_IP), 8))
			t->resume_ip = 0;
		patch_flags(regs->sp + SIGCONTEXT_FLAGS, true);
		break;
	case __NR_mmap:
		last = regs->r10 & MAP_FIXED;
		fallthrough;
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		t->maps = regs->dx & PROT_EXEC;
		break;
	case __NR_mremap:
		t->maps = true;
		fallthrough;
	case __NR_munmap:
	case __NR_exit:
	case __NR_exit_group:
	case __NR_execve:
	case __NR_execveat:
		last = true;
		break;
	}
	/* A child that is being created is left out. */
	if (last && (t->it->flags & ARCPROF_ITRACE_SYNC) && t->task == current)
		step_put_note(t, ARCPROF_BRANCH_LAST);
}

/* Prepare for the instruction at ip; the other registers are in regs. */
static void step_prepare(struct thread *t, struct pt_regs *regs, u64 ip)
{
	t->ip = ip;
	t->resume_ip = 0;
	t->known = step_fetch(t->ip, &t->insn);
	regs->flags |= X86_EFLAGS_TF;
	if (!t->known)
		return;
	if (t->insn.cls == CLASS_SYSCALL)
		before_syscall(t, regs);
	else if (t->insn.cls == CLASS_IRET)
		patch_flags(regs->sp + 16, true);
}

static void step_count(struct thread *t)
{
	t->ring->steps++;
	t->ring->insns++;
	t->nr_insns++;
}

/* Note that the instruction at t->ip was executed, and led to ip. */
static void executed(struct thread *t, u64 ip, const struct pt_regs *regs)
{
	const struct branch_insn *in = &t->insn;

	if (in->cls == CLASS_REPEATED && ip == t->ip) {
		t->ring->steps++;
		return;
	}
	step_count(t);
	switch (in->cls) {
	case CLASS_BRANCH:
		if (in->kind != ARCPROF_BRANCH_COND || ip != t->ip + in->len)
			put_block(t, in->kind, ip, in->len);
		return;
	case CLASS_IRET:
		put_block(t, ARCPROF_BRANCH_IRET, ip, in->len);
		return;
	case CLASS_PUSHF:
		patch_flags(regs->sp, false);
		break;
	}
	if (ip - t->ip - 1 >= BRANCH_CODE_MAX)
		put_block(t, ARCPROF_BRANCH_OTHER, ip, 0);
}

/*
 * Note that a system call was executed; t->ip is where the program continued. Nothing but the call itself
 * left the flags in r11, unless the next instruction wrote the same value there.
 */
static void after_syscall(struct thread *t, struct pt_regs *regs)
{
	step_count(t);
	if (t->resume_ip) {
		put_block(t, ARCPROF_BRANCH_IRET, t->resume_ip, t->insn.len);
		t->ip = t->resume_ip;
		t->resume_ip = 0;
	} else {
		t->ip += t->insn.len;
		if (regs->r11 == t->flags)
			regs->r11 &= ~X86_EFLAGS_TF;
		if (t->maps && (t->it->flags & ARCPROF_ITRACE_SYNC))
			step_put_note(t, ARCPROF_BRANCH_MAPS);
		t->maps = false;
	}
	if (!current->mm || !step_fetch(t->ip, &t->insn))	/* at its end it has no memory */
		t->insn = (struct branch_insn){ CLASS_PLAIN };
}

void thread_step_hook(struct thread *t, struct pt_regs *regs)
{
	bool alone = false;

	if (!t->known)
		t->known = step_fetch(t->ip, &t->insn);
	if (!t->known)
		t->insn = (struct branch_insn){ CLASS_PLAIN };
	while (t->insn.cls == CLASS_SYSCALL && !alone) {	/* a restarted one follows sigreturn */
		after_syscall(t, regs);
		/* where a trap does come right behind it, the next was not executed */
		alone = regs->ip == t->ip && t->insn.cls != CLASS_REPEATED && t->insn.cls != CLASS_BRANCH;
	}
	if (!alone)
		executed(t, regs->ip, regs);
	step_prepare(t, regs, regs->ip);
	check_room(t);
	if (t->ring->flags & ARCPROF_RING_FULL) {
		thread_end_hook(t, ARCPROF_BRANCH_STOP, regs->ip);
		regs->flags &= ~X86_EFLAGS_TF;
	}
}

void thread_settle_hook(struct thread *t, struct pt_regs *regs)
{
	int nr = 0;

	if (t->waiting || !t->known || regs->ip == t->ip)
		return;
	if (t->insn.cls == CLASS_TRAP && regs->ip == t->ip + t->insn.len) {
		step_count(t);
		t->ip = regs->ip;
		t->known = false;
	}
	if (t->insn.cls != CLASS_SYSCALL)
		return;
	/* One may follow another, and a call that is made again follows sigreturn: no trap came between. */
	while (t->insn.cls == CLASS_SYSCALL && regs->ip != t->ip && nr++ < CALLS_MAX)
		after_syscall(t, regs);
	if (regs->ip != t->ip)
		put_block(t, ARCPROF_BRANCH_OTHER, regs->ip, 0);
	t->ip = regs->ip;
	t->known = false;
}

void thread_exec_hook(struct thread *t)
{
	step_count(t);
	put_block(t, ARCPROF_BRANCH_EXEC, 0, t->known && t->insn.cls == CLASS_SYSCALL ? t->insn.len : 0);
}

void thread_handler_hook(struct thread *t, struct pt_regs *regs)
{
	put_block(t, ARCPROF_BRANCH_INTERRUPT, regs->ip, 0);
	step_prepare(t, regs, regs->ip);
}

/* Return the first ip: a thread that was asleep in a system call, and was woken for this, makes it again. */
static u64 first_ip(const struct pt_regs *regs)
{
	struct branch_insn insn;

	if ((long)regs->orig_ax < 0)
		return regs->ip;
	switch ((long)regs->ax) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		if (step_fetch(regs->ip - SYSCALL_LEN, &insn) && insn.cls == CLASS_SYSCALL &&
		    insn.len == SYSCALL_LEN)
			return regs->ip - SYSCALL_LEN;
	}
	return regs->ip;
}

void thread_begin_hook(struct thread *t, struct pt_regs *regs)
{
	struct arcprof_branch start = {
		.from = ktime_get_mono_fast_ns(),
		.to = first_ip(regs),
		.kind = ARCPROF_BRANCH_START,
	};

	t->waiting = false;
	t->nr_insns = 0;
	step_put_record(t, &start);
	step_prepare(t, regs, start.to);
}

void thread_end_hook(struct thread *t, enum arcprof_branch_kind kind, u64 to)
{
	if (!thread_remove_hook(t))
		return;
	if (!t->waiting)
		put_block(t, kind, to, 0);
	close_ring(t);
}

void thread_refuse_hook(struct thread *t, const struct pt_regs *regs)
{
	WRITE_ONCE(t->ring->flags, t->ring->flags | ARCPROF_RING_REFUSED);
	thread_end_hook(t, ARCPROF_BRANCH_STOP, regs->ip);
}

void thread_close_late(struct thread *t)
{
	t->removed = false;
	if (!t->waiting)
		put_block(t, ARCPROF_BRANCH_STOP, t->ip, 0);
	close_ring(t);
}
