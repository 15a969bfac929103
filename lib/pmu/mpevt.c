// SPDX-License-Identifier: GPL-2.0-or-later
/* mpevt.c - keeps events open in a background process (mpevt.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "pmu/event.h"
#include "pmu/mpevt.h"
#include "pmu/probe.h"

enum { MAX_EVENTS = 64, MAX_REQUEST = 16 * 1024, MAX_ANSWER = 256 << 20, TIMEOUT_S = 5, TRIES = 3 };

struct held {			/* an event, open on all CPUs */
	struct pmu_event ev;
	int *fds;
};

struct holder {
	struct cpus cpus;
	struct held events[MAX_EVENTS];
	size_t nr_events;
	struct buf answer;
};

/* ---- opening ---- */

static int open_on(struct pmu_event *ev, uint32_t cpu, struct err *e)
{
	int fd;

	ev->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = syscall(SYS_perf_event_open, &ev->attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? perf_open_err(e, errno, &ev->attr, -1, cpu) : fd;
}

static void held_release(struct held *h, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		close(h->fds[i]);
	free(h->fds);
}

static int held_open(struct held *h, const char *name, const struct cpus *cpus, bool *missing, struct err *e)
{
	size_t i;
	int fd = pmu_event_parse(name, &h->ev, e);

	*missing = false;
	if (fd)
		return fd;
	h->fds = xcalloc(cpus->nr_cpu, sizeof(*h->fds));
	for (i = 0; i < cpus->nr_cpu; i++) {
		fd = open_on(&h->ev, cpus->cpu[i], e);
		if (fd < 0) {
			held_release(h, i);
			*missing = perf_event_is_missing(-fd);
			return err_wrap(e, "%s", name);
		}
		h->fds[i] = fd;
	}
	return 0;
}

int mpevt_try(const char *name, struct err *e)
{
	struct cpus cpus = { 0 };
	struct held h;
	bool missing;
	int r;

	cpus_online(&cpus);
	cpus.nr_cpu = 1;
	r = held_open(&h, name, &cpus, &missing, e);
	if (!r)
		held_release(&h, 1);
	cpus_release(&cpus);
	return r;
}

/* ---- the process in the background ---- */

static struct held *mpevt_find(struct holder *h, const char *name)
{
	size_t i;

	for (i = 0; i < h->nr_events; i++)
		if (!strcmp(h->events[i].ev.name, name))
			return &h->events[i];
	return NULL;
}

static int start_one(struct holder *h, const char *name, bool *missing, struct err *e)
{
	*missing = false;
	if (mpevt_find(h, name))
		return err_set(e, EEXIST, "%s: is being counted already", name);
	if (h->nr_events == MAX_EVENTS)
		return err_set(e, ENOSPC, "%s: %d events at most", name, MAX_EVENTS);
	return held_open(&h->events[h->nr_events], name, &h->cpus, missing, e);
}

/*
 * Start the events. What the machine does not have is left out and named, as long as there is something else.
 */
static int do_start(struct holder *h, char **names, size_t nr, struct err *e)
{
	size_t before = h->nr_events, i;
	struct err last = { 0 };
	bool missing = false;
	int r = 0;

	for (i = 0; i < nr && !r; i++) {
		r = start_one(h, names[i], &missing, e);
		h->nr_events += !r;
		if (!r || !missing)
			continue;
		buf_fmt(&h->answer, "missing\t%s\n", e->msg);
		last = *e;
		r = 0;
	}
	if (!r && h->nr_events == before && last.code) {
		*e = last;
		r = -last.code;
	}
	if (!r && last.hint[0])
		buf_fmt(&h->answer, "hint\t%s\n", last.hint);
	while (r && h->nr_events > before)
		held_release(&h->events[--h->nr_events], h->cpus.nr_cpu);
	return r;
}

static int check_names(struct holder *h, char **names, size_t nr, struct err *e)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!mpevt_find(h, names[i]))
			return err_set(e, ENOENT, "%s: is not being counted", names[i]);
	return 0;
}

