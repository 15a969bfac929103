/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timedcalls.h - calls of methods that a condition is about ("record --when 'method com.x.App.serve>500ms'").
 *
 * Only these methods get probes, which note in memory shared with the recorder since when a call has been
 * open (CALLFLOW_TIMED of callflow/area.h). The recorder looks there ten times in the time of the shortest
 * limit, so a call that goes on is noticed while it does. One that ends between two looks is noticed at
 * the next: none is missed.
 */
#ifndef COLLECT_TIMEDCALLS_H
#define COLLECT_TIMEDCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/control/triggers.h"
#include "jvm/server.h"

struct collect;
struct proc;

/* Return whether there is such a condition. */
bool timedcalls_wanted(const struct trigger_opts *o);

/* Set c->timed, if there is such a condition. */
void timedcalls_open(struct collect *c);

/*
 * Make the memory for a JVM that has just connected; return its descriptor, for the caller to close, or -1.
 */
int timedcalls_new(struct collect *c, struct jvm *jvm, struct proc *p, uint64_t *bytes);
/* Note the name of a method of the JVM. */
void timedcalls_method(struct collect *c, struct jvm *jvm, const struct jvm_method *m);
/* Release the JVM. */
void timedcalls_gone(struct collect *c, struct jvm *jvm);

#endif
