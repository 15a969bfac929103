/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forget.h - what a recording does not need any more, so that one of weeks takes no more memory than one of
 * minutes: files that no process has mapped, and what agents and locks of processes that have ended left.
 * Threads and processes themselves are tasks.h's, what later files need is carry.h's.
 */
#ifndef COLLECT_FORGET_H
#define COLLECT_FORGET_H

#include <stdint.h>

struct collect;

/* To be called often: does something when enough files are new, or it is time to. */
void forget_turn(struct collect *c, uint64_t now_ns);
/* A file of the recording has ended: all addresses in it have their names. */
void forget_at_change(struct collect *c, uint64_t now_ns);

#endif
