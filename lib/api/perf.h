/* SPDX-License-Identifier: MIT */
/*
 * perf.h - a thread's own CPU time from the page that perf keeps for an event on it, for users
 * without privileges.  Interrupts are in it.
 */
#ifndef API_PERF_H
#define API_PERF_H

#include <stdint.h>

#include "api/anchor.h"

struct perf_event_mmap_page;

struct arcprof_perf {
	struct perf_event_mmap_page *page;	/* NULL: closed */
	int fd;
	uint32_t lock;				/* of the page when the base was taken */
	uint64_t base_ns, base_mono_ns;		/* the thread's time, then that of the machine */
	struct arcprof_anchor anchor;		/* of the same base */
	uint64_t last_ns;			/* what was answered last */
};

/* 0, or -errno of perf_event_open() or mmap(). */
int arcprof_perf_works(void);
void arcprof_perf_init(struct arcprof_perf *p);
int arcprof_perf_open(struct arcprof_perf *p);
void arcprof_perf_close(struct arcprof_perf *p);
/* Return the CPU time of the calling thread, which opened it; never less than before. */
uint64_t arcprof_perf_ns(struct arcprof_perf *p);

#endif
