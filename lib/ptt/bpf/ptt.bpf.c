// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptt.bpf.c - writes the slots of arcprof_uapi.h from the scheduler's and the interrupts'
 * tracepoints.
 *
 * Each CPU has a state: which thread runs, and whether an interrupt has it.  Every event charges
 * what was consumed since the one before to that state, then changes it.  There is no nesting
 * counter: the programs go live one by one, so an end can come without its beginning and the
 * other way round; a switch, which no interrupt survives, corrects the state.
 *
 * The scheduler reads its clock some time before the tracepoint: on entry, or already when it wakes
 * the next thread.  So what a thread ran from dispatch to switch is what the kernel charged it, and
 * not the time between two tracepoints, which is all that is known until then (settle()).
 *
 * Who writes when:
 *  [1] a CPU's entry is written by that CPU only, and a slot by the CPU its thread runs on;
 *  [2] sched_switch and hard interrupts come with interrupts off.  Soft interrupts do not: what
 *      interrupts their program (busy is set) is left out, and stays with what was interrupted;
 *  [3] a slot is free again when its exiting thread leaves its CPU: nothing charges it after that.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "arcprof_uapi.h"
#include "pmu/bpf/task.h"
#include "ptt/bpf/config.h"

/* parts of the kernel's own types; the loader sets the offsets of the running one */
typedef struct {
	int counter;
} __attribute__((preserve_access_index)) atomic_t;

struct signal_struct {
	atomic_t live;				/* threads of the process */
} __attribute__((preserve_access_index));

struct rq {					/* of a CPU */
	__u64 clock;				/* ns, as of when the scheduler last looked */
	__u64 clock_task;			/* the same without what the kernel charges to no thread */
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq;				/* with CONFIG_FAIR_GROUP_SCHED */
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime;			/* ns that the kernel charged the thread */
	/* with CONFIG_FAIR_GROUP_SCHED: of its CPU, whatever its class */
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid, exit_state;
	struct signal_struct *signal;
	void *stack;
	struct sched_entity se;
	unsigned long min_flt, maj_flt;
	char comm[ARCPROF_COMM_LEN];
} __attribute__((preserve_access_index));

MAP_SHARED(header, 1, struct arcprof_ptt_header);
MAP_SHARED(cpus, 1, struct arcprof_cpu);	/* set by the loader: CPUs */
MAP_SHARED(slots, 1, struct arcprof_slot);	/* set by the loader: slots */

/* Thread to slot.  All its memory is taken beforehand: nothing may be allocated in the scheduler. */
MAP_HASH(threads, 1, __u32);			/* set by the loader: slots */

/* Slots of threads that have ended, the oldest first. */
MAP_QUEUE(ended, 1);				/* set by the loader: slots */

#ifdef BPF_BASIC
/* Slots that no thread has had; the loader fills it. */
MAP_QUEUE(fresh, 1);				/* set by the loader: slots */
#endif

/* The processes to follow, unless all are. */
MAP_HASH(pids, 16384, __u8);

/* Counters: that of metric m on CPU c at m * nr_cpus + c.  They stay when the loader has gone. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__uint(max_entries, 1);			/* set by the loader: 8 * CPUs */
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

const volatile struct ptt_bpf_config config = { 0 };

struct values {
	__u64 v[ARCPROF_MAX_METRICS];
};

#define barrier() asm volatile("" ::: "memory")
#include "cpu.h"

