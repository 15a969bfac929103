/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.h - the program that a recording starts: its signals, its end and its exit status. */
#ifndef COLLECT_PROGRAM_H
#define COLLECT_PROGRAM_H

#include <stdbool.h>
#include <sys/resource.h>

#include "base/spawn.h"
#include "collect/engine/loop.h"

struct program {
	struct spawn child;	/* pid 0 or less: there is no program */
	bool gone;
	int status;		/* as waitpid() gives it */
	struct rusage used;	/* by it and by those of its children that it waited for, once it is gone */
	int nr_signals;
	int signal;		/* the first of them */
	bool ending;		/* the recording is over, the program not yet */
};

static inline bool program_exists(const struct program *p)
{
	return p->child.pid > 0;
}

/* End the program before it ever runs. */
void program_discard(struct program *p);
/* Return true when it has ended since the call before. */
bool program_reap(struct program *p);
/*
 * Handle a signal to the recorder. A first one is the program's business: what the terminal did not already
 * send it is passed on, and the recording lasts until it ends, or until the caller has lost patience. A
 * second one ends the recording. While the recording's end waits for the program, a signal kills it. Return
 * true if the recording is to end.
 */
bool program_signal(struct program *p, int sig, bool from_terminal);
/*
 * End the program after the recording: ask a running one to end, and wait; after a signal only until hurry()
 * returns true. Returns whether it was still running.
 */
bool program_end(struct program *p, struct loop *l, bool (*hurry)(void *ctx), void *ctx);
/*
 * Return the exit status as a shell does; for a running program as if the signal had ended it; 0 without a
 * program.
 */
int program_exit_status(const struct program *p);

#endif
