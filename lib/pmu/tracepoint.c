// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracepoint.c - reads tracefs (Documentation/trace/events.rst of Linux).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmu/tracepoint.h"

enum { FORMAT_BYTES = 16384 };

/* Make a mount that is in no folder, and gone when its last file is closed: Linux 5.2. */
static int mount_own(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), mnt = -1, events, code;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mnt = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	code = errno;
	if (fs >= 0)
		close(fs);
	if (mnt < 0)
		return -code;
	events = openat(mnt, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	code = errno;
	close(mnt);
	return events < 0 ? -code : events;
}

int tracefs_events(void)
{
	static const char *const mounted[] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };
	int code = ENOENT, fd;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounted); i++) {
		fd = open(mounted[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno == EACCES)
			code = EACCES;
	}
	fd = code == EACCES ? -EACCES : mount_own();
	return fd == -EPERM ? -EACCES : fd;
}

/* "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;" */
static void parse_field(const char *line, struct tracepoint *t)
{
	struct tracepoint_field *f = &t->fields[t->nr_fields];
	const char *end = strchr(line, ';'), *name, *bracket;
	unsigned int off, len;
	size_t n;

	if (!end || t->nr_fields == TRACEPOINT_FIELDS ||
	    sscanf(end + 1, " offset:%u; size:%u;", &off, &len) != 2 || off > UINT16_MAX || len > UINT16_MAX)
		return;
	for (name = end; name > line && name[-1] != ' '; name--)
		;
	bracket = memchr(name, '[', end - name);
	if (bracket)
		end = bracket;
	n = MIN((size_t)(end - name), sizeof(f->name) - 1);
	memcpy(f->name, name, n);
	f->name[n] = '\0';
	f->off = off;
	f->len = len;
	t->nr_fields++;
}

int tracepoint_parse(const char *text, struct tracepoint *t)
{
	const char *line;

	memset(t, 0, sizeof(*t));
	for (line = text; line && *line; line = strchr(line, '\n'), line += !!line) {
		if (!strncmp(line, "ID: ", 4))
			t->id = strtoull(line + 4, NULL, 10);
		else if (!strncmp(line, "\tfield:", 7))
			parse_field(line + 7, t);
	}
	return t->id ? 0 : -EPROTO;
}

int tracepoint_read(int events_fd, const char *name, struct tracepoint *t)
{
	char path[128], *text;
	size_t len = 0;
	ssize_t n;
	int fd, r;

	snprintf(path, sizeof(path), "%s/format", name);
	fd = openat(events_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EPERM ? -EACCES : -errno;
	text = xmalloc(FORMAT_BYTES);
	while (len < FORMAT_BYTES - 1 && (n = read(fd, text + len, FORMAT_BYTES - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	close(fd);
	r = tracepoint_parse(text, t);
	free(text);
	return r;
}

const struct tracepoint_field *tracepoint_field(const struct tracepoint *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->nr_fields; i++)
		if (!strcmp(t->fields[i].name, name))
			return &t->fields[i];
	return NULL;
}

int64_t tracepoint_value(const struct tracepoint_field *f, const void *raw, size_t len)
{
	uint64_t v = 0;

	if (!f || !f->len || f->len > sizeof(v) || f->off > len || f->len > len - f->off)
		return 0;
	memcpy(&v, (const uint8_t *)raw + f->off, f->len);	/* every supported CPU is little-endian */
	return (int64_t)(v << (64 - 8 * f->len)) >> (64 - 8 * f->len);
}
