/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trap.h - how BPF programs have a thread do work when it returns to user code, and send it a signal there:
 * since Linux 6.18.  Later kernels add the last argument themselves (BPF_IMPLICIT_ARGS). Also how a
 * clock's program reports a sample itself, in place of the clock's own record with its copy of the stack.
 */
#ifndef PMU_BPF_TRAP_H
#define PMU_BPF_TRAP_H

#define pt_regs pt_regs_of_headers	/* programs read the kernel's own by its types */
#include <linux/bpf_perf_event.h>
#undef pt_regs
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "pmu/bpf/trapped.h"

enum { TRAP = 5 };	/* SIGTRAP */

struct task_struct;

struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

enum pid_type { PIDTYPE_PID };
struct bpf_map {
	__u32 id;
};

typedef int (*trap_work)(struct bpf_map *map, void *key, void *value);

int bpf_send_signal_task(struct task_struct *t, int sig, enum pid_type type, __u64 value) __ksym;
#ifdef BPF_IMPLICIT_ARGS
int bpf_task_work_schedule_resume(struct task_struct *t, struct bpf_task_work *work, void *map,
				  trap_work callback) __ksym;
#define ON_RETURN(t, work, map, callback) bpf_task_work_schedule_resume(t, work, map, callback)
#else
int bpf_task_work_schedule_resume_impl(struct task_struct *t, struct bpf_task_work *work, void *map,
				       trap_work callback, void *program) __ksym;
#define ON_RETURN(t, work, map, callback) bpf_task_work_schedule_resume_impl(t, work, map, callback, NULL)
#endif

struct {			/* [CPU]: the event that such samples are of */
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, TRAPPED_NR_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} trapped SEC(".maps");

/* Return false if the sample did not fit; then the thread should not walk its stack either. */
static __always_inline bool tell_of_sample(struct bpf_perf_event_data *ctx)
{
	struct trapped_sample s = { .period = ctx->sample_period, .data_addr = ctx->addr };

	return !bpf_perf_event_output(ctx, &trapped, BPF_F_CURRENT_CPU, &s, sizeof(s));
}

#endif
