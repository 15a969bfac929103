// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpuclock.bpf.c - lets through those samples of a CPU's clock that are of processes which are recorded, and
 * tells what each of their threads had used of CPUs at its end.
 *
 *  [1] A process is one from its fork on, before it can run.  Its number may be given away before the kernel
 *      frees its first thread: who has it then is another, and began at another time.
 *  [2] What the kernel charged a thread is complete when its last switch is through: it runs after
 *      sched_process_exit, and a thread that is on a CPU is charged at ticks and switches only.
 *  [3] That may be long after its process is over for everyone else: a thread whose number is free already,
 *      and which others keep from the CPU, is in no process of the list any more.
 *  [4] A signal is sent when the thread returns to user code, so that no system call is interrupted; a
 *      program that was executed meanwhile has no handler and would die of it: it is asked again there.
 */
#define bpf_task_work bpf_task_work_of_headers	/* which have it since Linux 6.18 */
#include <linux/bpf.h>
#undef bpf_task_work
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "cpuclock/bpf/config.h"
#include "pmu/bpf/task.h"
#include "pmu/bpf/trap.h"

enum {
	STATE_DEAD = 0x80,
	EXITING = 0x4,		/* PF_EXITING */
};

struct sched_entity {
	__u64 sum_exec_runtime;			/* ns that the kernel charged the thread */
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	unsigned int flags;
	__u64 start_time;
	struct task_struct *group_leader;
	struct sched_entity se;
} __attribute__((preserve_access_index));

struct linux_binprm;

const volatile struct cpuclock_config config;

MAP_HASH(cpuclock_all, CPUCLOCK_NR_PROCESSES, struct cpuclock_process);
MAP_HASH(cpuclock_exiting, CPUCLOCK_NR_EXITING, __u8);	/* threads between their exit and their end, [3] */
MAP_SHARED(cpuclock_state, 1, struct cpuclock_control);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, CPUCLOCK_ENDS_BYTES);
} cpuclock_ends SEC(".maps");

static __always_inline struct cpuclock_control *control(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpuclock_state, &zero);
}

static __always_inline struct cpuclock_process *process_of(__u32 tgid)
{
	return bpf_map_lookup_elem(&cpuclock_all, &tgid);
}

/* ---- samples ---- */

/*
 * Return whether a sample is for the agent. A thread that exits does not return to user code, and before
 * Linux 5.11 it cannot be read directly.
 */
static __always_inline bool is_for_agent(const struct cpuclock_process *p)
{
	struct task_struct *t = (void *)bpf_get_current_task();

	return p && p->agent && !(BPF_CORE_READ(t, flags) & EXITING);
}

#ifdef CPUCLOCK_TRAPS
struct trap {
	__u64 time_ns;
	struct bpf_task_work work;
};

MAP_ARRAY(cpuclock_traps, CPUCLOCK_NR_TRAPS, struct trap);	/* by the low bits of a thread's number */

static int send_trap(struct bpf_map *map, void *key, void *value)	/* [4] */
{
	const struct trap *trap = value;
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	const struct cpuclock_process *p = process_of(t->tgid);

	if (p && p->agent)
		bpf_send_signal_task(t, TRAP, PIDTYPE_PID, trap->time_ns);
	return 0;
}

/* Raise a trap in a process with an agent. The signal's value is the time. */
static __always_inline void trap(struct bpf_perf_event_data *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	__u32 at = t->pid & (CPUCLOCK_NR_TRAPS - 1);
	struct trap *trap = bpf_map_lookup_elem(&cpuclock_traps, &at);
	__u64 now = bpf_ktime_get_ns();

	if (!trap || !tell_of_sample(ctx))
		return;
	trap->time_ns = now;
	/* where the signal before is still on its way, that is for this sample, too */
	ON_RETURN(t, &trap->work, &cpuclock_traps, send_trap);
}
#else
static __always_inline void trap(struct bpf_perf_event_data *ctx) { }
#endif

/* Let samples of a CPU's clock through that are of recorded processes without an agent. */
SEC("perf_event")
int is_recorded(struct bpf_perf_event_data *ctx)
{
	const struct cpuclock_process *p = process_of(bpf_get_current_pid_tgid() >> 32);

	if (is_for_agent(p)) {
		trap(ctx);
		return 0;
	}
	return p || config.all;
}

/* ---- processes ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct cpuclock_process new = { .start_ns = child->start_time };
	struct cpuclock_control *c = control();
	__u32 tgid = child->tgid;

	if (!c || tgid == (__u32)parent->tgid)
		return 0;
	if (config.all || !process_of(parent->tgid)) {
		if (process_of(tgid))		/* [1] */
			bpf_map_delete_elem(&cpuclock_all, &tgid);
		return 0;
	}
	if (bpf_map_update_elem(&cpuclock_all, &tgid, &new, BPF_ANY))
		__sync_fetch_and_add(&c->nr_refused, 1);
	return 0;
}

/* Forget the agent, which ended with the old program. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t)
{
	struct cpuclock_process *p = process_of(t->tgid);

	if (p)
		p->agent = 0;
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *t)
{
	__u32 tgid = t->tgid;
	struct cpuclock_process *p;

	if (t->pid != t->tgid)
		return 0;
	p = process_of(tgid);
	if (p && (!p->start_ns || p->start_ns == t->start_time))	/* [1] */
		bpf_map_delete_elem(&cpuclock_all, &tgid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
	__u32 tid = t->pid;
	__u8 yes = 1;

	if (!config.all && process_of(t->tgid))
		bpf_map_update_elem(&cpuclock_exiting, &tid, &yes, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_switch")	/* [2] */
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
	struct cpuclock_control *c;
	struct cpuclock_end *end;
	__u32 tid;

	if (config.all || !(task_state(prev) & STATE_DEAD))
		return 0;
	tid = prev->pid;
	/* where there was no room for it, its process may still be there */
	if (bpf_map_delete_elem(&cpuclock_exiting, &tid) && !process_of(prev->tgid))
		return 0;
	c = control();
	if (!c)
		return 0;
	end = bpf_ringbuf_reserve(&cpuclock_ends, sizeof(*end), 0);
	if (!end) {
		__sync_fetch_and_add(&c->nr_untold, 1);
		__sync_fetch_and_add(&c->untold_ns, prev->se.sum_exec_runtime);
		return 0;
	}
	end->time_ns = bpf_ktime_get_ns();
	end->used_ns = prev->se.sum_exec_runtime;
	end->pid = prev->tgid;
	end->tid = prev->pid;
	/* the recorder looks at each of its turns */
	bpf_ringbuf_submit(end, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
