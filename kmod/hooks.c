// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hooks.c - charges what was consumed, at each dispatch and each interrupt.  Invariants: ptt.h.
 */
#include <linux/interrupt.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include "ptt.h"
#include "vectors.h"

/* ---- the state of a CPU; interrupts are off in all of these ---- */

struct here {
	struct session *s;
	struct arcprof_cpu *cpu;
	struct arcprof_slot *slot;		/* of cur, or NULL */
	u64 now[ARCPROF_MAX_METRICS];
};

static void close_slot(struct here *h, const struct task_struct *task)
{
	h->slot->flags &= ~ARCPROF_SLOT_RUNNING;
	h->slot->faults = faults_of(task) - h->slot->fault_base;
}

static void first_event(struct here *h)
{
	struct arcprof_cpu *cpu = h->cpu;

	cpu->start = h->now[0];
	memcpy(cpu->last, h->now, sizeof(cpu->last));
	cpu->tid = current->pid;
	cpu->flags = ARCPROF_CPU_STARTED | (is_idle_task(current) ? ARCPROF_CPU_IDLE : 0);
}

/* [1]: what was consumed since the last event goes to the state that held since. */
static void charge_here(struct here *h)
{
	struct arcprof_cpu *cpu = h->cpu;
	bool in_irq = cpu->state & (ARCPROF_CPU_HARDIRQ | ARCPROF_CPU_SOFTIRQ);
	u64 ticks = h->now[0] - cpu->last[0];
	u64 *metrics = in_irq ? cpu->irq : h->slot ? h->slot->acc : NULL;
	u32 i;

	if (cpu->state & ARCPROF_CPU_HARDIRQ)
		cpu->bucket[ARCPROF_BUCKET_HARDIRQ] += ticks;
	else if (cpu->state & ARCPROF_CPU_SOFTIRQ)
		cpu->bucket[ARCPROF_BUCKET_SOFTIRQ] += ticks;
	else if (h->slot)
		cpu->bucket[ARCPROF_BUCKET_THREADS] += ticks;
	else if (cpu->flags & ARCPROF_CPU_IDLE)
		cpu->bucket[ARCPROF_BUCKET_IDLE] += ticks;
	else
		cpu->bucket[ARCPROF_BUCKET_OTHER] += ticks;
	if (in_irq && h->slot)
		h->slot->irq_time += ticks;
	for (i = 0; i < h->s->counters.nr; i++) {
		if (metrics)
			metrics[i] += h->now[i] - cpu->last[i];
		cpu->last[i] = h->now[i];
	}
}

/* Begins an event on this CPU: all is charged, the CPU's entry and cur's slot may be written. */
static void event_begin(struct here *h, struct session *s)
{
	h->s = s;
	h->cpu = &s->cpu[raw_smp_processor_id()];
	h->slot = h->cpu->cur ? &s->slot[h->cpu->cur] : NULL;
	counters_read_hook(&s->counters, h->now);
	write_begin(&h->cpu->seq);
	if (h->slot)
		write_begin(&h->slot->seq);
	if (!(h->cpu->flags & ARCPROF_CPU_STARTED))
		first_event(h);
	charge_here(h);
}

/*
 * Ends it.  All that was consumed is in acc, so that last is now; in an interrupt the thread
 * consumes nothing, and readers on other CPUs must not add anything.
 */
static void event_end(struct here *h)
{
	if (h->slot) {
		memcpy(h->slot->last, h->now, h->s->counters.nr * sizeof(h->now[0]));
		if (h->cpu->state)
			h->slot->flags &= ~ARCPROF_SLOT_RUNNING;
		else
			h->slot->flags |= ARCPROF_SLOT_RUNNING;
		write_end(&h->slot->seq);
	}
	write_end(&h->cpu->seq);
}

/* Set what runs here, idx or 0, within an event. */
static void set_current(struct here *h, u32 idx)
{
	if (h->slot)
		write_end(&h->slot->seq);
	h->cpu->cur = idx;
	h->slot = idx ? &h->s->slot[idx] : NULL;
	if (h->slot)
		write_begin(&h->slot->seq);
}

static void dispatch(struct here *h, const struct task_struct *task)
{
	struct arcprof_slot *slot = h->slot;
	u32 cpu = raw_smp_processor_id();

	if (slot->cpu != cpu && slot->dispatches)
		slot->migrations++;
	slot->cpu = cpu;
	slot->dispatches++;
	slot->faults = faults_of(task) - slot->fault_base;
}

/* ---- hooks ---- */

#ifdef SWITCH_HAS_STATE
static void switch_hook(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			unsigned int prev_state)
#else
static void switch_hook(void *data, bool preempt, struct task_struct *prev, struct task_struct *next)
#endif
{
	struct session *s = data;
	u32 idx = slot_lookup_hook(s, next);
	struct here h;

	/* PF_EXITING [3]: a task sets it itself, and next is not running. */
	if (!idx && (s->flags & ARCPROF_PTT_ALL) && !is_idle_task(next) && !(next->flags & PF_EXITING))
		idx = slot_insert_hook(s, next);
	event_begin(&h, s);
	h.cpu->nr_switches++;
	h.cpu->state = 0;		/* [2] */
	h.cpu->tid = next->pid;
	h.cpu->flags &= ~ARCPROF_CPU_IDLE;
	if (is_idle_task(next))
		h.cpu->flags |= ARCPROF_CPU_IDLE;
	if (h.slot) {
		h.slot->switches++;
		slot_names_hook(h.slot, prev);
		close_slot(&h, prev);
	}
	set_current(&h, idx);
	if (idx)
		dispatch(&h, next);
	event_end(&h);
}

