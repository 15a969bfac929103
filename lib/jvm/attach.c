// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach.c - the client of a JVM's attach listener (attach.h).
 *
 * Source: HotSpot's attachListener_linux.cpp, attachListener.cpp; sun.tools.attach in
 * jdk.attach. What a JVM answers to "load" differs: JDK 8 a code alone, later ones
 * "return code: N", JDK 21 and later always success first and the reason of a failure in the text.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "base/mem.h"
#include "jvm/attach.h"
#include "jvm/target.h"

/* a diagnostic command may say much; only the first line of other answers is of interest */
enum { POLL_MS = 5, MAX_REPLY = 4096, MAX_ANSWER = 64 << 20 };

static const uint64_t listen_ns = 10000000000;	/* as long as the JDK's own tools wait */
/* the agent may still be giving back what a recording before took */
static const uint64_t load_ns = 60000000000;
static const uint64_t talk_ns = 120000000000;	/* with thousands of classes to change */

struct attach {
	struct target t;
	int pidfd;
	bool is_folder;			/* it is /proc/PID: there are no pidfds (Linux 5.2, or a filter) */
	int tmp;			/* its /tmp, and where the trigger is; -1: nowhere */
	int trigger_dir;
	char trigger[32];
	int sock;
	const char *const *words;	/* the command and its three arguments */
	bool patient;			/* it may take as long as it likes, */
	uint64_t patience_ns, until_ns;	/* or that long: 0 */
	attach_serve_fn serve;
	void *ctx;
	bool talks;			/* what serve() said */
	sigset_t ends, old_mask;
};

static bool is_refused(int code)
{
	return code == ENOSYS || code == EPERM || code == EACCES;
}

static int attach_hold(struct attach *a, int pid, struct err *e)
{
	char path[32];

	a->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (a->pidfd < 0 && is_refused(errno)) {
		snprintf(path, sizeof(path), "/proc/%d", pid);
		a->pidfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		a->is_folder = a->pidfd >= 0;
	}
	if (a->pidfd >= 0)
		return 0;
	return errno == ESRCH || errno == EINVAL || errno == ENOENT ?
		       err_set(e, ESRCH, "no process %d", pid) : err_errno(e, "process %d: pidfd_open", pid);
}

/*
 * Return whether the process has ended: the folder of a reaped one is empty; before that its state follows
 * its name in stat.
 */
static bool attach_has_ended(const struct attach *a)
{
	int fd = openat(a->pidfd, "stat", O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *state;

	if (fd >= 0)
		close(fd);
	text[MAX(n, 0)] = '\0';
	state = strrchr(text, ')');
	return !state || !state[1] || state[2] == 'Z' || state[2] == 'X';
}

static bool gone(const struct attach *a)
{
	struct pollfd p = { .fd = a->pidfd, .events = POLLIN };

	return a->is_folder ? attach_has_ended(a) : poll(&p, 1, 0) > 0;
}

/*
 * Waits a moment, on fd too if there is one, and serves meanwhile: a JVM may need seconds until it listens.
 * Returns the reason if there is nothing left to wait for.
 */
static int pause_a_moment(struct attach *a, int fd, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	enum attach_serves said;
	sigset_t pending;
	int sig;

	poll(&p, 1, POLL_MS);
	said = a->serve ? a->serve(a->ctx) : ATTACH_WAITS;
	a->talks |= said == ATTACH_TALKS;
	sigemptyset(&pending);
	sigpending(&pending);
	for (sig = 1; sig < SIGRTMIN; sig++)
		if (said == ATTACH_STOPS ||
		    (sigismember(&a->ends, sig) == 1 && sigismember(&pending, sig) == 1))
			return err_set(e, EINTR, "interrupted while attaching to process %d", a->t.pid);
	if (gone(a))
		return err_set(e, ESRCH, "process %d ended while it was attached to", a->t.pid);
	if (a->until_ns && clock_mono_ns() > a->until_ns)
		return err_set(e, ETIMEDOUT, "process %d did not answer in %.3g s", a->t.pid,
			       a->patience_ns / 1e9);
	return 0;
}

/* --- the listener --- */

static void become(uid_t uid, gid_t gid)
{
	if (setegid(gid) || seteuid(uid))
		return;		/* the JVM will turn us away, and that is reported */
}

/* Connect as the user: the JVM answers to its own user only, which on Linux is who we are when we connect. */
static int connect_as_its_user(const struct attach *a, int fd, const char *name)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	bool change = !uid && (a->t.euid != uid || a->t.egid != gid);
	int r;

	if (change)
		become(a->t.euid, a->t.egid);
	r = foreign_connect(a->tmp, name, fd);
	if (change && (seteuid(uid) || setegid(gid)))
		r = -1;
	return r;
}

