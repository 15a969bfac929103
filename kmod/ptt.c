// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptt.c - the session of per-thread metrics: requests of user space, the area, start and stop.
 * What the numbers mean and which invariants hold: ptt.h.
 */
#include <linux/capability.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "ptt.h"

#define MAX_SLOTS	65536
#define CLOCK_SHIFT	40

static struct session *session;		/* under arcprof_mutex; hooks have their own pointer */
static u64 nr_sessions;

static int register_task(struct session *s, struct task_struct *task, struct arcprof_ptt_register *r)
{
	unsigned long flags;
	u32 idx;

	local_irq_save(flags);
	idx = slot_lookup_hook(s, task);
	if (!idx) {
		idx = slot_insert_hook(s, task);
		/* [3]: if its exit hook came before us, we clean up; if it comes now, it does. */
		if (idx && (READ_ONCE(task->flags) & PF_EXITING)) {
			idx = slot_remove_hook(s, task);
			if (idx)
				slot_bury_hook(s, idx);
			local_irq_restore(flags);
			return -ESRCH;
		}
	}
	local_irq_restore(flags);
	if (!idx)
		return -ENOSPC;
	r->slot = idx;
	r->gen = s->slot[idx].gen;
	/* if it has moved meanwhile, it was dispatched, and thereby found in the table */
	smp_call_function_single(task_cpu(task), hooks_adopt, s, 1);
	return 0;
}

static long with_task(struct arcprof_ptt_register *r,
		      int (*act)(struct session *, struct task_struct *, struct arcprof_ptt_register *))
{
	struct task_struct *task;
	long ret;

	if (r->reserved)
		return -EINVAL;
	if (!session)
		return -ENOENT;
	task = find_task(r->tid);
	if (!task)
		return -ESRCH;
	if (same_thread_group(task, current) || perfmon_capable())
		ret = act(session, task, r);
	else
		ret = -EPERM;
	put_task_struct(task);
	return ret;
}

long ptt_register(struct arcprof_ptt_register *arg)
{
	return with_task(arg, register_task);
}

static int unregister_task(struct session *s, struct task_struct *task, struct arcprof_ptt_register *r)
{
	unsigned long flags;
	u32 idx;

	local_irq_save(flags);
	idx = slot_remove_hook(s, task);
	local_irq_restore(flags);
	if (!idx)
		return -ESRCH;
	on_each_cpu(hooks_adopt, s, 1);
	/* [4]: no CPU has it now, nor finds it again */
	local_irq_save(flags);
	slot_bury_hook(s, idx);
	local_irq_restore(flags);
	return 0;
}

long ptt_unregister(struct arcprof_ptt_register *arg)
{
	return with_task(arg, unregister_task);
}

/* ---- the session ---- */

static void fill_header(struct session *s, const struct arcprof_ptt_start *arg)
{
	struct arcprof_ptt_header *h = s->header;
	u64 now[ARCPROF_MAX_METRICS];

	h->magic = ARCPROF_MAGIC;
	h->abi = ARCPROF_ABI;
	h->size = sizeof(*h);
	h->nr_metrics = arg->nr_metrics;
	h->nr_cpus = nr_cpu_ids;
	h->nr_slots = arg->nr_slots;
	h->shift = CLOCK_SHIFT;
	h->clock = CPU_CLOCK;
	h->mult = cpu_clock_mult(CLOCK_SHIFT);
	h->cpu_off = (u8 *)s->cpu - (u8 *)h;
	h->slot_off = (u8 *)s->slot - (u8 *)h;
	counters_read_hook(&s->counters, now);
	h->start = now[0];
	h->generation = ++nr_sessions;
	h->next_slot = 1;
	h->flags = arg->flags;
	memcpy(h->metric, arg->metric, arg->nr_metrics * sizeof(h->metric[0]));
}

