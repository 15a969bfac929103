// SPDX-License-Identifier: GPL-2.0-or-later
/* module.c - a session of the kernel module: the requests of arcprof_uapi.h. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "pmu/probe.h"
#include "ptt/area.h"
#include "ring/ring.h"

static int ptt_module_check(struct err *e)
{
	int fd = device_open(0, e);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int register_thread(int fd, int tid, struct err *e)
{
	struct arcprof_ptt_register reg = { .size = sizeof(reg), .tid = tid };

	if (!ioctl(fd, ARCPROF_IOC_PTT_REGISTER, &reg) || errno == ESRCH)	/* it ended meanwhile */
		return 0;
	return err_errno(e, "%s: thread %d", ARCPROF_DEVICE, tid);
}

/* Register the process's threads now; later ones follow. */
static int register_process(int fd, int pid, struct err *e)
{
	DIR *dir = io_open_threads(pid);
	int r = 0, tid;

	if (!dir)
		return err_errno(e, "process %d", pid);
	while (!r && (tid = io_next_number(dir)))
		r = register_thread(fd, tid, e);
	closedir(dir);
	return r;
}

static void ptt_module_describe(const struct ptt_config *c, struct arcprof_ptt_start *s)
{
	size_t i;

	s->size = sizeof(*s);
	s->flags = ARCPROF_PTT_KEEP | (c->interrupts ? 0 : ARCPROF_PTT_NO_IRQ) |
		   (c->nr_pids ? ARCPROF_PTT_FOLLOW : ARCPROF_PTT_ALL);
	s->nr_slots = c->nr_slots;
	s->nr_metrics = 1 + c->nr_counters;
	for (i = 0; i < c->nr_counters; i++) {
		s->metric[i + 1].type = c->counters[i].attr.type;
		s->metric[i + 1].config = c->counters[i].attr.config;
	}
}

static int ptt_module_start(const struct ptt_config *c, struct err *e)
{
	struct arcprof_ptt_start s = { 0 };
	int fd = device_open(0, e), r = 0;
	size_t i;

	if (fd < 0)
		return fd;
	if (c->all_users) {
		close(fd);
		return err_set(e, ENOTSUP, "module: who may read a session is who may open %s",
			       ARCPROF_DEVICE);
	}
	ptt_module_describe(c, &s);
	if (ioctl(fd, ARCPROF_IOC_PTT_START, &s)) {
		r = err_errno(e, "%s: cannot start a session", ARCPROF_DEVICE);
		if (r == -EPERM)
			err_hint(e, "run %s", probe_remedy("cap_perfmon").text);
		close(fd);
		return r == -EBUSY ? -EEXIST : r;
	}
	for (i = 0; i < c->nr_pids && !r; i++)
		r = register_process(fd, c->pids[i], e);
	if (r)
		ioctl(fd, ARCPROF_IOC_PTT_STOP);
	close(fd);
	return r;
}

static int ptt_module_stop(struct err *e)
{
	int fd = device_open(0, e), r = 0;

	if (fd < 0)
		return fd == -EACCES || fd == -EPERM ? fd : -ENOENT;
	if (ioctl(fd, ARCPROF_IOC_PTT_STOP))
		r = err_errno(e, "%s: cannot end the session", ARCPROF_DEVICE);
	close(fd);
	return r == -ENXIO ? -ENOENT : r;
}

static int ptt_module_open_session(void **session, struct err *e)
{
	return ptt_area_open(ARCPROF_MODULE, session, e);
}

const struct ptt_backend ptt_module = {
	.name = "module",
	.counts_events = true,
	.check = ptt_module_check,
	.start = ptt_module_start,
	.stop = ptt_module_stop,
	.open = ptt_module_open_session,
	.read = ptt_area_read,
	.counter = ptt_area_counter,
	.close = ptt_area_close,
};