/*
 * Return whether the socket is the JVM's own: the name may be left from an earlier process, or made by
 * somebody else.
 */
static bool is_its_own(const struct attach *a, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.pid == a->t.pid;
}

static bool connect_listener(struct attach *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char name[32];

	snprintf(name, sizeof(name), ".java_pid%d", a->t.own_pid);
	if (fd < 0)
		return false;
	if (connect_as_its_user(a, fd, name) || !is_its_own(a, fd)) {
		close(fd);
		return false;
	}
	a->sock = fd;
	return true;
}

static struct foreign_user its_user(const struct attach *a)
{
	return (struct foreign_user){ a->t.euid, a->t.egid };
}

/*
 * Make the file that the JVM waits for, whose owner it checks. Its folder may be any, so the file is made
 * with no more rights than the JVM has.
 */
static bool make_trigger(struct attach *a, int dir)
{
	const struct foreign_user u = its_user(a);
	int fd;

	if (dir < 0)
		return false;
	foreign_unlink(dir, a->trigger, 0, &u);		/* of a tool that was killed */
	fd = foreign_create(dir, a->trigger, 0600, &u);
	if (fd < 0) {
		errno = -fd;
		return false;
	}
	close(fd);
	a->trigger_dir = dir;
	return true;
}

static void remove_trigger(struct attach *a)
{
	const struct foreign_user u = its_user(a);

	if (a->trigger_dir >= 0)
		foreign_unlink(a->trigger_dir, a->trigger, 0, &u);
	if (a->trigger_dir >= 0 && a->trigger_dir != a->tmp)
		close(a->trigger_dir);
	a->trigger_dir = -1;
}

static int its_folder(const struct attach *a)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/cwd", a->t.pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Put it in the JVM's /tmp, else in its working folder: it looks in both. */
static bool place_trigger(struct attach *a)
{
	int dir;

	snprintf(a->trigger, sizeof(a->trigger), ".attach_pid%d", a->t.own_pid);
	if (make_trigger(a, a->tmp))
		return true;
	dir = its_folder(a);
	if (make_trigger(a, dir))
		return true;
	if (dir >= 0)
		close(dir);
	return false;
}

static int wait_until_it_takes_signals(struct attach *a, struct err *e)
{
	int r = 0;

	while (!r && !a->t.takes_signal) {
		if (!a->t.is_new) {
			r = err_set(e, ENOTSUP, "process %d takes no signal that would let the agent in",
				    a->t.pid);
			err_hint(e, "it runs with -Xrs, and its socket /tmp/.java_pid%d, there from the start, was removed",
				 a->t.own_pid);
			break;
		}
		r = pause_a_moment(a, -1, e);
		if (!r)
			r = target_check(&a->t, a->t.pid, e);
	}
	return r;
}

/*
 * Send the signal. The pidfd was opened before all checks, so it reaches no other process. Where signals
 * through it are refused, the number would have to be reused since the last check.
 */
static int send_quit(const struct attach *a)
{
	if (!syscall(SYS_pidfd_send_signal, a->pidfd, SIGQUIT, NULL, 0))
		return 0;
	if (!is_refused(errno) || gone(a))
		return -1;
	return kill(a->t.pid, SIGQUIT);
}

