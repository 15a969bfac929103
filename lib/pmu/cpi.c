// SPDX-License-Identifier: GPL-2.0-or-later
/* cpi.c - counts cycles and instructions (cpi.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmu/cpi.h"
#include "pmu/event.h"
#include "pmu/probe.h"

/* ---- arithmetic ---- */

static struct cpi_count diff(const struct cpi_count *a, const struct cpi_count *b)
{
	return (struct cpi_count){ b->value - a->value, b->enabled_ns - a->enabled_ns,
				   b->running_ns - a->running_ns };
}

struct cpi_counts cpi_diff(const struct cpi_counts *a, const struct cpi_counts *b)
{
	return (struct cpi_counts){ diff(&a->cycles, &b->cycles), diff(&a->instructions, &b->instructions) };
}

/* Return a count scaled to the whole time: events that share a counter take turns. */
static uint64_t scaled(const struct cpi_count *c, bool *known, double *share_counted)
{
	if (!c->running_ns) {
		*known = false;
		return 0;
	}
	if (c->running_ns >= c->enabled_ns)
		return c->value;
	*share_counted = fmin(*share_counted, (double)c->running_ns / c->enabled_ns);
	return (unsigned __int128)c->value * c->enabled_ns / c->running_ns;
}

void cpi_add(struct cpi_sum *sum, const struct cpi_counts *c)
{
	sum->cycles += scaled(&c->cycles, &sum->cycles_known, &sum->share_counted);
	sum->instructions += scaled(&c->instructions, &sum->instructions_known, &sum->share_counted);
}

double cpi_ratio(const struct cpi_sum *sum)
{
	return sum->cycles_known && sum->instructions_known && sum->instructions ?
		       (double)sum->cycles / sum->instructions : NAN;
}

/* ---- counters ---- */

/* The target of both counters: a held program, or (-1) a CPU. */
struct target {
	pid_t pid;
	int cpu;
};

/* Open an event; leader: an event that runs when and only when this one does, or -1. */
static int cpi_open_event(const struct cpi_set *s, const char *name, const struct target *on, int leader,
			  struct err *e)
{
	struct pmu_event ev;
	int r = pmu_event_parse(name, &ev, e), fd;

	if (r)
		return r;
	ev.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	ev.attr.exclude_kernel = s->user_only;
	ev.attr.exclude_hv = 1;
	ev.attr.inherit = on->pid >= 0;
	ev.attr.disabled = leader < 0;	/* the group starts as one */
	ev.attr.enable_on_exec = leader < 0 && on->pid >= 0;
	fd = syscall(SYS_perf_event_open, &ev.attr, on->pid, on->cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? perf_open_err(e, errno, &ev.attr, on->pid, on->cpu) : fd;
}

/* Return 0 if the event can be counted on the target, else why not in *why. */
static int try_event(const struct cpi_set *s, const char *name, const struct target *on, struct err *why)
{
	int fd = why->code ? -why->code : cpi_open_event(s, name, on, -1, why);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void close_pair(const struct cpi_pair *p)
{
	if (p->cycles_fd >= 0)
		close(p->cycles_fd);
	if (p->instructions_fd >= 0)
		close(p->instructions_fd);
}

/* Open one group, so that both run at the same time or neither does. */
static int open_pair(struct cpi_set *s, const struct cpi_events *ev, const struct target *on, struct err *e)
{
	struct cpi_pair *p = &s->pairs[s->nr_pairs];
	int leader;

	*p = (struct cpi_pair){ -1, -1 };
	if (!s->no_cycles.code) {
		p->cycles_fd = cpi_open_event(s, ev->cycles, on, -1, e);
		if (p->cycles_fd < 0)
			return p->cycles_fd;
	}
	if (!s->no_instructions.code) {
		p->instructions_fd = cpi_open_event(s, ev->instructions, on, p->cycles_fd, e);
		if (p->instructions_fd < 0) {
			close_pair(p);
			return p->instructions_fd;
		}
	}
	s->nr_pairs++;
	leader = p->cycles_fd >= 0 ? p->cycles_fd : p->instructions_fd;
	if (on->pid < 0 && ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP))
		return err_errno(e, "cannot start the counters of CPU %d", on->cpu);
	return 0;
}

void cpi_close(struct cpi_set *s)
{
	size_t i;

	for (i = 0; i < s->nr_pairs; i++)
		close_pair(&s->pairs[i]);
	free(s->pairs);
	memset(s, 0, sizeof(*s));
}

/* Open a pair on all targets, or on none: a sum would be of some of them. */
static int open_all(struct cpi_set *s, const struct cpi_events *ev, const struct target *on, size_t nr,
		    struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < nr; i++) {
		try_event(s, ev->cycles, &on[i], &s->no_cycles);
		try_event(s, ev->instructions, &on[i], &s->no_instructions);
	}
	if (s->no_cycles.code && s->no_instructions.code) {
		*e = s->no_cycles;
		return -e->code;
	}
	s->pairs = xcalloc(nr, sizeof(*s->pairs));
	for (i = 0; i < nr && !r; i++)
		r = open_pair(s, ev, &on[i], e);
	return r;
}

int cpi_open_cpus(struct cpi_set *s, const struct cpi_events *ev, const struct cpus *cpus, struct err *e)
{
	struct target *on = xcalloc(cpus->nr_cpu, sizeof(*on));
	size_t i;
	int r;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < cpus->nr_cpu; i++)
		on[i] = (struct target){ -1, cpus->cpu[i] };
	r = open_all(s, ev, on, cpus->nr_cpu, e);
	if (r)
		cpi_close(s);
	free(on);
	return r;
}

int cpi_open_program(struct cpi_set *s, const struct cpi_events *ev, pid_t pid, struct err *e)
{
	const struct target on = { pid, -1 };
	int r;

	memset(s, 0, sizeof(*s));
	r = open_all(s, ev, &on, 1, e);
	if (r == -EACCES || r == -EPERM) {
		memset(s, 0, sizeof(*s));
		s->user_only = true;
		r = open_all(s, ev, &on, 1, e);
	}
	if (r)
		cpi_close(s);
	return r;
}

/* Read a count; fd -1: an event that is not counted, for no time at all. */
static int read_count(int fd, struct cpi_count *c, struct err *e)
{
	ssize_t n;

	memset(c, 0, sizeof(*c));
	n = fd < 0 ? (ssize_t)sizeof(*c) : read(fd, c, sizeof(*c));
	if (n == sizeof(*c))
		return 0;
	errno = n < 0 ? errno : EIO;
	return err_errno(e, "cannot read a counter");
}

int cpi_read(const struct cpi_set *s, size_t i, struct cpi_counts *c, struct err *e)
{
	int r = read_count(s->pairs[i].cycles_fd, &c->cycles, e);

	return r ? r : read_count(s->pairs[i].instructions_fd, &c->instructions, e);
}
