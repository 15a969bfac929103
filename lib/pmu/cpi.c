// SPDX-License-Identifier: GPL-2.0-or-later
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

/* Events that share a counter run in turns: what each saw stands for the time it did not. */
static uint64_t scaled(const struct cpi_count *c, struct cpi_sum *sum)
{
	if (c->running_ns >= c->enabled_ns) {
		sum->known &= c->running_ns > 0;
		return c->value;
	}
	if (!c->running_ns) {
		sum->known = false;
		return 0;
	}
	sum->share_counted = fmin(sum->share_counted, (double)c->running_ns / c->enabled_ns);
	return (unsigned __int128)c->value * c->enabled_ns / c->running_ns;
}

void cpi_add(struct cpi_sum *sum, const struct cpi_counts *c)
{
	sum->cycles += scaled(&c->cycles, sum);
	sum->instructions += scaled(&c->instructions, sum);
}

double cpi_ratio(const struct cpi_sum *sum)
{
	return sum->known && sum->instructions ? (double)sum->cycles / sum->instructions : NAN;
}

/* ---- counters ---- */

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group, struct err *e)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? perf_open_err(e, errno, attr, pid, cpu) : fd;
}

/* One group, so that both run at the same time or neither does. */
static int open_pair(struct cpi_set *s, const struct cpi_events *ev, pid_t pid, int cpu, struct err *e)
{
	struct pmu_event cycles, instructions;
	struct cpi_pair *p = &s->pairs[s->nr_pairs];
	int r = pmu_event_parse(ev->cycles, &cycles, e);

	if (!r)
		r = pmu_event_parse(ev->instructions, &instructions, e);
	if (r)
		return r;
	cycles.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	cycles.attr.exclude_kernel = s->user_only;
	cycles.attr.exclude_hv = 1;
	cycles.attr.inherit = pid >= 0;
	cycles.attr.disabled = 1;	/* the group starts as one */
	cycles.attr.enable_on_exec = pid >= 0;
	instructions.attr.read_format = cycles.attr.read_format;
	instructions.attr.exclude_kernel = s->user_only;
	instructions.attr.exclude_hv = 1;
	instructions.attr.inherit = pid >= 0;
	p->cycles_fd = open_event(&cycles.attr, pid, cpu, -1, e);
	if (p->cycles_fd < 0)
		return p->cycles_fd;
	p->instructions_fd = open_event(&instructions.attr, pid, cpu, p->cycles_fd, e);
	if (p->instructions_fd < 0) {
		close(p->cycles_fd);
		return p->instructions_fd;
	}
	s->nr_pairs++;
	if (pid < 0 && ioctl(p->cycles_fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP))
		return err_errno(e, "cannot start the counters of CPU %d", cpu);
	return 0;
}

void cpi_close(struct cpi_set *s)
{
	size_t i;

	for (i = 0; i < s->nr_pairs; i++) {
		close(s->pairs[i].cycles_fd);
		close(s->pairs[i].instructions_fd);
	}
	free(s->pairs);
	memset(s, 0, sizeof(*s));
}

int cpi_open_cpus(struct cpi_set *s, const struct cpi_events *ev, const struct cpus *cpus, struct err *e)
{
	size_t i;
	int r = 0;

	memset(s, 0, sizeof(*s));
	s->pairs = xcalloc(cpus->nr_cpu, sizeof(*s->pairs));
	for (i = 0; i < cpus->nr_cpu && !r; i++)
		r = open_pair(s, ev, -1, cpus->cpu[i], e);
	if (r)
		cpi_close(s);
	return r;
}

int cpi_open_program(struct cpi_set *s, const struct cpi_events *ev, pid_t pid, struct err *e)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->pairs = xcalloc(1, sizeof(*s->pairs));
	r = open_pair(s, ev, pid, -1, e);
	if (r == -EACCES || r == -EPERM) {
		s->user_only = true;
		r = open_pair(s, ev, pid, -1, e);
	}
	if (r)
		cpi_close(s);
	return r;
}

static int read_count(int fd, struct cpi_count *c, struct err *e)
{
	ssize_t n = read(fd, c, sizeof(*c));

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