/* Wakes the listener. */
static int wake_listener(struct attach *a, struct err *e)
{
	uint64_t until;
	int r = wait_until_it_takes_signals(a, e);

	if (r)
		return r;
	if (!place_trigger(a))
		return err_errno(e, "process %d: neither its /tmp nor its folder can be written", a->t.pid);
	if (send_quit(a))
		return err_errno(e, "process %d cannot be signalled", a->t.pid);
	until = clock_mono_ns() + listen_ns;
	while (!r && !connect_listener(a)) {
		r = pause_a_moment(a, -1, e);
		if (!r && clock_mono_ns() > until) {
			r = err_set(e, ETIMEDOUT, "process %d did not let the agent in within %d s", a->t.pid,
				    (int)(listen_ns / 1000000000));
			err_hint(e, "it hangs, or runs with -XX:+DisableAttachMechanism");
		}
	}
	return r;
}

/* --- the command --- */

static int send_command(struct attach *a, struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i, done = 0;
	int r = 0;

	buf_add(&b, "1", 2);	/* of the protocol */
	for (i = 0; i < ATTACH_WORDS; i++)
		buf_add(&b, a->words[i], strlen(a->words[i]) + 1);
	while (done < b.len && !r) {
		ssize_t n = send(a->sock, b.data + done, b.len - done, MSG_NOSIGNAL);

		if (n > 0)
			done += n;
		else if (errno != EAGAIN && errno != EINTR)
			r = err_errno(e, "process %d closed the attach socket", a->t.pid);
		else
			r = pause_a_moment(a, -1, e);
	}
	buf_release(&b);
	return r;
}

static int read_reply(struct attach *a, struct buf *reply, struct err *e)
{
	uint64_t now = clock_mono_ns(), until = now + load_ns;
	bool talked = false;
	int r = 0;

	while (!r && reply->len < (a->patient ? MAX_ANSWER : MAX_REPLY)) {
		char piece[4096];
		ssize_t n = recv(a->sock, piece, sizeof(piece), 0);

		if (n > 0)
			buf_add(reply, piece, n);
		else if (!n || (errno != EAGAIN && errno != EINTR))
			break;
		if (n <= 0)
			r = pause_a_moment(a, a->sock, e);
		if (a->talks && !talked) {
			talked = true;
			until = clock_mono_ns() + talk_ns;
		}
		if (!r && !a->patient && clock_mono_ns() > until)
			r = err_set(e, ETIMEDOUT, "process %d did not load the agent in time", a->t.pid);
	}
	return r;
}

/* Set the error from the first line with text in the JVM's answer. */
static int attach_explain(const struct attach *a, const char *text, struct err *e)
{
	if (strstr(text, "ynamic agent loading is not enabled")) {
		err_set(e, EPERM, "process %d loads no agents: it runs with -XX:-EnableDynamicAgentLoading",
			a->t.pid);
		return -EPERM;
	}
	while (*text == '\n' || *text == ' ')
		text++;
	if (!*text)
		return err_set(e, EPERM, "process %d closed the attach socket without an answer", a->t.pid);
	return err_set(e, EIO, "process %d did not load the agent: %.*s", a->t.pid, (int)strcspn(text, "\n"),
		       text);
}

static int check_reply(const struct attach *a, const char *reply, struct err *e)
{
	static const char code[] = "return code: ";
	char *end;
	long first = strtol(reply, &end, 10);
	const char *rest = *end == '\n' ? end + 1 : end, *value = rest;

	if (end == reply || first)
		return attach_explain(a, end == reply ? reply : rest, e);
	if (!strncmp(rest, code, sizeof(code) - 1))
		value = rest + sizeof(code) - 1;
	if (strtol(value, &end, 10) == 0 && end != value)
		return 0;
	return attach_explain(a, rest, e);
}