static void irq_begin_hook(struct session *s, u32 kind)
{
	unsigned long flags;
	struct here h;

	local_irq_save(flags);
	event_begin(&h, s);
	h.cpu->state |= kind;
	if (kind == ARCPROF_CPU_HARDIRQ)
		h.cpu->nr_hardirqs++;
	else
		h.cpu->nr_softirqs++;
	if (h.slot && kind == ARCPROF_CPU_HARDIRQ)
		h.slot->interrupts++;
	event_end(&h);
	local_irq_restore(flags);
}

static void irq_end_hook(struct session *s, u32 kind)
{
	unsigned long flags;
	struct here h;

	local_irq_save(flags);
	event_begin(&h, s);
	if (!(h.cpu->state & kind))
		h.cpu->nr_lost++;
	else if (kind == ARCPROF_CPU_SOFTIRQ || hardirq_count() <= HARDIRQ_OFFSET)
		h.cpu->state &= ~kind;
	event_end(&h);
	local_irq_restore(flags);
}

static void irq_entry_hook(void *data, int irq, struct irqaction *action)
{
	irq_begin_hook(data, ARCPROF_CPU_HARDIRQ);
}

static void irq_exit_hook(void *data, int irq, struct irqaction *action, int ret)
{
	irq_end_hook(data, ARCPROF_CPU_HARDIRQ);
}

static void softirq_entry_hook(void *data, unsigned int nr)
{
	irq_begin_hook(data, ARCPROF_CPU_SOFTIRQ);
}

static void softirq_exit_hook(void *data, unsigned int nr)
{
	irq_end_hook(data, ARCPROF_CPU_SOFTIRQ);
}

static void vector_entry_hook(void *data, int vector)
{
	irq_begin_hook(data, ARCPROF_CPU_HARDIRQ);
}

static void vector_exit_hook(void *data, int vector)
{
	irq_end_hook(data, ARCPROF_CPU_HARDIRQ);
}

/* Runs in the task that ends. */
static void exit_hook(void *data, struct task_struct *task EXIT_GROUP)
{
	struct session *s = data;
	unsigned long flags;
	struct here h;
	u32 idx;

	local_irq_save(flags);
	idx = slot_remove_hook(s, task);
	if (idx) {
		event_begin(&h, s);
		if (h.cpu->cur == idx) {
			slot_names_hook(h.slot, task);
			close_slot(&h, task);
			set_current(&h, 0);
		}
		event_end(&h);
		slot_bury_hook(s, idx);
	}
	local_irq_restore(flags);
}

static void fork_hook(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct session *s = data;
	unsigned long flags;

	if (!(s->flags & ARCPROF_PTT_FOLLOW))
		return;
	local_irq_save(flags);
	if (slot_lookup_hook(s, parent) && !slot_lookup_hook(s, child))
		slot_insert_hook(s, child);
	local_irq_restore(flags);
}

static struct probe sched_probes[] = {
	{ "sched_process_exit", exit_hook },
	{ "sched_process_fork", fork_hook },
	{ "sched_switch", switch_hook },
	{}
};

#define VECTOR(name, optional)                                                                     \
	{ name "_entry", vector_entry_hook, optional },                                             \
	{ name "_exit", vector_exit_hook, optional },

static struct probe irq_probes[] = {
	{ "irq_handler_entry", irq_entry_hook },
	{ "irq_handler_exit", irq_exit_hook },
	{ "softirq_entry", softirq_entry_hook },
	{ "softirq_exit", softirq_exit_hook },
	CPU_VECTORS(VECTOR)
	{}
};

void hooks_adopt(void *data)
{
	struct session *s = data;
	unsigned long flags;
	struct here h;
	u32 idx;

	local_irq_save(flags);
	idx = slot_lookup_hook(s, current);
	event_begin(&h, s);
	if (h.cpu->cur != idx) {
		if (h.slot)
			close_slot(&h, current);
		set_current(&h, idx);
		if (idx)
			dispatch(&h, current);
	}
	event_end(&h);
	local_irq_restore(flags);
}

int hooks_attach(struct session *s)
{
	int r;

	check_trace_callback_type_sched_switch(switch_hook);
	check_trace_callback_type_sched_process_exit(exit_hook);
	check_trace_callback_type_sched_process_fork(fork_hook);
	check_trace_callback_type_irq_handler_entry(irq_entry_hook);
	check_trace_callback_type_irq_handler_exit(irq_exit_hook);
	check_trace_callback_type_softirq_entry(softirq_entry_hook);
	check_trace_callback_type_softirq_exit(softirq_exit_hook);
	cpu_check_vector_hook(vector_entry_hook);
	cpu_check_vector_hook(vector_exit_hook);
	r = probes_attach(sched_probes, s);
	if (!r && !(s->flags & ARCPROF_PTT_NO_IRQ))
		r = probes_attach(irq_probes, s);
	return r;
}

void hooks_detach(struct session *s)
{
	probes_detach(irq_probes, s);
	probes_detach(sched_probes, s);
}