static __always_inline struct arcprof_cpu *this_cpu(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct arcprof_slot *slot_of(__u32 idx)
{
	return idx ? bpf_map_lookup_elem(&slots, &idx) : NULL;
}

static __always_inline void read_metrics(struct values *now, __u32 cpu)
{
	struct bpf_perf_event_value e;
	__u32 i;

	now->v[0] = bpf_ktime_get_ns();
#pragma unroll
	for (i = 1; i < ARCPROF_MAX_METRICS; i++) {
		now->v[i] = 0;
		if (i < config.nr_metrics &&
		    !bpf_perf_event_read_value(&events, i * config.nr_cpus + cpu, &e, sizeof(e)))
			now->v[i] = e.counter;
	}
}

static __always_inline void set_last(__u64 *last, const struct values *now)
{
	__u32 i;

	last[0] = now->v[0];
	if (config.nr_metrics == 1)
		return;
#pragma unroll
	for (i = 1; i < ARCPROF_MAX_METRICS; i++)
		last[i] = now->v[i];
}

/* Return the difference; values only grow, but a counter that could not be read just then gave 0. */
static __always_inline __u64 delta(const struct arcprof_cpu *c, const struct values *now, __u32 i)
{
	__u64 d = now->v[i] - c->last[i];

	return (__s64)d > 0 ? d : 0;
}

/* Return the receiver of the time since the last event. */
static __always_inline __u64 *bucket(struct arcprof_cpu *c, const struct arcprof_slot *s)
{
	if (c->state & ARCPROF_CPU_HARDIRQ)
		return &c->bucket[ARCPROF_BUCKET_HARDIRQ];
	if (c->state)
		return &c->bucket[ARCPROF_BUCKET_SOFTIRQ];
	if (s)
		return &c->bucket[ARCPROF_BUCKET_THREADS];
	return c->flags & ARCPROF_CPU_IDLE ? &c->bucket[ARCPROF_BUCKET_IDLE] :
					     &c->bucket[ARCPROF_BUCKET_OTHER];
}

static __always_inline void charge_counters(struct arcprof_cpu *c, struct arcprof_slot *s,
					    const struct values *now)
{
	__u32 i;

#pragma unroll
	for (i = 1; i < ARCPROF_MAX_METRICS; i++) {
		__u64 d = delta(c, now, i);

		if (c->state)
			c->irq[i] += d;
		else if (s)
			s->acc[i] += d;
	}
}

static __always_inline void charge(struct arcprof_cpu *c, struct arcprof_slot *s, const struct values *now)
{
	__u64 d = delta(c, now, 0);

	*bucket(c, s) += d;
	if (c->state) {
		c->irq[0] += d;
		if (s)
			s->irq_time += d;
	} else if (s) {
		s->acc[0] += d;
	}
	if (config.nr_metrics > 1)
		charge_counters(c, s, now);
	set_last(c->last, now);
}

/*
 * Return what the kernel's own figures leave out on the thread's CPU: time stolen by a hypervisor, and
 * interrupts where the kernel accounts them itself. Both are in our readings of the clock.
 */
static __always_inline __u64 charged_to_nobody(struct task_struct *t)
{
	const struct rq *rq = t->se.cfs_rq->rq;

	return rq->clock - rq->clock_task;
}

static __always_inline bool knows_what_the_kernel_charged(void)
{
	return bpf_core_field_exists(((struct sched_entity *)NULL)->cfs_rq) &&
	       bpf_core_field_exists(((struct cfs_rq *)NULL)->rq);
}

/* Note a dispatch that was seen: what the thread has is all that it ran up to now. */
static __always_inline void note_dispatch(struct arcprof_cpu *c, struct arcprof_slot *s,
					  struct task_struct *t)
{
	if (!s || !knows_what_the_kernel_charged())
		return;
	c->flags |= ARCPROF_CPU_RUN_SEEN;
	c->run_nobody = charged_to_nobody(t);
	c->run_irq = c->irq[0];
	if (s->flags & ARCPROF_SLOT_BASED)
		return;
	s->flags |= ARCPROF_SLOT_BASED;
	s->exec_base = t->se.sum_exec_runtime - s->acc[0] - s->irq_time;
}

/*
 * Move time between buckets, whose sum stays. What the thread ran more was idleness till the tracepoint; or
 * others' if switches were hidden.
 */
static __always_inline void move_bucket(struct arcprof_cpu *c, __s64 more)
{
	__u64 *own = &c->bucket[ARCPROF_BUCKET_THREADS];
	__u64 *rest =
		&c->bucket[c->flags & ARCPROF_CPU_RUN_SEEN ? ARCPROF_BUCKET_IDLE : ARCPROF_BUCKET_OTHER];
	__u64 *from = more > 0 ? rest : own, *to = more > 0 ? own : rest;
	__u64 d = more > 0 ? more : -more;

	d = d < *from ? d : *from;
	*from -= d;
	*to += d;
}

/*
 * Take what the thread has too much first from the end of an interrupt: if that woke somebody, the kernel
 * charges the rest of it to the next thread. So the time that the thread itself has read does not step back.
 */
static __always_inline __s64 take_from_interrupts(const struct arcprof_cpu *c, struct arcprof_slot *s,
						  __s64 more)
{
	__u64 irq = c->irq[0] - c->run_irq, d = -more;

	if (more >= 0 || !(c->flags & ARCPROF_CPU_RUN_SEEN))
		return more;
	d = d < irq ? d : irq;
	d = d < s->irq_time ? d : s->irq_time;
	s->irq_time -= d;
	return more + d;
}

/*
 * Settle a thread that leaves: its time, with the interrupts that hit it, becomes what the kernel says it is.
 */
static __always_inline void settle(struct arcprof_cpu *c, struct arcprof_slot *s, struct task_struct *t)
{
	__s64 more, left;

	if (!(s->flags & ARCPROF_SLOT_BASED))
		return;
	if (c->flags & ARCPROF_CPU_RUN_SEEN)
		s->exec_base -= charged_to_nobody(t) - c->run_nobody;
	more = t->se.sum_exec_runtime - s->exec_base - s->acc[0] - s->irq_time;
	more = take_from_interrupts(c, s, more);
	move_bucket(c, more);
	left = s->acc[0] + more;
	if (left < 0) {
		/* an interrupt had all of it, and began before the kernel gave the CPU to the thread */
		s->irq_time += left;
		left = 0;
	}
	s->acc[0] = left;
}

static __always_inline __u64 faults_of(struct task_struct *t)
{
	return FIELD(t, min_flt) + FIELD(t, maj_flt);
}

/* ---- slots ---- */

/* Add up the counts of a thread whose slot will not be read any more. */
static __always_inline void fold(const struct arcprof_slot *s)
{
	__u32 zero = 0, i;
	struct arcprof_slot *sum = bpf_map_lookup_elem(&slots, &zero);

	if (!sum)
		return;
	__sync_fetch_and_add(&sum->dispatches, s->dispatches);
	__sync_fetch_and_add(&sum->interrupts, s->interrupts);
	__sync_fetch_and_add(&sum->irq_time, s->irq_time);
	__sync_fetch_and_add(&sum->switches, s->switches);
	__sync_fetch_and_add(&sum->migrations, s->migrations);
	__sync_fetch_and_add(&sum->faults, s->faults);
#pragma unroll
	for (i = 0; i < ARCPROF_MAX_METRICS; i++)
		__sync_fetch_and_add(&sum->acc[i], s->acc[i]);
}

#ifdef BPF_BASIC
static __always_inline __u32 take_fresh(struct arcprof_ptt_header *h)
{
	__u32 idx;

	if (bpf_map_pop_elem(&fresh, &idx))
		return 0;
	__sync_fetch_and_add(&h->next_slot, 1);
	return idx;
}
#else
static __always_inline __u32 take_fresh(struct arcprof_ptt_header *h)
{
	__u32 idx;

	if (h->next_slot >= config.nr_slots)
		return 0;
	idx = __sync_fetch_and_add(&h->next_slot, 1);
	return idx < config.nr_slots ? idx : 0;
}
#endif

/* Take a slot that was never used, else that of the thread whose end is longest ago; 0: none. */
static __always_inline __u32 take_slot(void)
{
	__u32 zero = 0, idx;
	struct arcprof_ptt_header *h = bpf_map_lookup_elem(&header, &zero);
	struct arcprof_slot *s;

	if (!h)
		return 0;
	idx = take_fresh(h);
	if (idx)
		return idx;
	if (bpf_map_pop_elem(&ended, &idx)) {
		__sync_fetch_and_add(&h->nr_refused, 1);
		return 0;
	}
	s = slot_of(idx);
	if (s)
		fold(s);
	__sync_fetch_and_add(&h->nr_recycled, 1);
	return idx;
}

static __always_inline void clear_counts(struct arcprof_slot *s)
{
	__u32 i;

	s->dispatches = s->interrupts = s->irq_time = s->switches = s->migrations = s->faults = 0;
#pragma unroll
	for (i = 0; i < ARCPROF_MAX_METRICS; i++)
		s->acc[i] = 0;
}

/*
 * Return a number that is unique to each living thread, even while exec lets one take the number and age of
 * another.
 */
static __always_inline __u64 identity(struct task_struct *t)
{
	return (__u64)FIELD(t, stack) ^ config.secret;
}

static __always_inline __u32 give_slot(struct task_struct *t, const struct values *now)
{
	__u32 tid = FIELD(t, pid), idx = take_slot();
	struct arcprof_slot *s = slot_of(idx);

	if (!s)
		return 0;
	SEQ_STEP(s->seq);
	clear_counts(s);
	s->flags = ARCPROF_SLOT_USED;
	s->gen++;
	s->tid = tid;
	s->tgid = FIELD(t, tgid);
	s->identity = identity(t);
	s->start = now->v[0];
	s->fault_base = faults_of(t);
	bpf_probe_read_kernel_str(s->comm, sizeof(s->comm), &t->comm);
	SEQ_STEP(s->seq);
	bpf_map_update_elem(&threads, &tid, &idx, BPF_ANY);
	return idx;
}

static __always_inline bool is_wanted(struct task_struct *t)
{
	__u32 tgid = FIELD(t, tgid);

	return config.all_threads || bpf_map_lookup_elem(&pids, &tgid);
}

static __always_inline __u32 slot_for(struct task_struct *t, const struct values *now)
{
	__u32 tid = FIELD(t, pid), *idx;
	struct arcprof_slot *s;

	if (!tid)
		return 0;
	idx = bpf_map_lookup_elem(&threads, &tid);
	s = idx ? slot_of(*idx) : NULL;
	if (idx && s && s->identity == identity(t) && !(s->flags & ARCPROF_SLOT_DEAD))
		return *idx;
	return !FIELD(t, exit_state) && is_wanted(t) ? give_slot(t, now) : 0;
}

/* Retire the slot of a thread that is gone but for the last instructions of its exit. */
static __always_inline void retire(struct arcprof_slot *s, __u32 idx, struct task_struct *t)
{
	__u32 tid = s->tid, tgid = s->tgid, *mine = bpf_map_lookup_elem(&threads, &tid);

	/* The main thread can go before others; a last one that is not it leaves the entry behind. */
	if (!config.all_threads && tid == tgid && !t->signal->live.counter)
		bpf_map_delete_elem(&pids, &tgid);
	bpf_probe_read_kernel_str(s->comm, sizeof(s->comm), &t->comm);
	s->flags |= ARCPROF_SLOT_DEAD;
	if (mine && *mine == idx)
		bpf_map_delete_elem(&threads, &tid);
	bpf_map_push_elem(&ended, &idx, 0);
}

/* ---- events ---- */

static __always_inline struct arcprof_slot *put_on_cpu(struct arcprof_cpu *c, struct task_struct *t,
						       const struct values *now, __u32 cpu)
{
	__u32 idx = slot_for(t, now);
	struct arcprof_slot *s = slot_of(idx);

	c->cur = idx;
	c->tid = FIELD(t, pid);
	c->flags = ARCPROF_CPU_STARTED | (c->tid ? 0 : ARCPROF_CPU_IDLE);
	if (!s)
		return s;
	SEQ_STEP(s->seq);
	if (s->dispatches && s->cpu != cpu)
		s->migrations++;
	s->cpu = cpu;
	s->dispatches++;
	s->faults = faults_of(t) - s->fault_base;
	s->flags |= ARCPROF_SLOT_RUNNING;
	set_last(s->last, now);
	SEQ_STEP(s->seq);
	return s;
}

static __always_inline void take_off_cpu(struct arcprof_cpu *c, struct task_struct *t,
					 const struct values *now)
{
	struct arcprof_slot *s = slot_of(c->cur);

	if (s)
		SEQ_STEP(s->seq);
	charge(c, s, now);
	if (!s)
		return;
	settle(c, s, t);
	s->flags &= ~ARCPROF_SLOT_RUNNING;
	s->switches++;
	s->faults = faults_of(t) - s->fault_base;
	if (t->exit_state)
		retire(s, c->cur, t);
	SEQ_STEP(s->seq);
}

/* Start at the first event of a CPU: nothing is known of the time before. */
static __noinline void start_cpu(struct arcprof_cpu *c, struct task_struct *t, const struct values *now,
				 __u32 cpu)
{
	c->start = now->v[0];
	set_last(c->last, now);
	put_on_cpu(c, t, now, cpu);
}

/*
 * Correct the running thread, if it is not the one of the last switch: some kernels hide switches of some
 * threads. The time since goes to the bucket of others.
 */
static __noinline void resync(struct arcprof_cpu *c, struct task_struct *t, const struct values *now,
			      __u32 cpu)
{
	struct arcprof_slot *s = slot_of(c->cur);

	c->nr_lost++;
	c->state = 0;
	c->flags &= ~ARCPROF_CPU_IDLE;
	charge(c, NULL, now);
	if (s && s->cpu == cpu) {
		SEQ_STEP(s->seq);
		s->flags &= ~ARCPROF_SLOT_RUNNING;
		s->switches++;
		SEQ_STEP(s->seq);
	}
	put_on_cpu(c, t, now, cpu);
}

static __always_inline void check_thread(struct arcprof_cpu *c, struct task_struct *t,
					 const struct values *now, __u32 cpu)
{
	if (!(c->flags & ARCPROF_CPU_STARTED))
		start_cpu(c, t, now, cpu);
	else if (c->tid != FIELD(t, pid))
		resync(c, t, now, cpu);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct arcprof_cpu *c = this_cpu(cpu);
	struct values now;

	if (!c)
		return 0;
	read_metrics(&now, cpu);
	SEQ_STEP(c->seq);
	c->busy = 0;
	check_thread(c, prev, &now, cpu);
	take_off_cpu(c, prev, &now);
	c->state = 0;
	c->nr_switches++;
	note_dispatch(c, put_on_cpu(c, next, &now, cpu), next);
	SEQ_STEP(c->seq);
	return 0;
}

static __always_inline void enter(struct arcprof_cpu *c, __u32 bit, const struct values *now)
{
	struct arcprof_slot *s = slot_of(c->cur);

	if (s)
		SEQ_STEP(s->seq);
	charge(c, s, now);
	c->state |= bit;
	if (bit == ARCPROF_CPU_HARDIRQ)
		c->nr_hardirqs++;
	else
		c->nr_softirqs++;
	if (!s)
		return;
	if (bit == ARCPROF_CPU_HARDIRQ) {
		s->interrupts++;
		s->faults = faults_of(CURRENT()) - s->fault_base;
	}
	s->flags &= ~ARCPROF_SLOT_RUNNING;
	SEQ_STEP(s->seq);
}

static __always_inline void leave(struct arcprof_cpu *c, __u32 bit, const struct values *now)
{
	struct arcprof_slot *s = slot_of(c->cur);

	if (!(c->state & bit)) {
		c->nr_lost++;
		return;
	}
	if (s)
		SEQ_STEP(s->seq);
	charge(c, s, now);
	c->state &= ~bit;
	if (!s)
		return;
	set_last(s->last, now);
	if (!c->state)
		s->flags |= ARCPROF_SLOT_RUNNING;
	SEQ_STEP(s->seq);
}

/* Handle all interrupts: a call costs less than 24 copies. */
static __noinline int interrupt(__u32 bit, bool in)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct arcprof_cpu *c = this_cpu(cpu);
	struct values now;

	if (!c || c->busy)	/* [2] */
		return 0;
	*(volatile __u32 *)&c->busy = 1;
	barrier();
	read_metrics(&now, cpu);
	SEQ_STEP(c->seq);
	check_thread(c, CURRENT(), &now, cpu);
	if (in)
		enter(c, bit, &now);
	else
		leave(c, bit, &now);
	SEQ_STEP(c->seq);
	barrier();
	*(volatile __u32 *)&c->busy = 0;
	return 0;
}

