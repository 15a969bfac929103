/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - one line on stderr that says how far a long step is: only when stderr is a
 * terminal, only after half a second, at most ten times a second, and gone at the end.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;	/* "reading arcprof.data"; borrowed */
	uint64_t total;		/* 0: not known, then the plain number is shown */
	uint64_t next_ns;	/* when to print again; UINT64_MAX: never */
	bool shown;
};

/* Allow progress lines, or with false, for --quiet, none at all. */
void progress_allow(bool allow);
void progress_start(struct progress *p, const char *what, uint64_t total);
/* Show progress; may be called once per chunk, and reads the clock each time. */
void progress_update(struct progress *p, uint64_t done);
/* Do the same with a text in place of a number. */
void progress_text(struct progress *p, const char *text);
void progress_end(struct progress *p);

#endif
