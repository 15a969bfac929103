// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "jvm/nstid.h"

enum { FORGOTTEN = 0 };

void nstid_init(struct nstid *n, int pid, int own_pid)
{
	memset(n, 0, sizeof(*n));
	n->pid = pid;
	n->same = pid == own_pid;
}

void nstid_release(struct nstid *n)
{
	map_release(&n->host_of);
}

/* The last number of "NSpid:\t4711\t17": in the innermost namespace, its own; 0 when unknown. */
static int nstid_own_number(int pid, const char *tid)
{
	struct buf b = BUF_INIT;
	char path[320], *line, *end, *last;
	int number = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, tid);
	if (!io_slurp(path, &b) && b.len && (line = strstr(b.data, "\nNSpid:"))) {
		end = strchr(line + 1, '\n');
		if (end)
			*end = '\0';
		last = strrchr(line, '\t');
		number = last ? atoi(last + 1) : 0;
	}
	buf_release(&b);
	return number;
}

static void scan(struct nstid *n)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", n->pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		int host = atoi(d->d_name), own = host > 0 ? nstid_own_number(n->pid, d->d_name) : 0;

		if (own > 0)
			*map_put(&n->host_of, own) = host;
	}
	if (dir)
		closedir(dir);
}

int nstid_host(struct nstid *n, int tid)
{
	uint32_t host;

	if (n->same)
		return tid;
	host = map_get(&n->host_of, tid);
	if (host == MAP_NONE || host == FORGOTTEN) {
		scan(n);
		host = map_get(&n->host_of, tid);
	}
	return host == MAP_NONE || host == FORGOTTEN ? tid : (int)host;
}

bool nstid_is_of(int pid, int tid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return !access(path, F_OK);
}

void nstid_forget(struct nstid *n, int tid)
{
	if (!n->same && map_get(&n->host_of, tid) != MAP_NONE)
		*map_put(&n->host_of, tid) = FORGOTTEN;
}
