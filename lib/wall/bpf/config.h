/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.h - what the loader and the BPF programs tell each other. */
#ifndef WALL_BPF_CONFIG_H
#define WALL_BPF_CONFIG_H

#include <linux/types.h>

#include "jvm/wall.h"

#define WALL_NR_SYSCALLS 512
#define WALL_NR_CODES 8
#define WALL_NR_WHERES 8192		/* a power of two */
#define WALL_NR_ADDRS 24
#define WALL_PATH_BYTES 80

enum { WALL_PROCESS = 1, WALL_THREAD = 2 };	/* what a number of wall_targets is of */

struct wall_bpf_code {			/* a function of the kernel; 0: it has none of the name */
	__u64 start, end;
};

struct wall_bpf_config {		/* constants to the programs */
	__u32 nr_slots;
	__u32 all;			/* every thread of the machine gets a slot */
	__u32 wakes;			/* copy stacks of wakers */
	__u32 pid_ns;			/* inode of the recorder's PID namespace; 0: the first */
	__u32 pad;
	__u64 secret;			/* hides kernel addresses from those who read the slots */
	/* a stack with one of these runs a timer, or works for no particular thread */
	struct wall_bpf_code timers[WALL_NR_CODES], interrupts[WALL_NR_CODES];
	__u8 class_of[WALL_NR_SYSCALLS];	/* enum wall_class */
	__u8 files[WALL_NR_SYSCALLS];		/* enum wall_files */
};

struct wall_bpf_control {
	__u32 next_slot;		/* those from here on were never used; 0 is nobody's */
	__u32 nr_refused;		/* threads that found no free one */
};

/*
 * The place in the kernel where a thread was blocked, and its file; written for marked blocks, at their end.
 * It is at wall_where_at() until another one replaces it. It has addresses of the kernel, so no other process
 * maps it.
 */
struct wall_where {
	__u32 slot, block_nr;		/* whose; block_nr 0: it is being written */
	__u32 busy;			/* somebody writes it: whoever comes meanwhile does not */
	__u32 nr_addrs;			/* 0: not known */
	/* Of a socket, as the kernel numbers them; 0: it is none, or there is no file. */
	__u16 family;
	__u16 local_port, peer_port;	/* 0: none */
	__u16 pad;
	__u64 inode;			/* of the descriptor that is the call's first argument; 0: none */
	__u64 addrs[WALL_NR_ADDRS];	/* innermost first, without the scheduler's own */
	union {
		struct {
			__u8 local[16], peer[16];	/* of four bytes for IPv4; all 0: none */
		};
		/* of a Unix socket: the peer's, or its own; with a leading 0 byte if abstract */
		__u8 path[WALL_PATH_BYTES];
	};
};

static inline __u32 wall_where_at(__u32 slot, __u32 block_nr)
{
	return (slot * 4 + (block_nr >> 1 & 3)) & (WALL_NR_WHERES - 1);
}

#endif
