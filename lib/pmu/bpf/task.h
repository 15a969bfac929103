/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task.h - what differs between kernels of how BPF programs read threads, and their maps. A loader may set
 * another number of elements than these.
 *
 * With BPF_BASIC a program uses nothing that Linux 5.10 lacks: neither the current thread as something whose
 * fields can be read directly (5.11), nor the result of an atomic operation (5.12), nor the arguments that
 * tracepoints were given later.
 */
#ifndef PMU_BPF_TASK_H
#define PMU_BPF_TASK_H

#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#ifdef BPF_BASIC
#define CURRENT() ((void *)bpf_get_current_task())
/* Read a field of a thread that may be the current one. */
#define FIELD(p, field) BPF_CORE_READ(p, field)
#else
#define CURRENT() ((void *)bpf_get_current_task_btf())
#define FIELD(p, field) ((p)->field)
#endif

/* MAP_ARRAY and MAP_HASH have keys of 32 bits; a MAP_SHARED is an array that processes can map. */
#define MAP_ARRAY(name, nr, T)                                   \
	struct {                                                 \
		__uint(type, BPF_MAP_TYPE_ARRAY);                \
		__uint(max_entries, nr);                         \
		__type(key, __u32);                              \
		__type(value, T);                                \
	} name SEC(".maps")
#define MAP_SHARED(name, nr, T)                                  \
	struct {                                                 \
		__uint(type, BPF_MAP_TYPE_ARRAY);                \
		__uint(map_flags, BPF_F_MMAPABLE);               \
		__uint(max_entries, nr);                         \
		__type(key, __u32);                              \
		__type(value, T);                                \
	} name SEC(".maps")
#define MAP_HASH(name, nr, T)                                    \
	struct {                                                 \
		__uint(type, BPF_MAP_TYPE_HASH);                 \
		__uint(max_entries, nr);                         \
		__type(key, __u32);                              \
		__type(value, T);                                \
	} name SEC(".maps")
#define MAP_QUEUE(name, nr)                                      \
	struct {                                                 \
		__uint(type, BPF_MAP_TYPE_QUEUE);                \
		__uint(max_entries, nr);                         \
		__type(value, __u32);                            \
	} name SEC(".maps")

struct task_struct___since_5_14 {
	unsigned int __state;
} __attribute__((preserve_access_index));

struct task_struct___before_5_14 {
	long state;
} __attribute__((preserve_access_index));

/* Return the state of t, an argument of a tracepoint or an iterator. */
static __always_inline __u32 task_state(const void *t)
{
	const struct task_struct___since_5_14 *now = t;
	const struct task_struct___before_5_14 *before = t;

	return bpf_core_field_exists(now->__state) ? now->__state : (__u32)before->state;
}

#endif
