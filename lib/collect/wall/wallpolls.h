/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wallpolls.h - the source "wall" where perf events and BPF are refused: finds in /proc the processes and
 * threads to record, says of them what the kernel's records would, and has their slots filled at each look
 * (wall/polls.h).
 *
 * Not seen are threads that live shorter than the time between two looks, and processes whose parent had
 * ended by the time they were found.
 */
#ifndef COLLECT_WALLPOLLS_H
#define COLLECT_WALLPOLLS_H

#include <stdint.h>

#include "base/buf.h"

struct collect;
struct proc;
struct wallpolls;

/* Before the command is executed, if there is one. */
struct wallpolls *wallpolls_new(struct collect *c);
void wallpolls_free(struct wallpolls *x);	/* NULL: nothing */

/* A look at all threads; the first finds the processes to record. */
void wallpolls_look(struct collect *c, struct wallpolls *x, uint64_t now_ns);
/* How long the next look is to wait, so that looks take a small part of a CPU only. */
uint64_t wallpolls_pause_ns(const struct wallpolls *x);
/* Read again what the process has mapped, before a thread of it is walked: no record says so. */
void wallpolls_map(struct collect *c, struct wallpolls *x, struct proc *p);
/* Return the time between two looks, on average; 0: there was one at most. */
uint64_t wallpolls_interval_ns(const struct wallpolls *x);

#endif