static int do_stop(struct holder *h, char **names, size_t nr, struct err *e)
{
	size_t i;
	int r = check_names(h, names, nr, e);

	for (i = 0; i < nr && !r; i++) {
		struct held *v = mpevt_find(h, names[i]);

		if (!v)		/* named twice */
			continue;
		held_release(v, h->cpus.nr_cpu);
		h->nr_events--;
		memmove(v, v + 1, (char *)&h->events[h->nr_events] - (char *)v);
	}
	while (!nr && h->nr_events)
		held_release(&h->events[--h->nr_events], h->cpus.nr_cpu);
	return r;
}

static int mpevt_read_event(struct holder *h, const struct held *v, struct err *e)
{
	struct cpi_count c;
	size_t i;

	for (i = 0; i < h->cpus.nr_cpu; i++) {
		if (read(v->fds[i], &c, sizeof(c)) != sizeof(c))
			return err_set(e, EIO, "%s: cannot be read on CPU %u", v->ev.name, h->cpus.cpu[i]);
		buf_fmt(&h->answer, "count\t%s\t%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", v->ev.name,
			v->ev.unit, h->cpus.cpu[i], c.value, c.enabled_ns, c.running_ns);
	}
	return 0;
}

static int do_read(struct holder *h, char **names, size_t nr, struct err *e)
{
	size_t i;
	int r = check_names(h, names, nr, e);

	for (i = 0; i < (nr ? nr : h->nr_events) && !r; i++)
		r = mpevt_read_event(h, nr ? mpevt_find(h, names[i]) : &h->events[i], e);
	return r;
}

static void mpevt_answer(struct holder *h, char *request)
{
	char *names[2 * MAX_EVENTS], *save, *verb = strtok_r(request, "\n", &save), *word;
	struct err e = { 0 };
	size_t nr = 0;
	int r;

	while (nr < ARRAY_SIZE(names) && (word = strtok_r(NULL, "\n", &save)))
		names[nr++] = word;
	buf_reset(&h->answer);
	buf_fmt(&h->answer, "ok\t%" PRIu64 "\n", clock_mono_ns());
	if (verb && !strcmp(verb, "start"))
		r = do_start(h, names, nr, &e);
	else if (verb && !strcmp(verb, "read"))
		r = do_read(h, names, nr, &e);
	else if (verb && !strcmp(verb, "stop"))
		r = do_stop(h, names, nr, &e);
	else
		r = err_set(&e, EPROTO, "the process that counts is of another version");
	if (!r)
		return;
	buf_reset(&h->answer);
	buf_fmt(&h->answer, "error\t%d\nmessage\t%s\n", e.code, e.msg);
	if (e.hint[0])
		buf_fmt(&h->answer, "hint\t%s\n", e.hint);
}

/* Return whether the peer is this user, or root. */
static bool mpevt_is_trusted(int fd)
{
	struct ucred u;
	socklen_t len = sizeof(u);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &len) && (u.uid == geteuid() || !u.uid);
}

