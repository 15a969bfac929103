/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clocks.h - clocks of CPUs with a BPF program of ours, and events into which it writes samples for agents.
 */
#ifndef UNIT_CLOCKS_H
#define UNIT_CLOCKS_H

enum { CLOCKS_MOST_CPUS = 64 };

/* One clock of 1 ms on each CPU that may have one. They are open until clocks_close(). */
void clocks_open(int filter);
/* On each of these CPUs an event in the map, for samples with raw data (pmu/bpf/trapped.h). */
void clocks_tell(int map);
void clocks_close(void);

#endif
