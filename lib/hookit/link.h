/* SPDX-License-Identifier: MIT */
/*
 * link.h - the way from an instrumented program to its recorder: a Unix socket that the environment
 * names, over which the recorder sends the area of the call trees (jvm/proto.h).
 */
#ifndef HOOKIT_LINK_H
#define HOOKIT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "callflow/host.h"
#include "client/client.h"

#define HOOK_ENVIRONMENT "ARCPROF_CALLFLOW"

struct hook_area {
	void *mem;
	size_t bytes;
	const struct callflow_host *host;	/* whose the area is; NULL: ours */
	unsigned char *verdicts;	/* [function slot]: enum hook_verdict; NULL: all are counted */
	struct client recorder;	/* open as long as the process lives: its end tells the recorder */
};

enum hook_verdict { HOOK_UNKNOWN, HOOK_INCLUDED, HOOK_EXCLUDED };

/* Asks the recorder; once it is gone, nothing more is counted. Not for two threads at once. */
enum hook_verdict hook_ask(struct hook_area *a, uint64_t addr);
/* Connect; return false without a recorder, or if it is not to be trusted. */
bool hook_link(struct hook_area *a);
/* Release what a forked child inherited; called in the child. */
void hook_unlink(struct hook_area *a);

#endif
