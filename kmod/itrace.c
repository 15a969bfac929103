// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * itrace.c - sessions of the instruction trace: requests, and what happens to traced threads
 * beside their steps: signals, fork, exec, exit, debuggers.  Invariants: itrace.h.
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <asm/debugreg.h>
#include <asm/segment.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include "itrace.h"

#define MAX_RINGS	1024
#define MIN_RECORDS	64

/* ---- processes that may find a trap flag in their memory [3] ---- */

struct mark {
	struct hlist_node node;
	const struct signal_struct *process;
};

static HLIST_HEAD(marks);
static DEFINE_RAW_SPINLOCK(marks_lock);

static struct mark *find_mark(const struct signal_struct *process)
{
	struct mark *m;

	hlist_for_each_entry(m, &marks, node)
		if (m->process == process)
			return m;
	return NULL;
}

static bool is_marked_hook(const struct task_struct *task)
{
	unsigned long flags;
	bool found;

	if (hlist_empty(&marks))
		return false;
	raw_spin_lock_irqsave(&marks_lock, flags);
	found = find_mark(task->signal);
	raw_spin_unlock_irqrestore(&marks_lock, flags);
	return found;
}

static int mark_hook(const struct task_struct *task, gfp_t gfp)
{
	struct mark *m = kmalloc(sizeof(*m), gfp);
	unsigned long flags;

	if (!m)
		return -ENOMEM;
	m->process = task->signal;
	raw_spin_lock_irqsave(&marks_lock, flags);
	if (!find_mark(task->signal)) {
		hlist_add_head(&m->node, &marks);
		m = NULL;
	}
	raw_spin_unlock_irqrestore(&marks_lock, flags);
	if (m)
		kfree(m);
	else
		__module_get(THIS_MODULE);
	return 0;
}

static void unmark_hook(const struct task_struct *task)
{
	unsigned long flags;
	struct mark *m;

	if (hlist_empty(&marks))
		return;
	raw_spin_lock_irqsave(&marks_lock, flags);
	m = find_mark(task->signal);
	if (m)
		hlist_del(&m->node);
	raw_spin_unlock_irqrestore(&marks_lock, flags);
	if (m) {
		kfree(m);
		module_put(THIS_MODULE);
	}
}

/* ---- life of a session ---- */

static void free_itrace(struct itrace *it)
{
	area_free(&it->area);
	kvfree(it->thread);
	kfree(it);
}

/* Free a session that a thread's work outlived: it has held the module. */
static void free_late(struct rcu_head *rcu)
{
	free_itrace(container_of(rcu, struct itrace, rcu));
	module_put(THIS_MODULE);
}

/* ---- task work: what traps and hooks may not do ---- */

static bool must_wait(const struct thread *t, bool sync)
{
	const struct arcprof_ring *r = t->ring;
	u64 most = sync ? 0 : t->it->nr_records - t->it->nr_records / 4;

	return (t->it->flags & ARCPROF_ITRACE_CONTINUOUS) && !READ_ONCE(t->it->stopped) &&
	       r->head - READ_ONCE(r->tail) > most;
}

/* Begin a thread; called in a thread of our own, not for a child that is being created. */
static void begin_hook(struct thread *t, struct pt_regs *regs)
{
	thread_begin_hook(t, regs);
	if (t->it->flags & ARCPROF_ITRACE_SYNC)
		itrace_queue_hook(t, WORK_SYNC);
}

/* Begin a thread that another one has joined. */
static void begin_late_hook(struct thread *t)
{
	struct pt_regs *regs = task_pt_regs(current);

	if (!t->waiting)
		return;		/* its exec came first */
	if (current->ptrace || regs->cs != __USER_CS || mark_hook(current, GFP_ATOMIC))
		thread_refuse_hook(t, regs);
	else
		begin_hook(t, regs);
}

static void itrace_work(struct callback_head *head);

/*
 * Return whether to queue again, behind others, before a wait: the files that an exec closed are closed
 * there, and a reader may wait for the end of a pipe.
 */
static bool goes_last(struct thread *t)
{
	if (test_and_set_bit(WORK_LAST, &t->work_bits))
		return false;
	init_task_work(&t->work, itrace_work);
	return !task_work_add(current, &t->work, TWA_RESUME);
}

