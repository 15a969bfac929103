// SPDX-License-Identifier: GPL-2.0-or-later
/* spawn.c - starts a program, held before its first instruction (spawn.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"

static void __attribute__((noreturn)) spawn_child(int go_fd, int error_fd, char *const *argv)
{
	sigset_t none;
	char c;
	int code;

	if (read(go_fd, &c, 1) != 1)	/* whoever started us gave up */
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	code = errno;
	if (write(error_fd, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int spawn_start(struct spawn *s, char *const *argv, struct err *e)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_errno(e, "pipe");
	if (pipe2(error, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return err_errno(e, "pipe");
	}
	s->pid = fork();
	if (!s->pid) {
		close(go[1]);	/* ours must be the last one: its end tells that we gave up */
		spawn_child(go[0], error[1], argv);
	}
	close(go[0]);
	close(error[1]);
	s->go_fd = go[1];
	s->error_fd = error[0];
	if (s->pid < 0) {
		close(go[1]);
		close(error[0]);
		return err_errno(e, "cannot fork");
	}
	return 0;
}

int spawn_go(struct spawn *s, const char *name, struct err *e)
{
	int code = 0;
	ssize_t n;

	if (write(s->go_fd, "", 1) != 1)
		code = errno;
	close(s->go_fd);
	do
		n = read(s->error_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(s->error_fd);
	s->go_fd = s->error_fd = -1;
	if (n <= 0 && !code)
		return 0;
	waitpid(s->pid, NULL, 0);
	errno = code;
	err_errno(e, "cannot run '%s'", name);
	e->kind = ERR_EXEC;
	return -e->code;
}
