// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * module.c - the engine that lets the kernel module trace: an instruction costs a trap, and no switch.
 *
 * The program is a child of arcprof's own, and joins the trace at its exec; running threads are made to
 * join.  There is no process between: the trace ends with the descriptor, and the module clears what
 * trap flags are left, whatever happens to arcprof.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/itrace_request.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "itrace/module.h"
#include "pmu/probe.h"
#include "ring/ring.h"

enum { FIRST_PID_NAMESPACE = 0xeffffffc };	/* the inode of /proc/self/ns/pid there */

/* ---- whether it can be used ---- */

static int usable(const struct itrace_opts *o, struct err *e)
{
	int fd = device_open(ARCPROF_FEATURE_ITRACE | ARCPROF_FEATURE_ITRACE_SYNC, e);
	struct stat ns;

	if (fd < 0)
		return fd;
	close(fd);
	if (o->bracket && !o->argv)
		return err_set(e, ENOTSUP, "brackets of running programs need --engine=ptrace");
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != FIRST_PID_NAMESPACE)
		return err_set(e, ENOTSUP, "the module's numbers of threads are not those of this container");
	if (!o->argv && !probe_has_cap(CAP_SYS_PTRACE)) {
		err_set(e, EPERM, "the module traces running threads for CAP_SYS_PTRACE only");
		err_hint(e, "root may; --engine=ptrace traces one's own");
		return -EPERM;
	}
	return 0;
}

/* ---- the session ---- */

