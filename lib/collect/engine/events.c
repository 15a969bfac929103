// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events.c - opens the rings and the events of a recording: how large, on which CPUs, and on all
 * processes and threads to record.
 */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "pmu/cpus.h"

enum { BURST_HZ = 20000 };

/* Opens events on every thread there is until a look at the process shows no new one. */
static int attach_process(struct collect *c, int pid, struct err *e)
{
	bool again = true;
	int r = tasks_scan(&c->tasks, pid, e);
	size_t done = 0, i;

	while (!r && again) {
		again = false;
		for (i = done; i < c->tasks.nr_all; i++) {
			struct thread *th = c->tasks.threads[i];

			/* of another process that was named, or started by a thread that has events */
			if (th->evset)
				continue;
			again = true;
			th->evset = c->main_set;
			if (!c->ev.conf.side_of_all)
				r = evsets_watch(&c->ev, (struct ev_target){ .id = th->tid }, e);
			if (!r)
				r = parts_watch(c, th->tid, e);
			if (!r && !c->ev.conf.filter_fd)
				r = evset_add(&c->ev, c->main_set, th->tid, false, e);
			if (r == -ESRCH)
				r = 0;
			if (r)
				return r;
		}
		done = c->tasks.nr_all;
		tasks_rescan(&c->tasks, pid);
	}
	return r;
}

static int attach_all(struct collect *c, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < c->o->nr_pids && !r; i++) {
		r = attach_process(c, c->o->pids[i], e);
		if (r == -ESRCH && c->o->pids_may_end)
			r = 0;
	}
	for (i = 0; i < c->o->nr_tids && !r; i++) {
		r = evsets_watch(&c->ev, (struct ev_target){ .id = c->o->tids[i] }, e);
		if (!r)
			r = parts_watch(c, c->o->tids[i], e);
		if (!r)
			r = evset_add(&c->ev, c->main_set, c->o->tids[i], false, e);
		if (r == -ESRCH)
			r = err_set(e, ESRCH, "no thread %d", c->o->tids[i]);
	}
	return r;
}

/* Read names and maps of everything that is running, as far as it is recorded. */
static void scan_system(struct collect *c)
{
	DIR *dir = opendir("/proc");
	struct err e;
	int pid;

	if (!c->o->groups)
		tasks_get(&c->tasks, 0, 0, clock_mono_ns());
	while ((pid = io_next_number(dir)))
		if (pid != getpid() && (!c->o->groups || cgroups_have(c->o->groups, pid)))
			tasks_scan(&c->tasks, pid, &e);
	io_close_folder(dir);
}

/* Processes forked before the scan are seen by the side-band events. */
static int attach_groups(struct collect *c, struct err *e)
{
	const struct cgroups *g = c->o->groups;
	size_t i;
	int r = 0;

	for (i = 0; i < g->nr && !r; i++)
		r = evsets_watch(&c->ev, (struct ev_target){ g->fds[i], true }, e);
	if (!r)
		scan_system(c);
	for (i = 0; i < g->nr && !r; i++)
		r = evset_add_on(&c->ev, c->main_set, (struct ev_target){ g->fds[i], true }, false, e);
	return r;
}

/* Names and maps of the processes that are attached to. */
static int scan_all(struct collect *c, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < c->o->nr_pids && !r; i++)
		r = tasks_scan(&c->tasks, c->o->pids[i], e);
	return r;
}

int collect_open_events(struct collect *c, struct err *e)
{
	size_t i;
	int r;

	for (i = 0; i < c->ev.conf.nr_events; i++)
		c->ev.off[i] = !switches_runs(c, i);
	c->main_set = evset_new(&c->ev, EVSET_MAIN);
	r = parts_open_events(c, e);
	if (r)
		return r;
	if (c->only_jvms)
		return scan_all(c, e);
	if (c->o->groups)
		return attach_groups(c, e);
	if (c->o->system_wide) {
		scan_system(c);
		if (c->ev.conf.filter_fd && !evset_add(&c->ev, c->main_set, -1, false, e))
			return 0;
		c->ev.conf.filter_fd = c->ev.conf.trapped_fd = 0;
		return evset_add(&c->ev, c->main_set, -1, false, e);
	}
	/* without the filter: on the tasks */
	if (c->ev.conf.filter_fd && evset_add(&c->ev, c->main_set, -1, false, e))
		c->ev.conf.filter_fd = c->ev.conf.trapped_fd = 0;
	if (c->child_pid) {
		struct thread *th = tasks_get(&c->tasks, c->child_pid, c->child_pid, clock_mono_ns());

		th->evset = c->main_set;
		if (!c->ev.conf.filter_fd)
			r = evset_add(&c->ev, c->main_set, c->child_pid, !c->o->delay_ns, e);
	}
	return r ? r : attach_all(c, e);
}

