// SPDX-License-Identifier: GPL-2.0-or-later
/* crashes.c - finds out how processes ended that are not our children (crashes.h). */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/control/crashes.h"
#include "jvm/perfdata.h"
#include "jvm/target.h"

enum { MAX_ASKED = 40, ASK_NS = 250000000 };

struct crash_watch {
	int pid, own_pid;		/* own_pid: as it calls itself */
	int pidfd, root;		/* -1: none */
	uid_t uid;
	bool is_jvm;
	uint64_t since_s;		/* files that are older are of others */
	char *folder;			/* its working folder, as it sees it; "" unknown */
	char *error_file;		/* of -XX:ErrorFile=; NULL: its default */
	unsigned int nr_asked;		/* how often we looked whether it says that itself */
	uint64_t asked_ns;
};

/* ---- the options of the JVM ---- */

static const char option[] = "-XX:ErrorFile=";

/*
 * Find the last such option among words that are separated by one of these characters; quotes belong to their
 * word.
 */
static void find_as(const char *what, const char *text, size_t len, const char *separators, char **path)
{
	const size_t what_len = strlen(what);
	size_t at = 0, end;

	for (; at < len; at = end + 1) {
		for (end = at; end < len && text[end] && !strchr(separators, text[end]); end++)
			;
		if (end - at <= what_len || memcmp(text + at, what, what_len))
			continue;
		free(*path);
		*path = xstrndup(text + at + what_len, end - at - what_len);
	}
}

static void find_option(const char *text, size_t len, const char *separators, char **path)
{
	find_as(option, text, len, separators, path);
}

static void find_in_variable(const char *name, const char *vars, size_t len, char **path)
{
	const size_t name_len = strlen(name);
	size_t at = 0, end;

	for (; at < len; at = end + 1) {
		end = at + strnlen(vars + at, len - at);
		if (end - at > name_len && !memcmp(vars + at, name, name_len) &&
		    vars[at + name_len] == '=')
			find_option(vars + at + name_len + 1, end - at - name_len - 1, " \t\n", path);
	}
}

/* Search the options in the order in which a JVM takes them: the last counts. */
char *crashes_error_file(const char *args, size_t args_len, const char *vars, size_t vars_len)
{
	char *path = NULL;

	find_in_variable("JAVA_TOOL_OPTIONS", vars, vars_len, &path);
	find_in_variable("JDK_JAVA_OPTIONS", vars, vars_len, &path);
	find_option(args, args_len, "", &path);
	find_in_variable("_JAVA_OPTIONS", vars, vars_len, &path);
	return path;
}

/* Return whether a text was cut, and so ends with dots. */
static bool is_cut(const char *text)
{
	size_t len = strlen(text);

	return len >= 3 && !strcmp(text + len - 3, "...");
}

char *crashes_told_file(const char *flags, const char *args, char *seen)
{
	char *path = NULL;

	find_as("ErrorFile=", flags, strlen(flags), " \n", &path);
	find_option(args, strlen(args), " ", &path);
	/* what was seen on the command line may have blanks */
	if (!path || (seen && (is_cut(args) || !strncmp(path, seen, strlen(path))))) {
		free(path);
		return seen;
	}
	free(seen);
	return path;
}

static char *configured(int pid)
{
	struct buf args = BUF_INIT, vars = BUF_INIT;
	char name[32], *path;

	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	io_slurp(name, &args);
	snprintf(name, sizeof(name), "/proc/%d/environ", pid);
	io_slurp(name, &vars);
	path = crashes_error_file(args.data, args.len, vars.data, vars.len);
	buf_release(&args);
	buf_release(&vars);
	return path;
}

