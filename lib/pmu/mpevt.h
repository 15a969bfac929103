/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mpevt.h - events counted on all CPUs that outlive the command that started them: a process in
 * the background holds them open and answers on a socket in a folder of the user's own.
 *
 * It ends with its last event.  A request is lines: start, read or stop, then names of events.
 * The answer is "ok TIME_NS" or "error ERRNO", and lines of fields parted by tabs:
 *	count NAME UNIT CPU VALUE ENABLED_NS RUNNING_NS
 *	missing TEXT		an event that was not started
 *	message TEXT, hint TEXT
 */
#ifndef PMU_MPEVT_H
#define PMU_MPEVT_H

#include "pmu/cpi.h"

struct mpevt_count {
	char event[64], unit[8];
	uint32_t cpu;
	struct cpi_count count;
};

struct mpevt_counts {
	uint64_t time_ns;		/* CLOCK_MONOTONIC of the reading */
	struct mpevt_count *c;		/* by event, then CPU */
	size_t nr_c, alloc_c;
	char **missing;			/* "event: why it is not counted", of a start */
	size_t nr_missing, alloc_missing;
	char hint[256];			/* what to do about the last of them, or "" */
};

/* Return the folder for the socket, created when it is not there; caller frees. NULL: *e says why. */
char *mpevt_dir(struct err *e);

/*
 * Starts the process if there is none.  Events that this machine does not have are left out and named in *c,
 * if it has one of them.  On failure none is started.  Of the errors: EEXIST, it is counted already; else
 * those of perf_event_open(), explained.
 */
int mpevt_start(const char *dir, char *const *names, size_t nr, struct mpevt_counts *c, struct err *e);
/* Read the counts of the named events; nr 0: of all. -ENOENT: nothing is being counted, or not that event. */
int mpevt_read(const char *dir, char *const *names, size_t nr, struct mpevt_counts *c, struct err *e);
int mpevt_stop(const char *dir, char *const *names, size_t nr, struct err *e);
void mpevt_counts_release(struct mpevt_counts *c);

/* Return 0 if the event can be started; else *e says why not. */
int mpevt_try(const char *name, struct err *e);
/* Parse an answer, which is cut up; exposed for tests. */
int mpevt_parse(char *answer, struct mpevt_counts *c, struct err *e);

#endif
