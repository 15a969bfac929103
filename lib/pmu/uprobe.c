// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uprobe.c - tracepoints at instructions of user code: Documentation/trace/uprobetracer.rst of Linux.
 *
 * Those of a process are in the group arcprof_PID, and are called p0, p1, ... The kernel refuses to take away
 * one that somebody uses, so that at worst those of a process in another PID namespace stay.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "pmu/tracepoint.h"
#include "pmu/uprobe.h"

#define GROUP "arcprof_"

static bool uprobe_begins_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

bool uprobe_is_return(const char *name)
{
	return uprobe_begins_with(name, "uprobe-return:");
}

bool uprobe_is_named(const char *name)
{
	return uprobe_begins_with(name, "uprobe:") || uprobe_is_return(name);
}

void uprobe_split(const char *name, char **file, const char **function)
{
	const char *colon;

	name = strchr(name, ':') + 1;
	colon = strchr(name, ':');
	*file = xstrndup(name, colon - name);
	*function = colon + 1;
}

int uprobe_parse(const char *name, struct pmu_event *ev, struct err *e)
{
	const char *file = strchr(name, ':') + 1, *colon = strchr(file, ':');

	memset(ev, 0, sizeof(*ev));
	if (!colon || colon == file || !colon[1])
		return err_set(e, EINVAL, "event '%.80s': want %.*sFILE:FUNCTION, as in uprobe:libc.so.6:malloc",
			       name, (int)(file - name), name);
	if (strlen(name) >= sizeof(ev->name))
		return err_set(e, EINVAL, "event name '%.40s...' is too long", name);
	strcpy(ev->name, name);
	ev->unit = uprobe_is_return(name) ? "returns" : "calls";
	ev->attr.size = sizeof(ev->attr);
	ev->attr.type = PERF_TYPE_TRACEPOINT;
	return 0;
}

static int write_line(int list, const char *line)
{
	ssize_t n = write(list, line, strlen(line));

	return n < 0 ? -errno : 0;
}

static void take_away(const struct uprobes *u, const char *group, const char *name)
{
	char line[2 * NAME_MAX + 8];

	snprintf(line, sizeof(line), "-:%.255s/%.255s\n", group, name);
	write_line(u->list, line);
}

static DIR *open_events(const struct uprobes *u, const char *name)
{
	int fd = openat(u->events, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static void take_away_group(const struct uprobes *u, const char *group)
{
	DIR *dir = open_events(u, group);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] == 'p')
			take_away(u, group, d->d_name);
	io_close_folder(dir);
}

/* Take away tracepoints of processes that were killed, or that had our number. */
static void take_away_old(const struct uprobes *u)
{
	DIR *dir = open_events(u, ".");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		int pid;

		if (!uprobe_begins_with(d->d_name, GROUP))
			continue;
		pid = atoi(d->d_name + strlen(GROUP));
		if (pid == getpid() || (pid > 0 && kill(pid, 0) && errno == ESRCH))
			take_away_group(u, d->d_name);
	}
	io_close_folder(dir);
}

static int denied(int code, struct err *e)
{
	if (code == ENOENT || code == ENODEV) {
		err_set(e, ENOTSUP, "this kernel has no uprobe events (CONFIG_UPROBE_EVENTS), or no tracefs");
		return -e->code;
	}
	err_set(e, code, "calls of native functions are recorded by uprobes, which this user may not use: %s",
		strerror(code));
	err_hint(e, "run as root, where tracefs can be written (/sys/kernel/tracing/uprobe_events)");
	return -code;
}

static int open_list(struct uprobes *u, struct err *e)
{
	if (u->events >= 0)
		return 0;
	u->events = tracefs_events();
	if (u->events < 0)
		return denied(-u->events, e);
	u->list = openat(u->events, "../uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	return u->list < 0 ? denied(errno, e) : 0;
}

int uprobes_allowed(struct err *e)
{
	struct uprobes u = UPROBES_INIT;
	int r = open_list(&u, e);

	uprobes_release(&u);
	return r;
}

int uprobe_add(struct uprobes *u, int fd, const uint64_t *offs, size_t nr, uint64_t *id, struct err *e)
{
	struct tracepoint t;
	char line[128], name[64];
	int r = open_list(u, e);
	size_t i;

	if (r)
		return r;
	if (!u->nr)
		take_away_old(u);
	snprintf(name, sizeof(name), GROUP "%d/p%u", getpid(), u->nr);
	u->nr++;
	for (i = 0; i < nr && !r; i++) {
		/* by the descriptor: it is this file, whatever its name, and in whichever mount namespace */
		snprintf(line, sizeof(line), "p:%s /proc/self/fd/%d:0x%" PRIx64 "\n", name, fd, offs[i]);
		r = write_line(u->list, line);
	}
	if (r == -EACCES || r == -EPERM)
		return denied(-r, e);
	if (r)
		return err_set(e, -r, "the kernel takes no uprobe there: %s", strerror(-r));
	r = tracepoint_read(u->events, name, &t);
	*id = t.id;
	return r ? err_set(e, -r, "the kernel's new tracepoint cannot be read: %s", strerror(-r)) : 0;
}

void uprobes_release(struct uprobes *u)
{
	char group[32], name[32];
	unsigned int i;

	snprintf(group, sizeof(group), GROUP "%d", getpid());
	for (i = 0; i < u->nr; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		take_away(u, group, name);
	}
	if (u->list >= 0)
		close(u->list);
	if (u->events >= 0)
		close(u->events);
	*u = (struct uprobes)UPROBES_INIT;
}
