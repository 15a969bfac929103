// SPDX-License-Identifier: MIT
/*
 * charge.c - what threads consume: metrics are read, and charged to the context that is open.
 */
#include "callflow/process.h"

static uint64_t read_dispatches(struct callflow_kthread *k)
{
	k->dispatches += *k->seq - (uint32_t)k->dispatches;
	return k->dispatches / 2;
}

/* Values of the calling thread's metrics; those that only events move are 0. */
static void callflow_charge_read_all(struct callflow_kthread *k, uint64_t *v)
{
	uint64_t tsc = cf.flags & CALLFLOW_PRECISE ? cpu_tsc_after_all() : cpu_tsc();
	uint32_t m;

	for (m = 0; m < cf.nr_metrics; m++) {
		switch (cf.metrics[m].kind) {
		case CALLFLOW_WALL:
			v[m] = tsc;
			break;
		case CALLFLOW_CPU:
			v[m] = callflow_cpu_at(k, tsc);
			break;
		case CALLFLOW_COUNTER:
			v[m] = k->counters[m].page ? callflow_counter_read(k->counters[m].page) : 0;
			break;
		case CALLFLOW_ALLOC_BYTES:
			v[m] = cf.alloc_bytes ? cf.alloc_bytes(k) : 0;	/* 0: refused */
			break;
		case CALLFLOW_DISPATCHES:
			v[m] = read_dispatches(k);
			break;
		default:
			v[m] = 0;
		}
	}
}

static void charge_all(struct callflow_thread *t, const uint64_t *v)
{
	struct callflow_node *n = node_at(top_of(t)->node);
	uint32_t m;

	for (m = 0; m < cf.nr_metrics; m++) {
		if (likely(v[m] >= t->last[m])) {
			n->base[m] += v[m] - t->last[m];
			t->charged[m] += v[m] - t->last[m];
		} else {
			t->over_range++;
		}
		t->last[m] = v[m];
	}
}

void callflow_charge_now(struct callflow_kthread *k)
{
	uint64_t v[CALLFLOW_MAX_METRICS];

	if (!k->cur)
		return;
	callflow_charge_read_all(k, v);
	charge_all(k->cur, v);
}

void callflow_skip_step(struct callflow_kthread *k)
{
	uint32_t m;

	for (m = 0; k->cur && m < cf.nr_metrics; m++)
		if (cf.metrics[m].kind == CALLFLOW_COUNTER && k->counters[m].page)
			k->cur->last[m] = callflow_counter_read(k->counters[m].page);
}

static void set_last(const struct callflow_kthread *k, struct callflow_thread *t, const uint64_t *v)
{
	uint32_t m;

	for (m = 0; m < cf.nr_metrics; m++) {
		uint32_t kind = cf.metrics[m].kind;

		if (kind == CALLFLOW_WALL && t != k->own)
			continue;
		t->last[m] = v[m];
	}
}

void callflow_set_last(struct callflow_kthread *k, struct callflow_thread *t)
{
	uint64_t v[CALLFLOW_MAX_METRICS];

	if (!t)
		return;
	callflow_charge_read_all(k, v);
	set_last(k, t, v);
}

/* Use one reading for both: time between two readings would be charged to no context. */
static void hand_over(struct callflow_kthread *k, struct callflow_thread *to)
{
	uint64_t v[CALLFLOW_MAX_METRICS];

	callflow_charge_read_all(k, v);
	if (k->cur) {
		charge_all(k->cur, v);
		store_relaxed(&k->cur->running_on, 0);
	}
	k->cur = to;
	k->no_room = false;
	if (!to)
		return;
	set_last(k, to, v);
	to->seen_cpu_ns = 0;
	store_release(&to->running_on, k->tid);
}

void callflow_mount(struct callflow_kthread *k, struct callflow_thread *t)
{
	hand_over(k, t);
	if (t)
		t->mounts++;
}

void callflow_mount_lost(struct callflow_kthread *k)
{
	hand_over(k, NULL);
	k->no_room = true;
}

void callflow_unmount(struct callflow_kthread *k)
{
	hand_over(k, k->own);
}

void callflow_charge_event(struct callflow_kthread *k, enum callflow_metric_kind kind, uint64_t amount)
{
	uint32_t m;

	for (m = 0; k->cur && m < cf.nr_metrics; m++)
		if (cf.metrics[m].kind == kind) {
			node_at(top_of(k->cur)->node)->base[m] += amount;
			k->cur->charged[m] += amount;
		}
}
