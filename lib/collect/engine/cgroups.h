/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroups.h - the control groups that a recording is limited to. */
#ifndef COLLECT_CGROUPS_H
#define COLLECT_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

struct cgroups {
	int *fds;		/* of their folders, for perf_event_open() */
	const char **paths;	/* as they were named; strings of the caller */
	size_t nr;
	const char *controller;	/* as base/cgroup.h has it: of the hierarchy that they are in */
};

/*
 * Opens the groups, named by their paths below the root of the hierarchy that has perf events: of version 1
 * where one is mounted, else of version 2. One that is below another is part of that, and left out;
 * names are to outlive them. -ENOENT, -ENOTSUP: *e says which is missing.
 */
int cgroups_open(struct cgroups *g, const struct opt_list *names, struct err *e);
void cgroups_close(struct cgroups *g);

/*
 * Return whether one of them is the root of its hierarchy, and the only one: all of the machine, idle
 * tasks included.
 */
bool cgroups_are_all(const struct cgroups *g);
/*
 * Get the CPU time that the kernel charged to a group, with those below it, since it was made; return false
 * if it was removed, or is of version 1.
 */
bool cgroups_used(const struct cgroups *g, size_t at, uint64_t *ns);

/* Return whether the process is in one of them, or below one. */
bool cgroups_have(const struct cgroups *g, int pid);

#endif
