// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * target.c - what /proc says of a process that is to be attached to (target.h).
 *
 * Source: HotSpot's os.cpp (initialize_jdk_signal_support(): the handler of SIGQUIT is the last of what a
 * signal needs, and with -Xrs there is none), and sun.tools.attach, which goes by SigCgt as well. Names of
 * threads say nothing: JDK 26 shortens that of the thread for signals.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "jvm/perfdata.h"
#include "jvm/target.h"

enum { START_SECONDS = 10 };

static int target_slurp(int pid, const char *what, struct buf *b)
{
	char path[320];

	buf_reset(b);
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return io_slurp(path, b) || !b->len ? -1 : 0;
}

/* Return whether a line of maps, the text of /proc/PID/maps, ends in name, or in name and " (deleted)". */
static bool maps_file(const char *maps, const char *name)
{
	const char *at = maps;
	size_t len = strlen(name);

	while ((at = strstr(at, name))) {
		at += len;
		if (*at == '\n' || *at == ' ' || !*at)
			return true;
	}
	return false;
}

bool target_is_jvm(int pid)
{
	struct buf b = BUF_INIT;
	bool is = !target_slurp(pid, "maps", &b) && maps_file(b.data, "/libjvm.so");

	buf_release(&b);
	return is;
}

/* Return what follows "\nkey:\t" in the text of /proc/PID/status, or "" without it. */
static const char *status_field(const char *status, const char *key)
{
	char pattern[32];
	const char *at;

	snprintf(pattern, sizeof(pattern), "\n%s:\t", key);
	at = strstr(status, pattern);
	return at ? at + strlen(pattern) : "";
}

static int last_number(const char *line)
{
	int v = 0;

	for (; *line && *line != '\n'; line += strcspn(line, "\t\n"), line += *line == '\t')
		v = atoi(line);
	return v;
}

static int read_status(struct target *t, struct err *e)
{
	struct buf b = BUF_INIT;
	unsigned int uid[2] = { 0 }, gid[2] = { 0 };
	unsigned long long caught = 0;
	char state;
	int r = 0;

	if (target_slurp(t->pid, "status", &b)) {
		buf_release(&b);
		return err_set(e, ESRCH, "no process %d", t->pid);
	}
	state = *status_field(b.data, "State");
	sscanf(status_field(b.data, "Uid"), "%u\t%u", &uid[0], &uid[1]);
	sscanf(status_field(b.data, "Gid"), "%u\t%u", &gid[0], &gid[1]);
	sscanf(status_field(b.data, "SigCgt"), "%llx", &caught);
	t->euid = uid[1];
	t->egid = gid[1];
	t->own_pid = last_number(status_field(b.data, "NSpid"));
	t->own_pid = t->own_pid ? t->own_pid : t->pid;
	t->takes_signal = caught >> (SIGQUIT - 1) & 1;
	if (state == 'Z' || state == 'X') {
		r = err_set(e, ESRCH, "process %d has ended", t->pid);
	} else if (state == 'T' || state == 't') {
		r = err_set(e, EBUSY, "process %d is stopped and cannot take the agent", t->pid);
		err_hint(e, "let it run ('kill -CONT %d'), then try again", t->pid);
	} else if (geteuid() && geteuid() != t->euid) {
		r = err_set(e, EPERM, "process %d belongs to another user", t->pid);
		err_hint(e, "run arcprof as that user, or as root");
	}
	buf_release(&b);
	return r;
}

/*
 * Return whether it allows attaching, by its performance data, a file that it has mapped, with a name as it
 * sees it.
 */
static bool allows_attach(const struct target *t, const char *maps)
{
	struct buf data = BUF_INIT;
	bool unknown = perfdata_read(t->pid, t->euid, maps, &data);
	bool allows = unknown || perfdata_allows_attach(data.data, data.len);

	buf_release(&data);
	return allows;
}

/* Return the seconds since its start: field 22 of /proc/PID/stat has that time, in ticks since boot. */
static double age(int pid)
{
	struct buf b = BUF_INIT;
	unsigned long long ticks = 0;
	const char *at = NULL;
	struct timespec now;
	int i;

	if (!target_slurp(pid, "stat", &b))
		at = strrchr(b.data, ')');
	for (i = 0; i < 20 && at; i++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	buf_release(&b);
	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9 - (double)ticks / sysconf(_SC_CLK_TCK);
}

static int read_maps(const struct target *t, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = 0;

	if (target_slurp(t->pid, "maps", &b))
		r = err_set(e, EACCES, "process %d may not be looked into", t->pid);
	else if (!maps_file(b.data, "/libjvm.so") || strstr(b.data, "/libj9vm"))
		r = err_set(e, ENOTSUP, "process %d is not a HotSpot JVM", t->pid);
	else if (!allows_attach(t, b.data))
		r = err_set(e, EPERM, "process %d lets nothing attach: it runs with -XX:+DisableAttachMechanism", t->pid);
	buf_release(&b);
	return r;
}

int target_check(struct target *t, int pid, struct err *e)
{
	int r;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	r = read_status(t, e);
	if (!r)
		r = read_maps(t, e);
	if (r)
		return r;
	t->is_new = age(pid) < START_SECONDS;
	return 0;
}
