/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup.h - control groups: the one that a process is in, and the container to which it belongs.
 *
 * Whoever may make groups names them, so any bytes but a newline can be in a path.
 */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { CGROUP_MAX_PATH = 4096 };

/*
 * The path in a text as /proc/PID/cgroup has it: that of version 2, or if that is the root, of the
 * hierarchies of version 1 perf_event's, systemd's, or the first that is not its root. "/" when all are; 0
 * bytes when the text has none. *path points into the text; its length is returned, at most CGROUP_MAX_PATH.
 */
size_t cgroup_parse(const char *text, size_t len, const char **path);

/* Return the same in the hierarchy of that controller, "" of version 2. */
size_t cgroup_parse_of(const char *text, size_t len, const char *controller, const char **path);

/*
 * Appends the id of the container whose processes are in that group: 64 hexadecimal digits of docker,
 * podman, containerd and CRI-O, with Kubernetes or without; the name of LXC and systemd-nspawn. Of nested
 * containers it is the innermost. Returns false if the group belongs to no container.
 */
bool cgroup_container(const char *path, size_t len, struct buf *id);

/*
 * Reads it of a running process: as cgroup_parse(), or with a controller that of its hierarchy, "" of
 * version 2. False: the process is gone, or there is none. *path is a string otherwise.
 */
bool cgroup_of(int pid, const char *controller, struct buf *path);

/* Check whether the path is that group or one below it. The group may lack its first slash. */
bool cgroup_is_below(const char *path, const char *group);

#endif
