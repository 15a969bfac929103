/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus.h - lists of CPU numbers: what a user names, and what is online. */
#ifndef PMU_CPUS_H
#define PMU_CPUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { CPUS_MAX = 65535 };

struct cpus {
	uint32_t *cpu;
	size_t nr_cpu, alloc_cpu;
};

/* Adds "5" or "0-3"; what is in the list already is left out.  -EINVAL: it is neither. */
int cpus_add(struct cpus *c, const char *text, struct err *e);
/* List all online CPUs, ascending: what runs on one that is left out would be missing without a word. */
void cpus_online(struct cpus *c);
/* List CPUs with a folder of their number in dir ("/dev/cpu"), ascending. */
int cpus_in_dir(struct cpus *c, const char *dir, struct err *e);
void cpus_release(struct cpus *c);

#endif
