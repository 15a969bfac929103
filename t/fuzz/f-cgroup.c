// SPDX-License-Identifier: GPL-2.0-or-later
/* f-cgroup.c - any text as /proc/PID/cgroup. */
#include <stdint.h>
#include <stdlib.h>

#include "base/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf id = BUF_INIT;
	const char *path;
	size_t path_len = cgroup_parse((const char *)data, len, &path);

	if (path_len > CGROUP_MAX_PATH || (path_len && (path < (const char *)data || *path != '/')))
		abort();
	cgroup_parse_of((const char *)data, len, "perf_event", &path);
	path_len = cgroup_parse((const char *)data, len, &path);
	if (path_len)
		cgroup_container(path, path_len, &id);
	cgroup_container((const char *)data, len, &id);
	buf_release(&id);
	return 0;
}