/* Runs before the thread returns to user mode. */
static void itrace_work(struct callback_head *head)
{
	struct thread *t = container_of(head, struct thread, work);
	struct itrace *it = t->it;
	bool exiting = current->flags & PF_EXITING, begin, handler, wake, sync;

	begin = test_and_clear_bit(WORK_BEGIN, &t->work_bits);
	handler = test_and_clear_bit(WORK_HANDLER, &t->work_bits);
	rcu_read_lock();	/* [1] */
	if ((begin || handler) && !exiting && thread_find_hook(current) == t) {
		if (begin)
			begin_late_hook(t);
		else
			thread_handler_hook(t, task_pt_regs(current));
	}
	rcu_read_unlock();
	wake = test_bit(WORK_WAKE, &t->work_bits);
	sync = test_bit(WORK_SYNC, &t->work_bits);
	if ((wake || sync) && !exiting) {
		if (goes_last(t))
			return;
		wake_up_interruptible(&it->readable);
		wait_event_killable(it->room, !must_wait(t, sync));
	}
	clear_bit(WORK_WAKE, &t->work_bits);
	clear_bit(WORK_SYNC, &t->work_bits);
	clear_bit(WORK_LAST, &t->work_bits);
	clear_bit(WORK_QUEUED, &t->work_bits);
	if (refcount_dec_and_test(&it->refs))
		call_rcu(&it->rcu, free_late);
}

/* Queue work; return false if the task is exiting. */
static bool queue_hook(struct thread *t, struct task_struct *task, enum thread_work why)
{
	set_bit(why, &t->work_bits);
	if (test_and_set_bit(WORK_QUEUED, &t->work_bits))
		return true;
	refcount_inc(&t->it->refs);
	init_task_work(&t->work, itrace_work);
	if (!task_work_add(task, &t->work, TWA_RESUME))
		return true;
	t->work_bits = 0;
	refcount_dec(&t->it->refs);	/* the descriptor's, or the session's end, is another */
	return false;
}

void itrace_queue_hook(struct thread *t, enum thread_work why)
{
	queue_hook(t, current, why);
}

/* ---- traps ---- */

static atomic64_t nr_stray;		/* since the module was loaded */

/* Handle a trap of ours in a thread that we do not trace [3]. */
static int stray(struct pt_regs *regs)
{
	if (!is_marked_hook(current) || (current->ptrace && test_thread_flag(TIF_SINGLESTEP)))
		return NOTIFY_DONE;
	regs->flags &= ~X86_EFLAGS_TF;
	atomic64_inc(&nr_stray);
	return NOTIFY_STOP;
}

static int handled(struct thread *t, struct pt_regs *regs)
{
	if (current->ptrace) {	/* [4] */
		bool ours = !test_thread_flag(TIF_SINGLESTEP);

		thread_step_hook(t, regs);
		thread_end_hook(t, ARCPROF_BRANCH_STOP, regs->ip);
		if (!ours)
			return NOTIFY_DONE;
		regs->flags &= ~X86_EFLAGS_TF;
		return NOTIFY_STOP;
	}
	thread_step_hook(t, regs);
	return NOTIFY_STOP;
}