static int kmod_watch(const struct itrace *it, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(it->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static int kmod_open_session(struct itrace *it, struct err *e)
{
	struct arcprof_itrace_start s = {
		.size = sizeof(s), .nr_records = NR_RECORDS, .nr_rings = NR_RINGS,
		.flags = ARCPROF_ITRACE_CONTINUOUS | ARCPROF_ITRACE_SYNC,
	};
	size_t i;

	if (!it->o->bracket)
		s.flags |= (it->o->nr_tids ? 0 : ARCPROF_ITRACE_THREADS) |
			(it->o->forks ? ARCPROF_ITRACE_FORKS : 0);
	it->device = device_open(ARCPROF_FEATURE_ITRACE | ARCPROF_FEATURE_ITRACE_SYNC, e);
	if (it->device < 0)
		return it->device;
	if (ioctl(it->device, ARCPROF_IOC_ITRACE_START, &s)) {
		err_errno(e, "%s: cannot start a trace", ARCPROF_DEVICE);
		if (e->code == EPERM)
			err_hint(e, "its buffer is locked memory: 'ulimit -l' must allow 28000 KiB, or CAP_IPC_LOCK");
		return -e->code;
	}
	it->area_len = s.area_len;
	it->area = mmap(NULL, it->area_len, PROT_READ, MAP_SHARED, it->device, ARCPROF_MMAP_ITRACE);
	if (it->area == MAP_FAILED) {
		it->area = NULL;
		return err_errno(e, "%s: cannot map the trace", ARCPROF_DEVICE);
	}
	for (i = 0; i < NR_RINGS; i++) {
		it->track[i].ring = (const void *)(it->area + i * s.ring_stride);
		it->track[i].records = (const void *)(it->area + i * s.ring_stride + ARCPROF_RING_RECORDS);
	}
	/* An edge is when a thread waits, or has filled half of its ring: not each record. */
	it->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (it->epoll < 0 || kmod_watch(it, it->device, EPOLLIN | EPOLLET))
		return err_errno(e, "cannot wait for the module (epoll)");
	return 0;
}

static int kmod_join(const struct itrace *it, int tid, uint32_t flags)
{
	struct arcprof_itrace_join j = { .size = sizeof(j), .flags = flags, .tid = tid };

	return ioctl(it->device, ARCPROF_IOC_ITRACE_JOIN, &j) ? -errno : 0;
}

/* Start the program with our descriptor of the device, by which its threads join. */
static int start_bracketed(struct itrace *it, struct spawn *child, struct err *e)
{
	char number[16];
	int r;

	snprintf(number, sizeof(number), "%d", it->device);
	setenv(ITRACE_FD_VARIABLE, number, 1);
	fcntl(it->device, F_SETFD, 0);
	r = spawn_start(child, it->o->argv, e);
	fcntl(it->device, F_SETFD, FD_CLOEXEC);
	unsetenv(ITRACE_FD_VARIABLE);
	return r;
}

static int start_program(struct itrace *it, struct err *e)
{
	const char *name = it->o->argv[0];
	struct spawn child;
	int r = it->o->bracket ? start_bracketed(it, &child, e) : spawn_start(&child, it->o->argv, e);

	if (r)
		return r;
	r = it->o->bracket ? 0 : kmod_join(it, child.pid, ARCPROF_ITRACE_AT_EXEC);
	if (r) {
		close(child.go_fd);
		close(child.error_fd);
		waitpid(child.pid, NULL, 0);
		errno = -r;
		return err_errno(e, "cannot trace '%s'", name);
	}
	r = spawn_go(&child, name, e);
	if (r)
		return r;
	it->program = child.pid;
	it->at_exec = it->o->bracket ? 0 : child.pid;
	it->pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	return it->pidfd < 0 || kmod_watch(it, it->pidfd, EPOLLIN) ? err_errno(e, "pidfd of '%s'", name) : 0;
}

/*
 * Join all threads. New ones appear meanwhile, those of joined ones by themselves: until a scan finds no new
 * one.
 */
static int join_process(struct itrace *it, int pid)
{
	struct map seen = MAP_INIT;
	bool again = true, any = false;
	int r = 0, tid;

	while (again && !r) {
		DIR *dir = io_open_threads(pid);

		again = false;
		while (!r && (tid = io_next_number(dir))) {
			uint32_t *known = map_put(&seen, (uint32_t)tid);

			if (*known != MAP_NONE)
				continue;
			*known = 0;
			again = true;
			r = kmod_join(it, tid, 0);
			any |= !r;
			if (r == -ESRCH || (r == -EBUSY && any))
				r = 0;
		}
		io_close_folder(dir);
	}
	map_release(&seen);
	return r ? r : any ? 0 : -ESRCH;
}

static int cannot_attach(int code, const char *what, int id, struct err *e)
{
	errno = -code;
	err_errno(e, "cannot attach to %s %d", what, id);
	if (code == -EBUSY)
		err_hint(e, "a debugger or another trace has it");
	return code;
}

static int kmod_attach(struct itrace *it, struct err *e)
{
	uint32_t i;
	int r;

	for (i = 0; i < it->o->nr_pids; i++)
		if ((r = join_process(it, it->o->pids[i])))
			return cannot_attach(r, "process", it->o->pids[i], e);
	for (i = 0; i < it->o->nr_tids; i++)
		if ((r = kmod_join(it, it->o->tids[i], 0)))
			return cannot_attach(r, "thread", it->o->tids[i], e);
	return 0;
}

static void close_it(struct itrace *it)
{
	size_t i;

	if (it->area)
		munmap(it->area, it->area_len);
	if (it->device >= 0)
		close(it->device);
	if (it->epoll >= 0)
		close(it->epoll);
	if (it->pidfd >= 0)
		close(it->pidfd);
	while (it->program > 0 && waitpid(it->program, NULL, 0) < 0 && errno == EINTR)
		;
	for (i = 0; i < NR_RINGS; i++)
		buf_release(&it->track[i].run);
	map_release(&it->tids);
	map_release(&it->epochs);
	map_release(&it->code_at);
	free(it->code);
	free(it);
}

static int kmod_start(struct itrace **out, const struct itrace_opts *o, struct err *e)
{
	struct itrace *it = xcalloc(1, sizeof(*it));
	int r;

	it->o = o;
	it->device = it->epoll = it->pidfd = -1;
	it->totals.status = -1;
	r = usable(o, e);
	if (!r)
		r = kmod_open_session(it, e);
	if (!r)
		r = o->argv ? start_program(it, e) : kmod_attach(it, e);
	if (r)
		close_it(it);
	else
		*out = it;
	return r;
}

/* ---- what happens ---- */

static void open_track(struct itrace *it, struct track *t)
{
	uint64_t gen = load_acquire(&t->ring->gen), now = clock_mono_ns();
	uint32_t flags = load_acquire(&t->ring->flags);
	int creator;
	size_t i;

	if (t->open || gen == t->gen || !(flags & ARCPROF_RING_USED))
		return;
	t->gen = gen;
	t->open = true;
	t->exited = t->cut = false;
	t->tail = 0;
	t->pid = t->ring->tgid;
	t->tid = t->ring->tid;
	t->execs = t->tid == it->at_exec;
	if (t->execs)
		it->at_exec = 0;
	creator = t->ring->creator;
	/* A process comes after the one that it was made by. */
	for (i = 0; i < NR_RINGS && creator && creator != t->pid; i++)
		if (it->track[i].ring->tgid == creator)
			open_track(it, &it->track[i]);
	if (creator && creator != t->pid)
		process_changed(it, t->pid);
	t->time_ns = load_acquire(&t->ring->head) ? t->records[0].from : now;
	if (*map_put(&it->tids, (uint64_t)t->tid) == MAP_NONE)	/* each bracket has a ring of its own */
		it->totals.nr_threads++;
	*map_put(&it->tids, (uint64_t)t->tid) = 0;
	it->sink->thread(it->ctx, t->time_ns, t->pid, t->tid, creator);
}

static void kmod_read_all(struct itrace *it)
{
	size_t i;

	for (i = 0; i < NR_RINGS; i++)
		open_track(it, &it->track[i]);
	for (i = 0; i < NR_RINGS; i++)
		if (it->track[i].open)
			blocks_read(it, &it->track[i]);
}

static void look_at_program(struct itrace *it)
{
	int status;

	if (!it->program || waitpid(it->program, &status, WNOHANG) != it->program)
		return;
	it->totals.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	it->program = 0;
	epoll_ctl(it->epoll, EPOLL_CTL_DEL, it->pidfd, NULL);
}

static uint32_t nr_traced(struct itrace *it)
{
	struct arcprof_itrace_stat s = { .size = sizeof(s) };

	if (ioctl(it->device, ARCPROF_IOC_ITRACE_STAT, &s))
		return 0;
	it->totals.nr_refused = s.nr_refused;
	return s.nr_threads;
}

static void kmod_stop(struct itrace *it)
{
	it->stopping = true;
	ioctl(it->device, ARCPROF_IOC_ITRACE_STOP);
}

/* Return whether all is over; called before the last records are read. */
static bool kmod_is_over(struct itrace *it)
{
	bool any = nr_traced(it);

	return !any && (!it->o->bracket || it->stopping || !it->program);
}

static void trace_on(struct itrace *it)
{
	bool over = kmod_is_over(it);

	kmod_read_all(it);
	if (it->cut && !it->stopping) {
		kmod_stop(it);
		over = true;
		kmod_read_all(it);
	}
	if (!over)
		return;
	it->stopped = true;
	it->totals.why = it->cut ? ITRACE_LIMIT : it->stopping ? ITRACE_ASKED : ITRACE_ALL_GONE;
	epoll_ctl(it->epoll, EPOLL_CTL_DEL, it->device, NULL);
	it->sink->stopped(it->ctx, &it->totals);
}

static int kmod_read_some(struct itrace *it, const struct itrace_sink *sink, void *ctx, struct err *e)
{
	struct epoll_event events[2];

	it->sink = sink;
	it->ctx = ctx;
	epoll_wait(it->epoll, events, 2, 0);	/* edges are seen once */
	look_at_program(it);
	if (!it->stopped)
		trace_on(it);
	return !it->stopped || it->program;
}

static int get_fd(const struct itrace *it)
{
	return it->epoll;
}

static void send_signal(struct itrace *it, int sig)
{
	if (it->program)
		kill(it->program, sig);
}

static const struct itrace_totals *totals(const struct itrace *it)
{
	return &it->totals;
}

const struct itrace_engine itrace_module = {
	.name = "module",
	.usable = usable,
	.start = kmod_start,
	.fd = get_fd,
	.read = kmod_read_some,
	.stop = kmod_stop,
	.signal = send_signal,
	.totals = totals,
	.close = close_it,
};
