// SPDX-License-Identifier: GPL-2.0-or-later
/* wallrecords.c - follows threads by the kernel's records for their slots (wall_priv.h). */
#include "base/clock.h"
#include "collect/engine/recording.h"
#include "wall/switches.h"

void wallrecords_configure(const struct collect *c, size_t nr_cpus, struct evconf *conf)
{
	if (!walls_switches(c) || c->sched)
		return;		/* the rings of dispatches have these records, too */
	conf->sched_ring_bytes = sched_ring_bytes(c->o->ring_size, nr_cpus);
	conf->switch_records = conf->switches_at_once = true;
}

int wallrecords_watch(struct collect *c, int tid, struct err *e)
{
	struct wall *w = walls_switches(c);
	int r = w && !c->sched ? evsets_watch_switches(&c->ev, tid, e) : 0;

	if (w && !r)
		wall_thread_found(w, tasks_by_tid(&c->tasks, tid, clock_mono_ns())->proc->pid, tid);
	return r;
}

bool wallrecords_take(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
		      uint64_t time_ns)
{
	const bool is_switch = h->type == PERF_RECORD_SWITCH || h->type == PERF_RECORD_SWITCH_CPU_WIDE;
	struct wall *w = is_switch ? walls_switches(c) : NULL;
	struct switch_record r;

	if (!w || !sched_read_switch(h, &r))
		return false;
	if (r.out)
		wall_switch_out(w, r.tid, r.state == SCHED_RUNNABLE, time_ns);
	else
		wall_switch_in(w, r.tid, time_ns);
	return false;			/* dispatches have it, too */
}

void wallrecords_fork(struct collect *c, int pid, int tid, uint64_t time_ns)
{
	struct wall *w = walls_switches(c);

	if (w)
		wall_thread_begins(w, pid, tid, time_ns);
}

void wallrecords_exec(struct collect *c, int pid, uint64_t time_ns)
{
	struct wall *w = walls_switches(c);

	if (w)
		wall_execs(w, pid, time_ns);
}

void wallrecords_exit(struct collect *c, int tid, uint64_t time_ns)
{
	struct wall *w = walls_switches(c);

	if (w)
		wall_thread_ends(w, tid, time_ns);
}
