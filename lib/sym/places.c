// SPDX-License-Identifier: GPL-2.0-or-later
/* places.c - looks for files in named folders, in perf's copies and at a server (places.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sym/places.h"
#include "sym/symfile.h"

enum {
	FETCH_SECONDS = 30,
	LOOK_MS = 100,		/* between two calls of go_on */
	PATH_BYTES = 4096,
};

static const char *symfs = "";
static bool is_late;		/* a server did not answer in time: it is not waited for again */

void places_set_symfs(const char *dir)
{
	symfs = dir ? dir : "";
}

const char *places_symfs(void)
{
	return symfs;
}

char *places_perf_copy(const uint8_t *id, size_t len, const char *kind)
{
	char hex[2 * BUILD_ID_MAX + 1];
	const char *home = getenv("HOME");

	if (!home || home[0] != '/' || len < 2)
		return NULL;
	hex_put(hex, id, MIN(len, (size_t)BUILD_ID_MAX));
	return xasprintf("%s/.debug/.build-id/%.2s/%s/%s", home, hex, hex + 2, kind);
}

/* ---- debuginfod ---- */

/*
 * Start the query with our environment, by which it is configured, and without our blocked or ignored
 * signals.
 */
static int start_query(char *const argv[], int out, pid_t *pid)
{
	posix_spawn_file_actions_t a;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_addopen(&a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&a, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(pid, argv[0], &a, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&a);
	posix_spawnattr_destroy(&attr);
	return r;
}

static uint64_t most_seconds(void)
{
	const char *set = getenv("DEBUGINFOD_TIMEOUT");
	unsigned long seconds = set ? strtoul(set, NULL, 10) : 0;

	return seconds && seconds < FETCH_SECONDS ? seconds : FETCH_SECONDS;
}

/* Read its first line; return false if none came in time. */
static bool read_answer_line(int fd, char line[static PATH_BYTES], bool (*go_on)(void *ctx), void *ctx)
{
	uint64_t until_ns = clock_mono_ns() + most_seconds() * 1000000000u;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;

	while (len < PATH_BYTES - 1) {
		ssize_t n;

		if (go_on && !go_on(ctx))
			return false;
		if (clock_mono_ns() > until_ns) {
			is_late = true;
			return false;
		}
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		n = read(fd, line + len, PATH_BYTES - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += n;
	}
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line[0] == '/';
}

static bool ask_debuginfod(char *const argv[], char line[static PATH_BYTES], bool (*go_on)(void *ctx),
			   void *ctx)
{
	int fds[2], status = 0;
	pid_t pid;
	bool ok;

	if (pipe2(fds, O_CLOEXEC))
		return false;
	if (start_query(argv, fds[1], &pid)) {	/* it is not installed, most likely */
		close(fds[0]);
		close(fds[1]);
		return false;
	}
	close(fds[1]);
	ok = read_answer_line(fds[0], line, go_on, ctx);
	close(fds[0]);
	if (!ok)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ok && WIFEXITED(status) && !WEXITSTATUS(status);
}

char *places_fetch(const uint8_t *id, size_t len, bool (*go_on)(void *ctx), void *ctx)
{
	char hex[2 * BUILD_ID_MAX + 1], line[PATH_BYTES];
	char *const argv[] = { "debuginfod-find", "debuginfo", hex, NULL };
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (is_late || len < 2 || !urls || !urls[strspn(urls, " ")])
		return NULL;
	hex_put(hex, id, MIN(len, (size_t)BUILD_ID_MAX));
	return ask_debuginfod(argv, line, go_on, ctx) ? xstrdup(line) : NULL;
}