#define ON(tracepoint, bit, in)            \
	SEC("tp_btf/" #tracepoint)         \
	int BPF_PROG(on_##tracepoint)      \
	{                                  \
		return interrupt(bit, in); \
	}
#define ON_VECTOR(name)                               \
	ON(name##_entry, ARCPROF_CPU_HARDIRQ, true)   \
	ON(name##_exit, ARCPROF_CPU_HARDIRQ, false)

ON_VECTOR(irq_handler)
ON(softirq_entry, ARCPROF_CPU_SOFTIRQ, true)
ON(softirq_exit, ARCPROF_CPU_SOFTIRQ, false)
CPU_VECTORS(ON_VECTOR)

/* Follow children of followed processes. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	__u8 yes = 1;

	if (from != to && bpf_map_lookup_elem(&pids, &from))
		bpf_map_update_elem(&pids, &to, &yes, BPF_ANY);
	return 0;
}

/*
 * Run by hand when the session ends: the maps are frozen for user space, so that whoever may map
 * them can read only.
 */
SEC("raw_tp/end")
int end(void *ctx)
{
	__u32 zero = 0;
	struct arcprof_ptt_header *h = bpf_map_lookup_elem(&header, &zero);

	if (h)
		*(volatile __u64 *)&h->generation = 0;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
