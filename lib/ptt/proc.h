/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.h - the parts of the back end "proc" that tests look at. */
#ifndef PTT_PROC_H
#define PTT_PROC_H

#include "ptt/ptt.h"

/* The contents of a session's file: when it began, and what each thread had consumed by then. */
struct ptt_note {
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
	int *pids;			/* none: all processes */
	size_t nr_pids, alloc_pids;
	struct ptt_thread *threads;
	size_t nr_threads, alloc_threads;
};

/* Takes the text apart.  -EPROTO: it is not a note of this version. */
int ptt_note_parse(char *text, struct ptt_note *n, struct err *e);
void ptt_note_release(struct ptt_note *n);

/*
 * Parse fields of /proc/PID/task/TID/stat (page faults, start time), schedstat (time, dispatches) and status
 * (switches) into *t; return false if the text is something else.
 */
bool ptt_proc_stat(const char *text, struct ptt_thread *t);
bool ptt_proc_schedstat(const char *text, struct ptt_thread *t);
bool ptt_proc_status(const char *text, struct ptt_thread *t);

#endif
