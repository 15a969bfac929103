/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steady.h - which code of a process cannot change while it runs: what is mapped from a file and cannot be
 * written.
 */
#ifndef ITRACE_STEADY_H
#define ITRACE_STEADY_H

#include <stddef.h>
#include <stdint.h>

struct steady {
	struct steady_range {
		int pid;		/* 0: free */
		uint64_t start, end;
	} *ranges;
	size_t nr_ranges, alloc_ranges;
	size_t last;			/* the one that was asked for last */
};

/* Text of /proc/PID/maps: what was known of the process before is forgotten. */
void steady_maps(struct steady *s, int pid, const char *text);
void steady_forget(struct steady *s, int pid);
/* Bytes of it from addr on; 0: not such code. */
uint64_t steady_bytes(struct steady *s, int pid, uint64_t addr);

#endif