/* Ask the JVM: files of arguments and flags, and all variables, are in what it reports once it is up. */
static void crash_ask(struct crash_watch *w)
{
	struct buf maps = BUF_INIT, data = BUF_INIT, args = BUF_INIT, flags = BUF_INIT;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/maps", w->pid);
	if (!io_slurp(name, &maps) && maps.len && !perfdata_read(w->pid, w->uid, maps.data, &data) &&
	    perfdata_text(data.data, data.len, "java.rt.vmArgs", &args)) {
		perfdata_text(data.data, data.len, "java.rt.vmFlags", &flags);
		w->error_file = crashes_told_file(flags.len ? flags.data : "", args.len ? args.data : "",
						  w->error_file);
		w->nr_asked = MAX_ASKED;
	}
	buf_release(&maps);
	buf_release(&data);
	buf_release(&args);
	buf_release(&flags);
}

static void ask_in_time(struct crash_watch *w)
{
	const uint64_t now_ns = clock_mono_ns();

	if (!w->is_jvm || w->nr_asked >= MAX_ASKED || now_ns < w->asked_ns + ASK_NS)
		return;
	w->nr_asked++;
	w->asked_ns = now_ns;
	crash_ask(w);
}

static size_t link_of(int pid, const char *what, char path[static PATH_MAX])
{
	char name[32];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, what);
	n = readlink(name, path, PATH_MAX - 1);
	path[MAX(n, (ssize_t)0)] = '\0';
	return MAX(n, (ssize_t)0);
}

/* Return the working folder as the process sees it: after a chroot(2) the links start from our root. */
static char *working_folder(int pid)
{
	char path[PATH_MAX], root[PATH_MAX];
	size_t len = link_of(pid, "root", root);

	link_of(pid, "cwd", path);
	if (len <= 1 || strncmp(path, root, len) || (path[len] && path[len] != '/'))
		return xstrdup(path);
	return xstrdup(path[len] ? path + len : "/");
}

static int crash_own_pid(int pid)
{
	struct buf b = BUF_INIT;
	const char *line, *last;
	char name[32];
	int own = pid;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	if (!io_slurp(name, &b) && b.len && (line = strstr(b.data, "\nNSpid:"))) {
		for (last = line += strlen("\nNSpid:"); *line && *line != '\n'; line++)
			last = *line == '\t' ? line + 1 : last;
		own = atoi(last) > 0 ? atoi(last) : pid;
	}
	buf_release(&b);
	return own;
}

static struct crash_watch *crashes_find(const struct crashes *s, int pid)
{
	size_t i;

	for (i = 0; i < s->nr_items; i++)
		if (s->items[i].pid == pid)
			return &s->items[i];
	return NULL;
}

static void crash_watch_release(struct crash_watch *w)
{
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (w->root >= 0)
		close(w->root);
	free(w->folder);
	free(w->error_file);
}

void crashes_watch(struct crashes *s, int pid)
{
	struct crash_watch w = { .pid = pid, .root = -1 };
	char name[32];
	struct stat st;
	struct err e;

	if (crashes_find(s, pid))
		return;
	w.pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (w.pidfd < 0)
		return;
	snprintf(name, sizeof(name), "/proc/%d", pid);
	w.uid = stat(name, &st) ? geteuid() : st.st_uid;
	w.since_s = clock_real_ns() / 1000000000;
	w.is_jvm = target_is_jvm(pid);
	w.own_pid = crash_own_pid(pid);
	w.folder = working_folder(pid);
	if (w.is_jvm) {
		w.root = foreign_root(pid, &e);
		w.error_file = configured(pid);
	}
	*VEC_ADD(s->items, s->nr_items, s->alloc_items) = w;
}

int crashes_fd(const struct crashes *s, int pid)
{
	const struct crash_watch *w = crashes_find(s, pid);

	return w ? w->pidfd : -1;
}

/* ---- the file ---- */

/* %p is its number, %% one of it, as a JVM has it. */
static void crash_put_name(struct buf *b, const char *pattern, int own_pid)
{
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p')
			buf_fmt(b, "%d", own_pid);
		else
			buf_putc(b, *pattern);
		pattern += pattern[0] == '%' && (pattern[1] == 'p' || pattern[1] == '%');
	}
}

