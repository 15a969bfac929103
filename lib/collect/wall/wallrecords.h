/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wallrecords.h - where there is no BPF: the kernel's records of switches fill the slots (wall/switches.h).
 * Where there is, these functions do nothing.
 */
#ifndef COLLECT_WALLRECORDS_H
#define COLLECT_WALLRECORDS_H

#include "base/err.h"
#include "collect/engine/evset.h"

struct collect;

/* Before the rings are opened: what they are to have. */
void wallrecords_configure(const struct collect *c, size_t nr_cpus, struct evconf *conf);
/* One more task, for which no ring was opened; it has a slot from now on. */
int wallrecords_watch(struct collect *c, int tid, struct err *e);

void wallrecords_switch(struct collect *c, const struct perf_event_header *h, uint64_t time_ns);
void wallrecords_fork(struct collect *c, int pid, int tid, uint64_t time_ns);
void wallrecords_exec(struct collect *c, int pid, uint64_t time_ns);
void wallrecords_exit(struct collect *c, int tid, uint64_t time_ns);

#endif