static void set_timeouts(int fd)
{
	struct timeval tv = { .tv_sec = TIMEOUT_S };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

static int receive(int fd, struct buf *b, size_t limit)
{
	ssize_t n;

	do {
		n = recv(fd, buf_room(b, 64 * 1024), 64 * 1024, 0);
		if (n > 0)
			b->len += n;
	} while ((n > 0 && b->len <= limit) || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	buf_room(b, 1);
	b->data[b->len] = '\0';
	return b->len > limit ? -EFBIG : 0;
}

static int transmit(int fd, const struct buf *b)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = send(fd, b->data + done, b->len - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		done += n;
	}
	return 0;
}

static void __attribute__((noreturn)) mpevt_hold(int listen_fd, const char *path)
{
	struct holder h = { 0 };
	struct buf request = BUF_INIT;

	cpus_online(&h.cpus);
	do {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			break;
		if (fd < 0)
			continue;
		set_timeouts(fd);
		buf_reset(&request);
		if (mpevt_is_trusted(fd) && !receive(fd, &request, MAX_REQUEST) && request.len) {
			mpevt_answer(&h, request.data);
			if (!h.nr_events)	/* who asks next starts another one */
				unlink(path);
			transmit(fd, &h.answer);
		} else if (!h.nr_events) {
			unlink(path);
		}
		close(fd);
	} while (h.nr_events);
	_exit(0);
}

static void make_daemon(int listen_fd, const char *path)
{
	struct rlimit r;
	int null, fd;

	setsid();
	if (fork())
		_exit(0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (chdir("/"))
		_exit(1);
	null = open("/dev/null", O_RDWR);
	for (fd = 0; fd < 3; fd++)
		dup2(null, fd);
	fd = dup2(listen_fd, 3);
	syscall(SYS_close_range, 4, ~0u, 0);
	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	mpevt_hold(fd, path);
}

/* ---- the commands' side ---- */

static int socket_addr(const char *dir, struct sockaddr_un *a, struct err *e)
{
	a->sun_family = AF_UNIX;
	if (snprintf(a->sun_path, sizeof(a->sun_path), "%s/mpevt", dir) < (int)sizeof(a->sun_path))
		return 0;
	return err_set(e, ENAMETOOLONG, "%s: the path is too long for a socket", dir);
}

static int nothing_counted(struct err *e)
{
	err_set(e, ENOENT, "nothing is being counted");
	err_hint(e, "'arcprof mpevt start <event>...' begins");
	return -ENOENT;
}

static int connect_holder(const char *dir, struct err *e)
{
	struct sockaddr_un a;
	int r = socket_addr(dir, &a, e), fd = r ? r : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (r)
		return r;
	if (fd < 0)
		return err_errno(e, "socket");
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)) && mpevt_is_trusted(fd)) {
		set_timeouts(fd);
		return fd;
	}
	r = errno;
	close(fd);
	if (r == ENOENT || r == ECONNREFUSED)
		return nothing_counted(e);
	errno = r;
	return err_errno(e, "%s", a.sun_path);
}

/* Start the holder under a lock, so that two commands do not start two. */
static int start_holder(const char *dir, struct err *e)
{
	struct sockaddr_un a;
	int r = socket_addr(dir, &a, e), lock, fd;
	pid_t pid;

	if (r)
		return r;
	lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (lock < 0 || fd < 0 || flock(lock, LOCK_EX)) {
		r = err_errno(e, "%s", dir);
		goto out;
	}
	r = connect_holder(dir, e);
	if (r >= 0) {
		close(r);
		r = 0;
		goto out;
	}
	unlink(a.sun_path);	/* of one that was killed */
	r = 0;
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 16)) {
		r = err_errno(e, "%s", a.sun_path);
		goto out;
	}
	pid = fork();
	if (!pid)
		make_daemon(fd, a.sun_path);
	if (pid < 0)
		r = err_errno(e, "cannot fork");
	else
		waitpid(pid, NULL, 0);
out:
	if (fd >= 0)
		close(fd);
	if (lock >= 0)
		close(lock);
	return r;
}

static int mpevt_ask(const char *dir, const char *verb, char *const *names, size_t nr, struct mpevt_counts *c,
		     struct err *e)
{
	struct buf b = BUF_INIT;
	int fd = connect_holder(dir, e), r;
	size_t i;

	if (fd < 0)
		return fd;
	buf_fmt(&b, "%s\n", verb);
	for (i = 0; i < nr; i++)
		buf_fmt(&b, "%s\n", names[i]);
	r = b.len > MAX_REQUEST ? -E2BIG : transmit(fd, &b);
	buf_reset(&b);
	if (!r) {
		shutdown(fd, SHUT_WR);
		r = receive(fd, &b, MAX_ANSWER);
	}
	if (!r && !b.len)
		r = -ECONNRESET;
	close(fd);
	r = r == -ECONNRESET || r == -EPIPE ? nothing_counted(e) :	/* it ended just then */
	    r ? err_set(e, -r, "the process that counts does not answer: %s", strerror(-r)) :
		    mpevt_parse(b.data, c, e);
	buf_release(&b);
	return r;
}

