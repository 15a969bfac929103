/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.h - what the loader tells the BPF programs before they are checked: constants to them. */
#ifndef PTT_BPF_CONFIG_H
#define PTT_BPF_CONFIG_H

#include <linux/types.h>

struct ptt_bpf_config {
	__u32 nr_cpus;			/* entries of the map */
	__u32 nr_slots;
	__u32 nr_metrics;		/* time included */
	__u32 all_threads;		/* 1: every thread gets a slot, 0: those of the processes in "pids" */
	__u64 secret;			/* hides kernel addresses from those who read the slots */
};

#endif
