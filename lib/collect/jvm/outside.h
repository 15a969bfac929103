/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside.h - JVMs without an agent: a process of ours walks their stacks (lib/outside), one for each JVM. It
 * is asked for each sample whose native code led to the JVM's own, and its answer is a user half (java.h), as
 * an agent's would be.
 */
#ifndef COLLECT_OUTSIDE_H
#define COLLECT_OUTSIDE_H

#include <stdbool.h>

#include "base/err.h"
#include "trace/writer.h"
#include "unwind/perfsample.h"

struct collect;
struct java;
struct outside;
struct proc;

/* Why no agent is let into some processes. */
#define OUTSIDE_OTHER_CLOCK "its clock is another than ours (time_namespaces(7))"

enum { OUTSIDE_MS = 2 };	/* between two turns of the loop: what is read later may have changed */

/* Return what was requested and needs an agent, as only stacks are known from outside; NULL: nothing. */
const char *outside_lacks(const struct collect *c);
/*
 * Begin with a running JVM; wait: until it is known whether it can be walked. *e says why not; it is
 * not tried again. why: it has no agent, for the head of reports; "": none was to come.
 */
int outside_begin(struct collect *c, struct proc *p, bool wait, const char *why, struct err *e);
/* Check whether known JVMs have ended, and report changes; with JAVA_OUTSIDE, look for new ones, too. */
void outside_turn(struct collect *c);
/* Wait at the end until requests are answered, but not for long. */
void outside_wait(struct collect *c);
void outside_free(struct outside *o);
/* Return whether it walks the stacks of this JVM, which may be NULL. */
bool outside_walks(const struct java *j);
/*
 * Have the stack walked from ps->regs on, which are in the JVM's own code; s: the kernel's half. Returns
 * false if too much is requested already.
 */
bool outside_ask(struct java *j, const struct rec_sample *s, int tid, const struct perf_sample *ps, bool cut);

#endif
