/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inner.h - what this room's files know of a struct wall. */
#ifndef WALL_INNER_H
#define WALL_INNER_H

#include <stddef.h>

#include "pmu/bpf.h"
#include "wall/bpf/config.h"
#include "wall/wall.h"

struct switches;

struct wall {
	struct bpf_programs programs;	/* zeroed: without BPF */
	struct switches *switches;	/* NULL: with BPF */
	uint32_t nr_slots;
	const struct wall_slot *slots;
	const uint64_t *stamps;
	uint64_t *marks;		/* elements of a map are eight bytes apart; NULL: without BPF */
	uint64_t look_ns;		/* when the latest look began */
	struct wall_bpf_control *control;
	const struct wall_where *wheres;	/* [WALL_NR_WHERES]; NULL: without BPF */
	const struct wall_wake *wakes;	/* [WALL_NR_WAKES]; NULL: not asked for, or without BPF */
	int slots_fd, stamps_fd, marks_fd, free_fd, wakes_fd, anchors_fd;
};

/* switches.c: its part of wall_close() and wall_give_back(). */
void switches_close(struct wall *w);
void switches_give_back(struct wall *w, uint32_t slot);

/* ---- the kernel's functions below which an interrupt is handled, for the BPF programs ---- */

/* Fills timers and interrupts from the text of /proc/kallsyms; what that does not name, or hides, stays 0. */
void wall_parse_interrupts(struct wall_bpf_config *c, const char *text, size_t len);
/* Find the same in the running kernel; what cannot be read is not known. */
void wall_find_interrupts(struct wall_bpf_config *c);

#endif