static bool valid(const struct arcprof_ptt_start *arg)
{
	const u32 known = ARCPROF_PTT_NO_IRQ | ARCPROF_PTT_FOLLOW | ARCPROF_PTT_ALL | ARCPROF_PTT_KEEP;
	u32 i;

	if ((arg->flags & ~known) || arg->nr_slots < 2 || arg->nr_slots > MAX_SLOTS || arg->nr_metrics < 1 ||
	    arg->nr_metrics > ARCPROF_MAX_METRICS || arg->metric[0].type || arg->metric[0].config)
		return false;
	for (i = 0; i < ARCPROF_MAX_METRICS; i++)
		if (arg->metric[i].reserved ||
		    (i >= arg->nr_metrics && (arg->metric[i].type || arg->metric[i].config)))
			return false;
	return true;
}

static int allocate(struct session *s, const struct arcprof_ptt_start *arg)
{
	size_t cpus = nr_cpu_ids * sizeof(struct arcprof_cpu);
	size_t slots = (size_t)arg->nr_slots * sizeof(struct arcprof_slot);
	int r = area_alloc(&s->area, PAGE_ALIGN(sizeof(*s->header) + cpus + slots));
	u32 i;

	if (r)
		return r;
	s->header = s->area.mem;
	s->entry = kvcalloc(arg->nr_slots, sizeof(*s->entry), GFP_KERNEL_ACCOUNT);
	if (!s->entry)
		return -ENOMEM;
	s->cpu = (void *)(s->header + 1);
	s->slot = (void *)s->cpu + cpus;
	s->flags = arg->flags;
	raw_spin_lock_init(&s->lock);
	for (i = 0; i < ARRAY_SIZE(s->bucket); i++) {
		raw_spin_lock_init(&s->bucket[i].lock);
		INIT_HLIST_HEAD(&s->bucket[i].head);
	}
	return counters_open(&s->counters, arg->metric, arg->nr_metrics);
}

/* Close the area: whoever has it mapped sees the values of the end, and that it has ended. */
static void close_area(struct session *s)
{
	u32 i;

	s->header->generation = 0;
	for (i = 1; i < s->header->next_slot; i++) {
		write_begin(&s->slot[i].seq);
		s->slot[i].flags &= ~ARCPROF_SLOT_RUNNING;
		write_end(&s->slot[i].seq);
	}
}

static void destroy(struct session *s)
{
	hooks_detach(s);
	counters_close(&s->counters);
	if (s->header)
		close_area(s);
	kvfree(s->entry);
	area_free(&s->area);
	kvfree(s);
}

long ptt_start(struct arcprof_file *f, struct arcprof_ptt_start *arg)
{
	struct session *s;
	int r;

	if (!perfmon_capable())
		return -EPERM;
	r = security_locked_down(LOCKDOWN_PERF);
	if (r)
		return r;
	if (!cpu_has_clock())
		return -ENODEV;
	if (!valid(arg))
		return -EINVAL;
	if (session)
		return -EBUSY;
	s = kvzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	r = allocate(s, arg);
	if (!r) {
		fill_header(s, arg);
		r = hooks_attach(s);
	}
	if (r) {
		destroy(s);
		return r;
	}
	session = s;
	if (!(s->flags & ARCPROF_PTT_KEEP))
		f->ptt_generation = s->header->generation;
	arg->area_len = s->area.len;
	/* CPUs may run one thread for long: each begins now, not at its next event. */
	on_each_cpu(hooks_adopt, s, 1);
	return 0;
}

static void ptt_stop_counting(void)
{
	struct session *s = session;

	session = NULL;
	if (s)
		destroy(s);
}

static bool owned_by(const struct arcprof_file *f)
{
	return session && session->header->generation == f->ptt_generation;
}

long ptt_stop(struct arcprof_file *f)
{
	if (!session)
		return -ENOENT;
	if (!owned_by(f) && !perfmon_capable())
		return -EPERM;
	ptt_stop_counting();
	return 0;
}

int ptt_mmap(struct vm_area_struct *vma)
{
	if (!session)
		return -ENOENT;
	return area_map(&session->area, vma, vma->vm_pgoff);
}

void ptt_release(struct arcprof_file *f)
{
	if (owned_by(f))
		ptt_stop_counting();
}

void ptt_exit(void)
{
	ptt_stop_counting();
}
