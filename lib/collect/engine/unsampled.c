// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/rules.h"
#include "collect/engine/recording.h"

enum {
	LEAST_NS = 50000000,	/* what one tick of the kernel can hide is no CPU time to speak of */
	LEAST_PERIODS = 20,
};

/* CPU time of a process, or of a thread, in user code alone or in all; 0: it is gone. */
static uint64_t used_ns(int pid, int tid, bool user_only)
{
	struct buf b = BUF_INIT;
	unsigned long utime = 0, stime = 0;
	char path[64];
	const char *p;

	snprintf(path, sizeof(path), tid ? "/proc/%d/task/%d/stat" : "/proc/%d/stat", pid, tid);
	p = io_slurp(path, &b) || !b.len ? NULL : strrchr(b.data, ')');
	if (p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &utime, &stime) != 2)
		utime = stime = 0;
	buf_release(&b);
	return (utime + (user_only ? 0 : stime)) * (1000000000ull / sysconf(_SC_CLK_TCK));
}

static size_t nr_attached(const struct collect_opts *o)
{
	return o->nr_pids ? o->nr_pids : o->nr_tids;
}

/* Of each that is attached to. */
static uint64_t attached_ns(const struct collect *c, size_t i)
{
	const struct collect_opts *o = c->o;

	return o->nr_pids ? used_ns(o->pids[i], 0, c->ev.conf.exclude_kernel) :
			    used_ns(o->tids[i], o->tids[i], c->ev.conf.exclude_kernel);
}

/* All CPU time of what is recorded was to be sampled, from the first to the last moment. */
static bool was_wanted(const struct collect *c)
{
	const struct collect_opts *o = c->o;
	const struct pmu_event *ev = o->ev.events;

	if (!collect_nr_events(&o->ev) || !ev->clock || ev->attr.exclude_user || ev->attr.exclude_kernel ||
	    o->ev.exclude_user || (o->system_wide && !o->argv) || o->groups || o->cpus.nr_cpu)
		return false;
	if (o->start_ns || o->start_mark || o->nr_times || o->window_ns || o->disabled ||
	    (o->filter && o->filter->nr))
		return false;
	return !c->paused && !c->switches.nr_dropped && c->switches.perf[0].nr_times <= 1;
}

void unsampled_begin(struct collect *c)
{
	size_t i, nr = nr_attached(c->o);

	c->used_before = nr ? xcalloc(nr, sizeof(*c->used_before)) : NULL;
	for (i = 0; i < nr; i++)
		c->used_before[i] = attached_ns(c, i);
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

static uint64_t all_used_ns(const struct collect *c, const struct rusage *used)
{
	uint64_t sum = 0, now;
	size_t i;

	if (used)
		return timeval_ns(&used->ru_utime) +
		       (c->ev.conf.exclude_kernel ? 0 : timeval_ns(&used->ru_stime));
	for (i = 0; c->used_before && i < nr_attached(c->o); i++) {
		now = attached_ns(c, i);
		sum += now > c->used_before[i] ? now - c->used_before[i] : 0;
	}
	return sum;
}

static uint64_t period_ns(const struct collect *c)
{
	const struct ev_rate *r = &c->o->ev.rates[0];

	return r->freq_hz ? 1000000000 / r->freq_hz : r->period;
}

/* The program gets rights that we do not have when it is executed: the kernel takes our events away then. */
static bool gains_rights(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char file[4096];
	struct stat st;

	if (!geteuid())
		return false;
	for (; path; path = *end ? end + 1 : NULL) {
		end = path + strcspn(path, ":");
		if (strchr(name, '/'))
			snprintf(file, sizeof(file), "%s", name);
		else
			snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, name);
		if (!stat(file, &st) && S_ISREG(st.st_mode))
			return (st.st_mode & S_ISUID && st.st_uid != geteuid()) || st.st_mode & S_ISGID ||
			       getxattr(file, "security.capability", NULL, 0) > 0;
	}
	return false;
}

static const char *why(const struct collect *c)
{
	if (c->timer_ns)
		return "timers on CPU time gave none; a system call filter may refuse timer_create() to it";
	if (c->o->argv && gains_rights(c->o->argv[0]))
		return "the program gets rights of its own (setuid, setgid or file capabilities), and the kernel takes events away from it; record as root";
	return "the kernel gave none; 'arcprof doctor' shows which events work here, -e lists others";
}

void unsampled_end(struct collect *c, const struct rusage *used)
{
	uint64_t ns;

	if (was_wanted(c) && !c->res->nr_of_event[0] && !c->res->nr_lost) {
		ns = all_used_ns(c, used);
		if (ns >= LEAST_NS && ns / LEAST_PERIODS >= period_ns(c)) {
			c->res->unsampled_ns = ns;
			snprintf(c->res->why_unsampled, sizeof(c->res->why_unsampled), "%s", why(c));
			refused_text(&c->refused, "%s: no samples of %.2f s of CPU time: %s",
				     c->o->ev.events[0].name, ns / 1e9, c->res->why_unsampled);
		}
	}
	free(c->used_before);
	c->used_before = NULL;
}
