// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slots.c - which thread has which slot.  Invariants and locks: ptt.h.
 */
#include <linux/hash.h>
#include "ptt.h"

/* ---- the table of registered tasks ---- */

static struct bucket *slot_bucket(struct session *s, const struct task_struct *task)
{
	return &s->bucket[hash_ptr(task, HASH_BITS)];
}

static u32 lookup_locked(struct session *s, struct bucket *b, const struct task_struct *task)
{
	struct entry *e;

	hlist_for_each_entry(e, &b->head, hash)
		if (e->task == task)
			return e - s->entry;
	return 0;
}

u32 slot_lookup_hook(struct session *s, const struct task_struct *task)
{
	struct bucket *b = slot_bucket(s, task);
	u32 idx;

	if (hlist_empty(&b->head))
		return 0;
	raw_spin_lock(&b->lock);
	idx = lookup_locked(s, b, task);
	raw_spin_unlock(&b->lock);
	return idx;
}

u32 slot_remove_hook(struct session *s, const struct task_struct *task)
{
	struct bucket *b = slot_bucket(s, task);
	u32 idx;

	raw_spin_lock(&b->lock);
	idx = lookup_locked(s, b, task);
	if (idx)
		hlist_del(&s->entry[idx].hash);
	raw_spin_unlock(&b->lock);
	return idx;
}

/* ---- slots ---- */

/* Add the values of an ended thread to slot 0 before its slot is another's. */
static void fold_slot(struct session *s, struct arcprof_slot *from)
{
	struct arcprof_slot *to = &s->slot[0];
	u32 i;

	write_begin(&to->seq);
	to->dispatches += from->dispatches;
	to->interrupts += from->interrupts;
	for (i = 0; i < s->counters.nr; i++)
		to->acc[i] += from->acc[i];
	to->irq_time += from->irq_time;
	to->switches += from->switches;
	to->migrations += from->migrations;
	to->faults += from->faults;
	write_end(&to->seq);
	s->header->nr_recycled++;
}

/* Return an unused slot, or 0; the lock is held. */
static u32 take_slot(struct session *s)
{
	u32 idx;

	if (s->header->next_slot < s->header->nr_slots)
		return s->header->next_slot++;
	idx = s->dead_first;
	if (!idx) {
		s->header->nr_refused++;
		return 0;
	}
	s->dead_first = s->entry[idx].next_dead;
	if (!s->dead_first)
		s->dead_last = 0;
	fold_slot(s, &s->slot[idx]);
	return idx;
}

static void queue_dead(struct session *s, u32 idx)
{
	s->entry[idx].next_dead = 0;
	if (s->dead_last)
		s->entry[s->dead_last].next_dead = idx;
	else
		s->dead_first = idx;
	s->dead_last = idx;
}

void slot_names_hook(struct arcprof_slot *slot, const struct task_struct *task)
{
	slot->tid = task->pid;
	slot->tgid = task->tgid;
	memcpy(slot->comm, task->comm, sizeof(slot->comm));
	slot->comm[sizeof(slot->comm) - 1] = 0;
}

static void clear_slot(struct session *s, u32 idx, const struct task_struct *task)
{
	struct arcprof_slot *slot = &s->slot[idx];
	u64 now[ARCPROF_MAX_METRICS];
	u32 seq;

	counters_read_hook(&s->counters, now);
	write_begin(&slot->seq);
	seq = slot->seq;
	memset((char *)slot + sizeof(seq), 0, sizeof(*slot) - sizeof(seq));
	slot->flags = ARCPROF_SLOT_USED;
	slot->gen = ++s->next_gen;
	slot->cpu = task_cpu(task);
	slot->start = now[0];
	slot->fault_base = faults_of(task);
	slot_names_hook(slot, task);
	write_end(&slot->seq);
}

u32 slot_insert_hook(struct session *s, struct task_struct *task)
{
	struct bucket *b = slot_bucket(s, task);
	u32 idx;

	raw_spin_lock(&s->lock);
	idx = take_slot(s);
	if (idx) {
		clear_slot(s, idx, task);
		s->entry[idx].task = task;
		raw_spin_lock(&b->lock);
		hlist_add_head(&s->entry[idx].hash, &b->head);
		raw_spin_unlock(&b->lock);
	}
	raw_spin_unlock(&s->lock);
	return idx;
}

void slot_bury_hook(struct session *s, u32 idx)
{
	struct arcprof_slot *slot = &s->slot[idx];

	raw_spin_lock(&s->lock);
	write_begin(&slot->seq);
	slot->flags = ARCPROF_SLOT_USED | ARCPROF_SLOT_DEAD;
	write_end(&slot->seq);
	queue_dead(s, idx);
	raw_spin_unlock(&s->lock);
}