static int trap_hook(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;
	struct pt_regs *regs = args->regs;
	unsigned long *dr6;
	struct thread *t;
	int r;

	if (event != DIE_DEBUG || !user_mode(regs))
		return NOTIFY_DONE;
	dr6 = (unsigned long *)args->err;
	if (!(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	t = thread_find_hook(current);
	if (t && t->waiting)
		t = NULL;
	r = t ? handled(t, regs) : stray(regs);
	if (r == NOTIFY_DONE)
		return r;
	/*
	 * Beside a step a CPU may report breakpoints that are not enabled, whose old address is
	 * met.  True ones of the thread are in virtual_dr6 by now: the notifier of breakpoints was
	 * first.
	 */
	*dr6 &= ~(DR_STEP | DR_TRAP_BITS);
	current->thread.virtual_dr6 &= ~DR_STEP;
	return current->thread.virtual_dr6 & DR_TRAP_BITS ? NOTIFY_DONE : NOTIFY_STOP;
}

/*
 * Run after the notifiers of hardware breakpoints, which leave the steps alone, and of uprobes, which
 * make their own.
 */
static struct notifier_block trap_notifier = {
	.notifier_call = trap_hook,
	.priority = INT_MAX - 2,
};

/* ---- what else happens to threads ---- */

static void signal_hook(void *data, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct thread *t = thread_find_hook(current);

	if (!t || t->waiting || ka->sa.sa_handler == SIG_DFL || ka->sa.sa_handler == SIG_IGN)
		return;
	thread_settle_hook(t, task_pt_regs(current));
	/* The kernel clears the flag for the handler: set it again when its frame is there. */
	itrace_queue_hook(t, WORK_HANDLER);
}

static void fork_hook(void *data, struct task_struct *parent, struct task_struct *child)
{
	bool thread = same_thread_group(parent, child), follow;
	struct pt_regs *regs = task_pt_regs(child);
	struct thread *t, *c = NULL;

	if ((child->flags & (PF_KTHREAD | PF_IO_WORKER)) || !is_marked_hook(parent))
		return;
	t = thread_find_hook(parent);
	follow =
		t && !t->waiting && (t->it->flags & (thread ? ARCPROF_ITRACE_THREADS : ARCPROF_ITRACE_FORKS));
	regs->flags &= ~X86_EFLAGS_TF;
	if (!thread && mark_hook(child, GFP_ATOMIC))
		return;
	if (follow)
		c = thread_new_hook(t->it, child, parent, false);
	if (c)
		thread_begin_hook(c, regs);
}

/*
 * Return whether to follow an exec: a process that was not given the rights which the program gained must not
 * watch it.
 */
static bool may_follow(const struct itrace *it, const struct linux_binprm *bprm)
{
	return it->privileged || !(bprm->secureexec || (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP));
}

static void exec_hook(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct thread *t = thread_find_hook(current);
	struct pt_regs *regs = task_pt_regs(current);

	if (t && !t->waiting)
		thread_exec_hook(t);
	if (t && (!may_follow(t->it, bprm) || regs->cs != __USER_CS || current->ptrace ||
		  mark_hook(current, GFP_ATOMIC))) {
		thread_refuse_hook(t, regs);
		t = NULL;
	}
	if (!t) {
		unmark_hook(current);
		return;
	}
	t->ring->tid = current->pid;
	t->ring->tgid = current->tgid;
	begin_hook(t, regs);
}

static void exit_hook(void *data, struct task_struct *task EXIT_GROUP)
{
	struct thread *t = thread_find_hook(task);

	if (t) {
		thread_settle_hook(t, task_pt_regs(task));
		thread_end_hook(t, ARCPROF_BRANCH_EXIT, 0);
	}
	if (!atomic_read(&task->signal->live))
		unmark_hook(task);
}

static struct probe probes[] = {
	{ "sched_process_exit", exit_hook },
	{ "sched_process_exec", exec_hook },
	{ "sched_process_fork", fork_hook },
	{ "signal_deliver", signal_hook },
	{}
};

/* ---- the hooks are there while there are sessions or marks ---- */

static u32 nr_sessions;
static bool attached;

static int itrace_attach(void)
{
	int r;

	if (attached)
		return 0;
	r = probes_attach(probes, NULL);
	if (r)
		return r;
	r = register_die_notifier(&trap_notifier);
	if (r)
		probes_detach(probes, NULL);
	attached = !r;
	return r;
}

static void detach_if_idle(void)
{
	if (!attached || nr_sessions || !hlist_empty(&marks))
		return;
	probes_detach(probes, NULL);
	unregister_die_notifier(&trap_notifier);
	attached = false;
}

/* ---- requests ---- */

static int allocate(struct itrace *it)
{
	int r = area_alloc(&it->area, it->stride * it->nr_rings);
	u32 i;

	if (r)
		return r;
	it->thread = kvcalloc(it->nr_rings, sizeof(*it->thread), GFP_KERNEL_ACCOUNT);
	if (!it->thread)
		return -ENOMEM;
	for (i = 0; i < it->nr_rings; i++) {
		struct thread *t = &it->thread[i];

		t->it = it;
		t->ring = it->area.mem + i * it->stride;
		t->record = (void *)t->ring + ARCPROF_RING_RECORDS;
		INIT_HLIST_NODE(&t->hash);
	}
	return 0;
}

static bool valid(const struct arcprof_itrace_start *arg)
{
	const u32 modes = ARCPROF_ITRACE_WRAP | ARCPROF_ITRACE_CONTINUOUS;
	const u32 known = modes | ARCPROF_ITRACE_THREADS | ARCPROF_ITRACE_FORKS | ARCPROF_ITRACE_SYNC;

	if ((arg->flags & ARCPROF_ITRACE_SYNC) && !(arg->flags & ARCPROF_ITRACE_CONTINUOUS))
		return false;

	return !(arg->flags & ~known) && (arg->flags & modes) != modes && !arg->reserved &&
		arg->nr_rings >= 1 && arg->nr_rings <= MAX_RINGS && arg->nr_records >= MIN_RECORDS &&
		arg->nr_records <= AREA_MAX / sizeof(struct arcprof_branch);
}

long itrace_start(struct arcprof_file *f, struct arcprof_itrace_start *arg)
{
	struct itrace *it;
	int r;

	if (!valid(arg))
		return -EINVAL;
	if (f->itrace)
		return -EBUSY;
	it = kzalloc(sizeof(*it), GFP_KERNEL_ACCOUNT);
	if (!it)
		return -ENOMEM;
	it->owner = current->files;
	it->flags = arg->flags;
	it->nr_rings = arg->nr_rings;
	it->nr_records = arg->nr_records;
	it->stride = PAGE_ALIGN(ARCPROF_RING_RECORDS + arg->nr_records * sizeof(struct arcprof_branch));
	it->privileged = capable(CAP_SYS_PTRACE);
	refcount_set(&it->refs, 1);
	raw_spin_lock_init(&it->lock);
	init_waitqueue_head(&it->readable);
	init_waitqueue_head(&it->room);
	r = allocate(it);
	if (!r)
		r = itrace_attach();
	if (r) {
		free_itrace(it);
		return r;
	}
	__module_get(THIS_MODULE);
	nr_sessions++;
	smp_store_release(&f->itrace, it);	/* poll() takes no lock */
	arg->ring_stride = it->stride;
	arg->area_len = it->area.len;
	return 0;
}

static int join_self(struct itrace *it, bool at_exec, struct thread **joined)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct thread *t;

	if (regs->cs != __USER_CS)
		return -EOPNOTSUPP;
	if (mark_hook(current, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	preempt_disable();
	t = thread_new_hook(it, current, NULL, at_exec);
	if (t && !at_exec)
		begin_hook(t, regs);
	preempt_enable();
	*joined = t;
	return t ? 0 : -ENOSPC;
}

/* Return whether the task is the caller's own: a child that has executed nothing still is. */
static bool itrace_task_is_own(const struct task_struct *task)
{
	bool own;

	rcu_read_lock();
	own = (task->flags & PF_FORKNOEXEC) && same_thread_group(rcu_dereference(task->real_parent), current);
	rcu_read_unlock();
	return own;
}

static int join_other(struct itrace *it, struct task_struct *task, bool at_exec, struct thread **joined)
{
	struct thread *t;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return -EPERM;
	if (!itrace_task_is_own(task) && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	*joined = t = thread_new_hook(it, task, NULL, true);
	if (!t)
		return -ENOSPC;
	if (!(READ_ONCE(task->flags) & PF_EXITING) && (at_exec || queue_hook(t, task, WORK_BEGIN)))
		return 0;
	thread_end_hook(t, ARCPROF_BRANCH_EXIT, 0);	/* unless its exit hook did [2] */
	return -ESRCH;
}

long itrace_join(struct arcprof_file *f, struct arcprof_itrace_join *arg)
{
	bool at_exec = arg->flags & ARCPROF_ITRACE_AT_EXEC;
	struct task_struct *task;
	struct thread *t = NULL;
	int r;

	if (arg->flags & ~ARCPROF_ITRACE_AT_EXEC)
		return -EINVAL;
	if (!f->itrace || f->itrace->stopped)
		return -ENXIO;
	task = find_task(arg->tid);
	if (!task)
		return -ESRCH;
	if (task->ptrace || thread_find_hook(task))
		r = -EBUSY;
	else if (task == current)
		r = join_self(f->itrace, at_exec, &t);
	else
		r = join_other(f->itrace, task, at_exec, &t);
	put_task_struct(task);
	if (t) {
		arg->ring = t - f->itrace->thread;
		WRITE_ONCE(t->joining, false);
	}
	return r;
}

static void itrace_thread_leaves(struct thread *t)
{
	struct pt_regs *regs = task_pt_regs(current);

	thread_settle_hook(t, regs);
	thread_end_hook(t, ARCPROF_BRANCH_STOP, regs->ip);
	regs->flags &= ~X86_EFLAGS_TF;
	regs->r11 &= ~X86_EFLAGS_TF;	/* the system call we are in put the flags there */
}

long itrace_leave(struct arcprof_file *f)
{
	struct thread *t = thread_find_hook(current);

	if (!f->itrace || !t || t->it != f->itrace)
		return -ENXIO;
	itrace_thread_leaves(t);
	return 0;
}

/* Other threads are not written to: their next trap is a stray one, which clears their flag. */
long itrace_stop(struct arcprof_file *f)
{
	struct itrace *it = f->itrace;
	struct thread *own = thread_find_hook(current);
	unsigned long flags;
	bool any = false;
	u32 i;

	if (!it)
		return -ENXIO;
	raw_spin_lock_irqsave(&it->lock, flags);
	it->stopped = true;
	raw_spin_unlock_irqrestore(&it->lock, flags);
	wake_up(&it->room);
	if (own && own->it == it)
		itrace_thread_leaves(own);
	for (i = 0; i < it->nr_rings; i++) {
		it->thread[i].removed = thread_remove_hook(&it->thread[i]);
		any |= it->thread[i].removed;
	}
	if (any)
		synchronize_rcu();	/* [1] */
	for (i = 0; i < it->nr_rings; i++)
		if (it->thread[i].removed)
			thread_close_late(&it->thread[i]);
	return 0;
}

long itrace_stat(struct arcprof_file *f, struct arcprof_itrace_stat *arg)
{
	struct itrace *it = f->itrace;
	unsigned long flags;
	u32 i;

	if (!it)
		return -ENXIO;
	raw_spin_lock_irqsave(&it->lock, flags);
	*arg = it->past;
	for (i = 0; i < it->nr_rings; i++) {
		const struct arcprof_ring *r = it->thread[i].ring;

		arg->steps += r->steps;
		arg->insns += r->insns;
		arg->records += r->head;
		arg->lost += it->flags & ARCPROF_ITRACE_WRAP ? r->tail : 0;
	}
	arg->size = sizeof(*arg);
	arg->stray = atomic64_read(&nr_stray);
	arg->nr_threads = it->nr_threads;
	arg->nr_refused = it->nr_refused;
	raw_spin_unlock_irqrestore(&it->lock, flags);
	return 0;
}

long itrace_consume(struct arcprof_file *f, struct arcprof_itrace_consume *arg)
{
	struct itrace *it = f->itrace;
	struct arcprof_ring *r;

	if (!it)
		return -ENXIO;
	if (it->flags & ARCPROF_ITRACE_WRAP || arg->ring >= it->nr_rings)
		return -EINVAL;
	r = it->thread[array_index_nospec(arg->ring, it->nr_rings)].ring;
	if (arg->tail < r->tail || arg->tail > smp_load_acquire(&r->head))
		return -EINVAL;
	smp_store_release(&r->tail, arg->tail);
	wake_up(&it->room);
	return 0;
}

int itrace_mmap(struct arcprof_file *f, struct vm_area_struct *vma)
{
	if (!f->itrace)
		return -ENXIO;
	/* A mapping keeps the session, and its memory: children have no use for one. */
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_set(vma, VM_DONTCOPY);
#else
	vma->vm_flags |= VM_DONTCOPY;
#endif
	return area_map(&f->itrace->area, vma, vma->vm_pgoff - (ARCPROF_MMAP_ITRACE >> PAGE_SHIFT));
}

/* Readable: there are records. Hung up: there will be none, as all who joined have ended. */
__poll_t itrace_poll(struct arcprof_file *f, struct file *file, struct poll_table_struct *wait)
{
	struct itrace *it = smp_load_acquire(&f->itrace);
	__poll_t events = 0;
	u32 i;

	if (!it)
		return EPOLLERR;
	poll_wait(file, &it->readable, wait);
	if (it->nr_joined && !it->nr_threads)
		events |= EPOLLHUP;
	for (i = 0; i < it->nr_rings; i++) {
		const struct arcprof_ring *r = it->thread[i].ring;

		if (smp_load_acquire(&r->head) != READ_ONCE(r->tail))
			return events | EPOLLIN;
	}
	return events;
}

/* End the trace when the process that started it is gone: threads with the descriptor would wait in vain. */
void itrace_flush(struct arcprof_file *f, fl_owner_t who)
{
	if (f->itrace && f->itrace->owner == who)
		itrace_stop(f);
}

void itrace_release(struct arcprof_file *f)
{
	struct itrace *it = f->itrace;

	if (it) {
		itrace_stop(f);
		f->itrace = NULL;
		nr_sessions--;
		if (refcount_dec_and_test(&it->refs)) {
			synchronize_rcu();	/* hooks of threads whose trace ended by itself */
			free_itrace(it);
			module_put(THIS_MODULE);	/* the descriptor holds it too */
		}
	}
	detach_if_idle();
}

int itrace_init(void)
{
	BUILD_BUG_ON(sizeof(struct arcprof_branch) != 24);
	BUILD_BUG_ON(sizeof(struct arcprof_ring) != 256);
	check_trace_callback_type_sched_process_exit(exit_hook);
	check_trace_callback_type_sched_process_exec(exec_hook);
	check_trace_callback_type_sched_process_fork(fork_hook);
	check_trace_callback_type_signal_deliver(signal_hook);
	return 0;
}

/* Sessions and marks hold the module, so there are none. */
void itrace_exit(void)
{
	nr_sessions = 0;
	detach_if_idle();
	rcu_barrier();
}