/*
 * Return whether a file was written since we watch the process, and belongs to its user, in its view of the
 * files.
 */
static bool crash_is_there(const struct crash_watch *w, const char *path)
{
	const struct foreign_rule rule = { .owner = w->uid, .max_bytes = 1 << 30, .links = true };
	struct stat st;
	struct err e;
	int fd = foreign_open(w->root, path, &rule, &e);
	bool there;

	if (fd < 0)
		return false;
	there = !fstat(fd, &st) && st.st_size && (uint64_t)st.st_mtim.tv_sec + 1 >= w->since_s;
	close(fd);
	return there;
}

/* Find the error file in the places where a JVM puts it: as its option says, in its folder, in /tmp. */
static bool find_error_file(const struct crash_watch *w, struct buf *path)
{
	const char *const places[] = { w->error_file, "hs_err_pid%p.log", "/tmp/hs_err_pid%p.log" };
	size_t i;

	for (i = 0; w->root >= 0 && i < ARRAY_SIZE(places); i++) {
		if (!places[i] || (*places[i] != '/' && !*w->folder))
			continue;
		buf_reset(path);
		if (*places[i] != '/')
			buf_fmt(path, "%s/", strcmp(w->folder, "/") ? w->folder : "");
		crash_put_name(path, places[i], w->own_pid);
		if (crash_is_there(w, path->data))
			return true;
	}
	return false;
}

/* ---- its status ---- */

/* struct pidfd_info of Linux 6.13, whose exit_code is there from 6.15 on: also when the process is gone. */
struct process_info {
	uint64_t mask, cgroup_id;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};

enum { INFO_EXIT = 1 << 3 };

_Static_assert(sizeof(struct process_info) == 64, "as the kernel has it");

static int status_by_pidfd(const struct crash_watch *w)
{
	struct process_info info = { .mask = INFO_EXIT };

	if (ioctl(w->pidfd, _IOWR(0xff, 11, struct process_info), &info) || !(info.mask & INFO_EXIT))
		return -1;
	return info.exit_code;
}

/* Read the last field if the process is still a zombie: it keeps its number then. */
static int status_by_proc(const struct crash_watch *w)
{
	struct buf b = BUF_INIT;
	const char *at, *last;
	int status = -1;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", w->pid);
	if (!io_slurp(name, &b) && b.len && (at = strrchr(b.data, ')')) && !strncmp(at, ") Z ", 4)) {
		last = strrchr(at, ' ');
		status = atoi(last + 1);
	}
	buf_release(&b);
	return status;
}

static bool crash_has_ended(const struct crash_watch *w)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

bool crashes_has_ended(const struct crashes *s, int pid)
{
	const struct crash_watch *w = crashes_find(s, pid);

	return w && crash_has_ended(w);
}

void crashes_look(struct crashes *s, void (*ended)(void *ctx, const struct crash *crash), void *ctx)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_items; i++) {
		struct crash_watch *w = &s->items[i];
		struct crash crash = { .pid = w->pid, .is_jvm = w->is_jvm };
		struct buf path = BUF_INIT;

		if (!crash_has_ended(w)) {
			ask_in_time(w);
			s->items[nr++] = *w;
			continue;
		}
		crash.status = status_by_proc(w);	/* first: it is there for a moment only */
		if (crash.status < 0)
			crash.status = status_by_pidfd(w);
		if (w->is_jvm && find_error_file(w, &path))
			crash.error_file = path.data;
		ended(ctx, &crash);
		buf_release(&path);
		crash_watch_release(w);
	}
	s->nr_items = nr;
}

void crashes_release(struct crashes *s)
{
	size_t i;

	for (i = 0; i < s->nr_items; i++)
		crash_watch_release(&s->items[i]);
	free(s->items);
}

int crashes_signal(int status)
{
	static const int fatal[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS };
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fatal); i++)
		if (sig == fatal[i])
			return sig;
	return 0;
}
