// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clocks.c - the choice between clocks of CPUs and clocks of threads.
 *
 * A clock of a CPU beats while the program sleeps, so that its beat must not be in step with what programs do
 * every so many milliseconds: its period is an odd part of what was asked for (evset.h), and changes a few
 * times each second.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/clocks.h"
#include "collect/engine/recording.h"
#include "cpuclock/cpuclock.h"

#define VARY_NS		250000000ull

enum {
	/* Shorter ones would cost each CPU of the machine more than 5 %, busy or not. */
	SHORTEST_NS = 250000,
	VARY_PERIODS = 500,		/* half of one is lost each time */
};

struct clock {
	struct cpuclock *bpf;		/* NULL: there is no BPF */
	bool of_cpus;
	char why_not[256];		/* there are none of CPUs, "": there are */
	uint64_t varied_ns;
};

/* Return whether the event counts for each CPU, whatever runs there, as those of hardware and kernel do. */
static bool is_counting_event(const struct pmu_event *ev)
{
	return ev->attr.type == PERF_TYPE_HARDWARE || ev->attr.type == PERF_TYPE_HW_CACHE ||
	       ev->attr.type == PERF_TYPE_RAW || ev->attr.type == PERF_TYPE_SOFTWARE;
}

static bool is_switch(const struct pmu_event *ev)
{
	return ev->attr.type == PERF_TYPE_SOFTWARE && (ev->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						       ev->attr.config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/*
 * Return why an event cannot be filtered, or NULL. A program on one event of a tracepoint filters those of
 * all others, too, and drops what they asked for.
 */
static const char *objection_to(const struct collect_opts *o, const struct pmu_event *ev)
{
	if (ev->attr.type == PERF_TYPE_TRACEPOINT)
		return "a tracepoint cannot be filtered for one recording alone";
	if (!ev->clock && !is_counting_event(ev))
		return "an event is neither a clock nor a counter of the CPU or the kernel";
	/* the kernel walks its stack before it asks the filter */
	if (is_switch(ev) && o->clock == CLOCK_AUTO && !o->system_wide)
		return "each switch between other programs would take 3 us more";
	return NULL;
}

/* Return whether some CPUs must have no timers; a kernel without any prints "(null)" or nothing. */
static bool has_isolated_cpus(void)
{
	static const char *const lists[] = {
		"/sys/devices/system/cpu/isolated", "/sys/devices/system/cpu/nohz_full",
	};
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		struct buf b = BUF_INIT;

		any |= !io_slurp(lists[i], &b) && b.len && b.data[0] >= '0' && b.data[0] <= '9';
		buf_release(&b);
	}
	return any;
}

/* Return why clocks of CPUs cannot be used, or NULL if they can where BPF is available. */
static const char *objection(const struct collect *c)
{
	const struct collect_opts *o = c->o;
	const char *why;
	size_t i;

	if (o->nr_tids)
		return "threads are recorded, not processes";
	if (o->groups)
		return "control groups have clocks of their own";
	if (o->sched)
		return "dispatches of these threads are recorded";
	if (o->clock == CLOCK_AUTO && !o->system_wide && has_isolated_cpus())
		return "some CPUs are isolated, and would be interrupted";
	for (i = 0; i < o->ev.nr_events; i++) {
		why = objection_to(o, &o->ev.events[i]);
		if (why)
			return why;
		if (!o->ev.events[i].clock)
			continue;
		if (o->clock == CLOCK_AUTO && !o->ev.rates[i].freq_hz &&
		    o->ev.rates[i].period < SHORTEST_NS)
			return "so short an interval would cost every CPU";
		if (o->clock == CLOCK_AUTO && o->ev.rates[i].freq_hz > 1000000000 / SHORTEST_NS)
			return "so high a rate would cost every CPU";
	}
	return NULL;
}

static bool has_clock(const struct collect_opts *o)
{
	size_t i;

	for (i = 0; i + o->ev.nr_aside < o->ev.nr_events; i++)
		if (o->ev.events[i].clock)
			return true;
	return false;
}

/* Samples of CPUs need BPF, and so does the account, which also goes with clocks of threads. */
static bool needs_bpf(const struct collect_opts *o, const char *why_not)
{
	return (!why_not && o->clock != CLOCK_THREAD) || (has_clock(o) && !o->nr_tids && !o->groups);
}

static int open_bpf(struct collect *c, struct err *e)
{
	const struct collect_opts *o = c->o;
	int *pids = xmalloc((o->nr_pids + 1) * sizeof(*pids)), r;
	size_t nr = 0, i;

	for (i = 0; i < o->nr_pids; i++)
		pids[nr++] = o->pids[i];
	if (c->child_pid)
		pids[nr++] = c->child_pid;
	if (o->system_wide)
		r = cpuclock_open(&c->clock->bpf, NULL, 0, e);
	else
		r = cpuclock_open(&c->clock->bpf, pids, nr, e);
	free(pids);
	return r;
}

static int open_part(struct collect *c, struct err *e)
{
	const struct collect_opts *o = c->o;
	struct err bpf = { 0 };
	const char *why;
	int r;

	if (!collect_nr_events(&o->ev))
		return 0;
	why = objection(c);
	c->clock = xcalloc(1, sizeof(*c->clock));
	r = needs_bpf(o, why) ? open_bpf(c, &bpf) : 0;
	if (!why && r)
		why = bpf.msg;
	c->clock->of_cpus = !why && o->clock != CLOCK_THREAD;
	if (why)
		snprintf(c->clock->why_not, sizeof(c->clock->why_not), "%s", why);
	if (o->clock != CLOCK_CPU || !why)
		return 0;
	err_set(e, r ? -r : EINVAL, "no clocks of CPUs: %s", why);
	if (bpf.hint[0])
		err_hint(e, "%s", bpf.hint);
	return -e->code;
}

static void clocks_configure(struct collect *c, size_t nr_cpus, struct evconf *conf)
{
	if (!c->clock || !c->clock->of_cpus)
		return;
	conf->filter_fd = cpuclock_filter(c->clock->bpf);
	/* agents are not told which event it is: the only one */
	conf->trapped_fd = conf->nr_events == 1 ? cpuclock_trapped(c->clock->bpf) : 0;
	conf->odd_periods = true;
}

/* Check whether it is our program that filters samples, and no other part's. */
static bool filters(const struct collect *c)
{
	return c->ev.conf.filter_fd && c->clock && c->clock->of_cpus &&
	       c->ev.conf.filter_fd == cpuclock_filter(c->clock->bpf);
}

bool clocks_leave_out(struct collect *c, int pid)
{
	return filters(c) && !cpuclock_trap(c->clock->bpf, pid);
}

struct cpuclock *clocks_bpf(const struct collect *c)
{
	return c->clock ? c->clock->bpf : NULL;
}

const char *clocks_why_not(const struct collect *c)
{
	return c->clock ? c->clock->why_not : "";
}

static void clocks_labels(struct collect *c)
{
	if (!c->clock || !collect_nr_events(&c->ev.conf))
		return;
	if (c->o->groups)
		trace_write_label(c->w, "clock", "cgroup");
	else if (c->ev.conf.filter_fd || c->o->system_wide)
		trace_write_label(c->w, "clock", "cpu");
	else if (c->clock->why_not[0])
		trace_write_label(c->w, "clock", "thread (%s)", c->clock->why_not);
	else
		trace_write_label(c->w, "clock", "thread");
}

static void clocks_turn(struct collect *c, uint64_t now_ns)
{
	if (!c->clock || !c->clock->of_cpus || now_ns - c->clock->varied_ns <
	    MAX(VARY_NS, VARY_PERIODS * evsets_longest_period(&c->ev)))
		return;
	c->clock->varied_ns = now_ns;
	evsets_vary_periods(&c->ev);
}

static void clocks_close_part(struct collect *c)
{
	if (c->clock)
		cpuclock_close(c->clock->bpf);
	free(c->clock);
	c->clock = NULL;
}

const struct part clock_part = {
	.open = open_part, .configure = clocks_configure, .labels = clocks_labels, .trap = clocks_leave_out,
	.turn = clocks_turn, .close = clocks_close_part,
};
