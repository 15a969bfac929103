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

/* The program never runs: it ends at once. */
void program_discard(struct program *p);
/* Return true when it has ended since the call before. */
bool program_reap(struct program *p);
/*
 * A signal to the recorder. A first one is the program's business: what the terminal did not already
 * send it is passed on, and the recording lasts until it ends, or until the caller has lost patience. A
 * second one ends the recording. While the recording's end waits for the program, a signal kills it. True:
 * the recording is to end.
 */
bool program_signal(struct program *p, int sig, bool from_terminal);
/*
 * The recording is over: asks a program that runs to end, and waits until it has; after a signal until
 * hurry() says that it is not to be waited for. True: it was still running.
 */
bool program_end(struct program *p, struct loop *l, bool (*hurry)(void *ctx), void *ctx);
/* As a shell gives it; of one that still runs as if the signal had ended it. 0 when there is no program. */
int program_exit_status(const struct program *p);

#endif