static int ask_once(struct attach *a, struct buf *reply, struct err *e)
{
	int r = connect_listener(a) ? 0 : wake_listener(a, e);

	remove_trigger(a);
	if (!r)
		r = send_command(a, e);
	return r ? r : read_reply(a, reply, e);
}

/*
 * Return whether to try again: JDK 25 listens before it accepts agents. Answers to other commands may have
 * any text.
 */
static bool attach_is_early(const struct attach *a, struct buf *reply)
{
	if (strcmp(a->words[0], "load"))
		return false;
	buf_str(reply, "");
	return strstr(reply->data, "only permitted in the live phase");
}

/* Appends what it answers to *reply. */
static int attach_send(struct attach *a, struct buf *reply, struct err *e)
{
	uint64_t until = clock_mono_ns() + listen_ns;
	size_t before = reply->len;
	int r = ask_once(a, reply, e);

	while (!r && attach_is_early(a, reply) && clock_mono_ns() < until) {
		close(a->sock);
		a->sock = -1;
		reply->len = before;
		r = pause_a_moment(a, -1, e);
		if (!r)
			r = ask_once(a, reply, e);
	}
	return r;
}

/* Signals that an error reported are not reported again. */
static void unblock(const struct attach *a, bool told)
{
	struct timespec now = { 0 };

	while (told && sigtimedwait(&a->ends, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &a->old_mask, NULL);
}

/* Finds the process's listener, and asks. */
static int attach_open(struct attach *a, int pid, struct buf *reply, struct err *e)
{
	int r, root;

	a->sock = a->tmp = a->trigger_dir = -1;
	r = attach_hold(a, pid, e);
	if (r)
		return r;
	sigemptyset(&a->ends);
	sigaddset(&a->ends, SIGINT);
	sigaddset(&a->ends, SIGTERM);
	sigaddset(&a->ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &a->ends, &a->old_mask);
	r = target_check(&a->t, pid, e);
	root = r ? -1 : foreign_root(pid, e);
	if (!r && root < 0)
		r = root;
	if (!r && (a->tmp = foreign_dir(root, "tmp")) < 0)
		r = err_set(e, -a->tmp, "process %d: its /tmp cannot be opened: %s", pid, strerror(-a->tmp));
	if (!r)
		r = attach_send(a, reply, e);
	unblock(a, r == -EINTR);
	if (a->sock >= 0)
		close(a->sock);
	if (a->tmp >= 0)
		close(a->tmp);
	if (root >= 0)
		close(root);
	close(a->pidfd);
	return r;
}

int attach_load(int pid, const char *file, const char *option, attach_serve_fn serve, void *ctx,
		struct err *e)
{
	const char *const words[ATTACH_WORDS] = { "load", file, "true", option };
	struct attach a = { .words = words, .serve = serve, .ctx = ctx };
	struct buf reply = BUF_INIT;
	int r = attach_open(&a, pid, &reply, e);

	if (!r)
		r = check_reply(&a, reply.data ? reply.data : "", e);
	buf_release(&reply);
	return r;
}

static int command(struct attach *a, int pid, struct buf *reply, struct err *e)
{
	int r = attach_open(a, pid, reply, e);
	char *rest;

	if (r)
		return r;
	buf_str(reply, "");
	if (strtol(reply->data, &rest, 10) == 0 && rest != reply->data)
		return 0;
	rest += *rest == '\n';
	return err_set(e, EIO, "process %d: %.*s", pid, (int)strcspn(rest, "\n"),
		       *rest ? rest : "it closed the attach socket without an answer");
}

int attach_command(int pid, const char *const words[ATTACH_WORDS], struct buf *reply, struct err *e)
{
	return command(&(struct attach){ .words = words, .patient = true }, pid, reply, e);
}

int attach_ask(int pid, const char *const words[ATTACH_WORDS], uint64_t patience_ns, struct buf *reply,
	       struct err *e)
{
	struct attach a = { .words = words, .patient = true, .patience_ns = patience_ns };

	a.until_ns = clock_mono_ns() + patience_ns;
	return command(&a, pid, reply, e);
}
