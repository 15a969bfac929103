/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.h - what the loader and the BPF programs tell each other. */
#ifndef WALL_BPF_CONFIG_H
#define WALL_BPF_CONFIG_H

#include <linux/types.h>

#define WALL_NR_SYSCALLS 512
#define WALL_NR_CODES 8

enum { WALL_PROCESS = 1, WALL_THREAD = 2 };	/* what a number of wall_targets is of */

struct wall_bpf_code {			/* a function of the kernel; 0: it has none of the name */
	__u64 start, end;
};

struct wall_bpf_config {		/* constants to the programs */
	__u32 nr_slots;
	__u32 all;			/* every thread of the machine gets a slot */
	__u64 secret;			/* hides kernel addresses from those who read the slots */
	/* Below them on a stack a timer runs, or something else on behalf of no thread. */
	struct wall_bpf_code timers[WALL_NR_CODES], interrupts[WALL_NR_CODES];
	__u8 class_of[WALL_NR_SYSCALLS];	/* enum wall_class */
};

struct wall_bpf_control {
	__u32 next_slot;		/* those from here on were never used; 0 is nobody's */
	__u32 nr_refused;		/* threads that found no free one */
};

#endif
