/* SPDX-License-Identifier: GPL-2.0-or-later */
/* work.h - a process of ours that does what a command does, and what it prints. */
#ifndef CMD_WORK_H
#define CMD_WORK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { WORK_MESSAGES_MAX = 4000 };	/* bytes of what it says on standard error */

struct work_answer {
	struct buf out, messages;
	int status;			/* its exit status, or 128 + the signal; -1: it was not called */
	bool truncated, timed_out;
};

void work_answer_release(struct work_answer *a);
/*
 * Calls work(ctx) in a fork of this process, whose standard input is empty, and takes what it prints.  It is
 * killed when it has printed more than max bytes or the time is over.  Its result is its exit status.
 */
int work_run(int (*work)(void *ctx), void *ctx, size_t max, uint64_t timeout_ns, struct work_answer *a,
	     struct err *e);

#endif
