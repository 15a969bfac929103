/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uprobes.h - events of a recording that are calls of native functions, or their returns (pmu/uprobe.h). */
#ifndef COLLECT_ENGINE_UPROBES_H
#define COLLECT_ENGINE_UPROBES_H

#include "base/err.h"

struct collect;

/*
 * Finds the files and functions, and makes the kernel's tracepoints of them; c->opts has those events then.
 * The program to be run is not there yet, or does not run. *e says which event it was.
 */
int uprobes_open(struct collect *c, struct err *e);
/* Takes the tracepoints away: all events must be closed. */
void uprobes_close(struct collect *c);

#endif