int mpevt_start(const char *dir, char *const *names, size_t nr, struct mpevt_counts *c, struct err *e)
{
	int i, r = -1;

	for (i = 0; i < TRIES && r; i++) {
		r = start_holder(dir, e);
		if (r)
			return r;
		r = mpevt_ask(dir, "start", names, nr, c, e);
		if (r != -ECONNRESET && r != -EPIPE)
			break;
	}
	return r;
}

int mpevt_read(const char *dir, char *const *names, size_t nr, struct mpevt_counts *c, struct err *e)
{
	return mpevt_ask(dir, "read", names, nr, c, e);
}

int mpevt_stop(const char *dir, char *const *names, size_t nr, struct err *e)
{
	struct mpevt_counts none = { 0 };
	int r = mpevt_ask(dir, "stop", names, nr, &none, e);

	mpevt_counts_release(&none);
	return r;
}

static void forget_missing(struct mpevt_counts *c)
{
	while (c->nr_missing)
		free(c->missing[--c->nr_missing]);
	c->hint[0] = '\0';
}

void mpevt_counts_release(struct mpevt_counts *c)
{
	forget_missing(c);
	free(c->missing);
	free(c->c);
	memset(c, 0, sizeof(*c));
}

static bool parse_count(const char *line, struct mpevt_counts *c)
{
	struct mpevt_count n = { 0 };
	int used = 0;

	if (sscanf(line, "count\t%63[^\t]\t%7[^\t]\t%" SCNu32 "\t%" SCNu64 "\t%" SCNu64 "\t%" SCNu64 "%n",
		   n.event, n.unit, &n.cpu, &n.count.value, &n.count.enabled_ns, &n.count.running_ns,
		   &used) != 6 ||
	    line[used])
		return false;
	*VEC_ADD(c->c, c->nr_c, c->alloc_c) = n;
	return true;
}

/* Parse a line of an answer that is not an error. */
static bool mpevt_parse_line(const char *line, struct mpevt_counts *c)
{
	if (!strncmp(line, "hint\t", 5)) {
		snprintf(c->hint, sizeof(c->hint), "%s", line + 5);
		return true;
	}
	if (strncmp(line, "missing\t", 8))
		return parse_count(line, c);
	*VEC_ADD(c->missing, c->nr_missing, c->alloc_missing) = xstrdup(line + 8);
	return true;
}

int mpevt_parse(char *text, struct mpevt_counts *c, struct err *e)
{
	char *save, *line = strtok_r(text, "\n", &save);
	bool ok = line && sscanf(line, "ok\t%" SCNu64, &c->time_ns) == 1;
	int code = 0;

	c->nr_c = 0;
	forget_missing(c);
	if (!ok && (!line || sscanf(line, "error\t%d", &code) != 1 || code <= 0))
		return err_set(e, EPROTO, "invalid answer from the counting process");
	if (!ok)
		err_set(e, code, "%s", strerror(code));
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (!ok && !strncmp(line, "message\t", 8))
			snprintf(e->msg, sizeof(e->msg), "%s", line + 8);
		else if (!ok && !strncmp(line, "hint\t", 5))
			err_hint(e, "%s", line + 5);
		else if (ok && !mpevt_parse_line(line, c))
			return err_set(e, EPROTO, "invalid line from the counting process");
	}
	return -code;
}

/* Make the folder, or check that it is ours alone if it exists. */
static int check_dir(const char *dir, struct err *e)
{
	struct stat st;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return err_errno(e, "%s", dir);
	if (lstat(dir, &st))
		return err_errno(e, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(e, EPERM, "%s: is not a folder of this user alone (mode 700)", dir);
	return 0;
}

char *mpevt_dir(struct err *e)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	char *dir;

	if (run && *run == '/' && !stat(run, &st) && st.st_uid == geteuid())
		dir = xasprintf("%s/arcprof", run);
	else if (!geteuid())
		dir = xstrdup("/run/arcprof");
	else
		dir = xasprintf("/tmp/arcprof-%u", geteuid());
	if (!check_dir(dir, e))
		return dir;
	free(dir);
	return NULL;
}
