/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top_procs.h - CPU time, memory and Java heap of processes by interval, as /proc and the JVMs say. */
#ifndef SHOW_TOP_PROCS_H
#define SHOW_TOP_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "flow/model.h"

enum { TOP_TRACK = 8 };
#define TOP_UNKNOWN UINT64_MAX

enum top_meter { TOP_CPU, TOP_RSS, TOP_HEAP, TOP_NR_METERS };	/* percent of a CPU; bytes; bytes */

struct top_proc {
	int pid;
	uint64_t start;			/* distinguishes it from another process with the same pid */
	char name[64];
	uint64_t cpu_ticks, read_ns;	/* when it was read last */
	uint64_t samples;		/* weights of those of the interval */
	uint64_t heap_max;		/* committed; 0: no JVM, as far as is known */
	uint32_t nr_looks;		/* for it */
	bool gone;
	uint32_t last_interval;		/* that had samples of it */
	/* at the end of intervals, the last one last; or TOP_UNKNOWN */
	uint64_t track[TOP_NR_METERS][TOP_TRACK];
};

struct top_procs {
	struct top_proc *list;		/* those with most samples first, then the others */
	size_t nr, alloc;
	uint64_t time_ns;
	uint32_t interval;
};

/* Remember what all processes have used so far. */
void top_procs_begin(struct top_procs *p, uint64_t now_ns);
/* Update after an interval, whose samples f has. */
void top_procs_update(struct top_procs *p, const struct model *m, const struct flow *f, uint64_t now_ns);
/* Return how many of the list had samples within the tracks. */
size_t top_procs_nr_active(const struct top_procs *p);
void top_procs_release(struct top_procs *p);

#endif
