// SPDX-License-Identifier: GPL-2.0-or-later
/* cgroups.c - opens the control groups that a recording is limited to (cgroups.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cgroup.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/cgroups.h"

static bool has_option(const char *options, const char *name)
{
	size_t len = strlen(name);

	for (; options; options = strchr(options, ',') ? strchr(options, ',') + 1 : NULL)
		if (!strncmp(options, name, len) && (!options[len] || options[len] == ','))
			return true;
	return false;
}

/*
 * Return where a line of /proc/self/mounts, which is cut up, mounts a file system of that type, or NULL
 * if it does not.
 */
static const char *mount_of(char *line, const char *type, const char *option)
{
	char *save, *part[4];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(part); i++)
		if (!(part[i] = strtok_r(i ? NULL : line, " ", &save)))
			return NULL;
	return !strcmp(part[2], type) && (!option || has_option(part[3], option)) ? part[1] : NULL;
}

/* Find the first such mount, "" if there is none. */
static void find_mount(const char *type, const char *option, struct buf *path)
{
	struct buf b = BUF_INIT;
	char *line, *save;
	const char *at = NULL;

	buf_reset(path);
	buf_str(path, "");
	if (!io_slurp("/proc/self/mounts", &b) && b.len)
		for (line = strtok_r(b.data, "\n", &save); line && !at; line = strtok_r(NULL, "\n", &save))
			at = mount_of(line, type, option);
	if (at)
		buf_str(path, at);
	buf_release(&b);
}

static int open_group(const char *mount, const char *name, struct err *e)
{
	struct buf path = BUF_INIT;
	int fd;

	buf_fmt(&path, "%s/%s", mount, name + (*name == '/'));
	fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		err_set(e, ENOENT, "no control group '%s': there is no folder %s", name, path.data);
		err_hint(e, "name it as /proc/PID/cgroup does, such as system.slice/cron.service");
	} else if (fd < 0) {
		err_errno(e, "%s", path.data);
	}
	buf_release(&path);
	return fd < 0 ? -e->code : fd;
}

/* Return whether another name covers this one; of equal paths the first does. */
static bool is_covered(const struct opt_list *names, size_t at)
{
	size_t i;

	for (i = 0; i < names->nr_items; i++)
		if (i != at && cgroup_is_below(names->items[at], names->items[i]) &&
		    (i < at || !cgroup_is_below(names->items[i], names->items[at])))
			return true;
	return false;
}

int cgroups_open(struct cgroups *g, const struct opt_list *names, struct err *e)
{
	struct buf mount = BUF_INIT;
	int fd = 0;
	size_t i;

	*g = (struct cgroups){ .controller = "perf_event" };
	g->fds = xcalloc(names->nr_items, sizeof(*g->fds));
	g->paths = xcalloc(names->nr_items, sizeof(*g->paths));
	find_mount("cgroup", g->controller, &mount);
	if (!mount.len) {
		g->controller = "";
		find_mount("cgroup2", NULL, &mount);
	}
	if (!mount.len)
		fd = err_set(e, ENOTSUP, "no control groups: neither version 2 nor perf_event of version 1 is mounted");
	for (i = 0; i < names->nr_items && fd >= 0; i++) {
		fd = open_group(mount.data, names->items[i], e);
		if (fd >= 0 && is_covered(names, i)) {
			close(fd);
		} else if (fd >= 0) {
			g->paths[g->nr] = names->items[i];
			g->fds[g->nr++] = fd;
		}
	}
	buf_release(&mount);
	if (fd >= 0)
		return 0;
	cgroups_close(g);
	return fd;
}

void cgroups_close(struct cgroups *g)
{
	while (g->nr)
		close(g->fds[--g->nr]);
	free(g->fds);
	free(g->paths);
	g->fds = NULL;
	g->paths = NULL;
}

/* Some files exist only in the root, or only outside: what a container sees as the root is another group. */
bool cgroups_are_all(const struct cgroups *g)
{
	if (g->nr != 1)
		return false;
	return *g->controller ? !faccessat(g->fds[0], "release_agent", F_OK, 0) :
				faccessat(g->fds[0], "cgroup.type", F_OK, 0) != 0;
}

bool cgroups_used(const struct cgroups *g, size_t at, uint64_t *ns)
{
	int fd = openat(g->fds[at], "cpu.stat", O_RDONLY | O_CLOEXEC);
	char text[64];		/* it is the first line */
	uint64_t us;
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[MAX(len, (ssize_t)0)] = '\0';
	if (sscanf(text, "usage_usec %" SCNu64, &us) != 1)
		return false;
	*ns = us * 1000;
	return true;
}

bool cgroups_have(const struct cgroups *g, int pid)
{
	struct buf path = BUF_INIT;
	bool have = false;
	size_t i;

	if (cgroup_of(pid, g->controller, &path))
		for (i = 0; i < g->nr && !have; i++)
			have = cgroup_is_below(path.data, g->paths[i]);
	buf_release(&path);
	return have;
}