/* Return how many samples per second to expect; events like page faults come in bursts of unknown size. */
static uint64_t expected_hz(const struct pmu_event *ev, const struct ev_rate *rate)
{
	if (rate->freq_hz)
		return rate->freq_hz;
	return ev->clock ? 1000000000 / rate->period : MAX(BURST_HZ / rate->period, (uint64_t)1000);
}

uint64_t collect_expected_hz(const struct evconf *ev)
{
	uint64_t hz = 0;
	size_t i;

	for (i = 0; i < ev->nr_events; i++)
		hz += expected_hz(&ev->events[i], &ev->rates[i]);
	return MIN(hz, (uint64_t)1000000);
}

/* Return the samples of 32 ms: the recorder may wait that long for a CPU. */
static uint32_t ring_samples(const struct evconf *ev)
{
	return MAX(collect_expected_hz(ev) * 32 / 1000, (uint64_t)16);
}

/*
 * Return a power of two that holds four times as many with their stack copies, within 256 MB for all
 * CPUs: a busy machine keeps the recorder waiting longer than 32 ms now and then.
 */
static size_t ring_bytes(const struct collect_opts *o, const struct evconf *ev, size_t nr_cpus)
{
	uint64_t a_sample = 1024 + (ev->callgraph == CALLGRAPH_DWARF ? ev->stack_bytes : 0);
	uint64_t most = MAX(MIN((256ull << 20) / MAX(nr_cpus, (size_t)1), 16ull << 20), 4ull << 20);
	uint64_t want = o->ring_size ? o->ring_size : MIN(4 * ev->ring_samples * a_sample, most);
	uint64_t bytes = o->ring_size ? 64 << 10 : 1 << 20;

	if (o->ring_size)
		most = 64 << 20;
	else if (o->cost.max_memory)	/* a quarter for all, but one MiB each, which has the stacks of 16 */
		most = MAX(MIN(most, o->cost.max_memory / 4 / MAX(nr_cpus, (size_t)1)), (uint64_t)1 << 20);
	while (bytes < want && 2 * bytes <= most)
		bytes *= 2;
	return bytes;
}

static int check_cpus(const struct cpus *asked, const struct cpus *online, struct err *e)
{
	size_t i, k;

	for (i = 0; i < asked->nr_cpu; i++) {
		for (k = 0; k < online->nr_cpu && online->cpu[k] != asked->cpu[i]; k++)
			;
		if (k == online->nr_cpu)
			return err_set(e, ENODEV, "CPU %u is not online", asked->cpu[i]);
	}
	return 0;
}

/* Check whether all that the tasks themselves would have events for is the side band. */
static bool is_side_alone(const struct collect *c, const struct evconf *ev)
{
	return !ev->nr_events && !ev->sched_ring_bytes && !c->o->nr_tids && !c->o->groups;
}

/*
 * Open the rings. A context switch between tasks with events costs 0.3 us, and 3 us if these were opened one
 * by one. If BPF filters the samples, or there are none, no task has events.
 */
static int open_rings(struct collect *c, struct evconf *ev, const struct cpus *online,
		      const struct cpus *sampled, int target, struct err *e)
{
	const bool of_cpus = ev->filter_fd || is_side_alone(c, ev);

	ev->side_of_all = of_cpus && target != -1;
	ev->main_has_all = c->o->system_wide;
	if (of_cpus && !evsets_open(&c->ev, ev, online, sampled, -1, e))
		return 0;
	ev->filter_fd = ev->trapped_fd = 0;
	ev->side_of_all = false;
	return evsets_open(&c->ev, ev, online, sampled, target, e);
}

int collect_open_rings(struct collect *c, int target, struct err *e)
{
	const struct cpus *sampled;
	struct cpus online = { 0 }, none = { 0 };
	struct evconf ev = c->o->ev;
	int r;

	cpus_online(&online);
	ev.ring_samples = ring_samples(&ev);
	sampled = !ev.nr_events ? &none : c->o->cpus.nr_cpu ? &c->o->cpus : &online;
	r = check_cpus(sampled, &online, e);
	ev.all_cpus = target == -1;
	if (!r)
		parts_configure(c, online.nr_cpu, &ev);
	ev.ring_bytes = ring_bytes(c->o, &ev, sampled->nr_cpu);
	if (!r)
		r = open_rings(c, &ev, &online, sampled, target, e);
	cpus_release(&online);
	return r;
}

void collect_enable(struct collect *c, bool on)
{
	size_t i;

	for (i = 0; i < c->ev.conf.nr_events; i++)
		c->ev.off[i] = !switches_runs(c, i);
	for (i = 0; i < c->ev.nr_sets; i++)
		if (!c->ev.sets[i].closed && (!on || c->ev.sets[i].kind != EVSET_LATENT))
			evset_enable(&c->ev, i + 1, on);
}
