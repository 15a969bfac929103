/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list.h - the events that have names on this machine, and what they are. */
#ifndef PMU_LIST_H
#define PMU_LIST_H

/* name: as pmu_event_parse() takes it; what: a phrase, or what the kernel says it is made of. */
typedef void pmu_list_fn(void *ctx, const char *name, const char *what);

/*
 * Calls fn() for those that perf knows everywhere, for those of caches, and for those of each PMU below root,
 * which is "/sys" or a folder of a test. That there is a name does not mean that it can be counted here.
 */
void pmu_list(const char *root, pmu_list_fn *fn, void *ctx);

#endif
