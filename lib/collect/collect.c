// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * collect.c - the life of a recording: open the events, let the program go, drain until it
 * ends, name what was hit.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "collect/labels.h"
#include "collect/loop.h"
#include "collect/privileges.h"
#include "collect/state.h"
#include "collect/symbols.h"
#include "pmu/cpus.h"

enum { EVENTS_POLL_MS = 2, BURST_HZ = 20000, STATUS_NS = 500000000 };

/* What only this file needs of a recording. */
struct run {
	struct collect *c;
	struct loop loop;
	struct spawn child;		/* pid 0: none */
	bool child_gone;
	int status;			/* of the child, as waitpid gives it */
	int nr_signals;
	bool ending;			/* the recording is over, the child not yet */
	bool failed;			/* the trace cannot be written any more */
	uint64_t status_ns;
	uint64_t spawned_ns;		/* just before the child was let go */
};

void collect_merge(struct collect *c, uint64_t until_ns)
{
	if (until_ns <= c->merged_ns)
		return;
	c->merged_ns = until_ns;
	merge_drain(c->ev.rings, c->ev.nr_rings, until_ns, collect_record, c);
}

/* Everything that is not younger than the drain before; all: everything. */
static void drain(struct collect *c, uint64_t now_ns, bool all)
{
	uint64_t until = all ? UINT64_MAX : c->drained_ns;

	collect_merge(c, until);
	agents_drain(c, all);
	agents_join(c, until, all);
	if (!all)
		tasks_forget(&c->tasks, until);
	callflows_drain(&c->calls);
	callflows_snapshot(&c->calls);
	c->drained_ns = now_ns;
}

static void reap(void *ctx)
{
	struct run *r = ctx;

	if (r->child.pid <= 0 || r->child_gone || waitpid(r->child.pid, &r->status, WNOHANG) != r->child.pid)
		return;
	r->child_gone = true;
	r->loop.stop = true;
}

/*
 * A first signal is the program's business: what the terminal did not already send it is passed
 * on, and the recording lasts until it ends.  A second one ends the recording, and asks the
 * program to end; a program that does not is killed by the next.
 */
static void on_signal(void *ctx, int sig, bool from_terminal)
{
	struct run *r = ctx;

	if (r->ending) {
		kill(r->child.pid, SIGKILL);
	} else if (r->child.pid > 0 && !r->nr_signals++) {
		if (!from_terminal)
			kill(r->child.pid, sig);
	} else {
		r->loop.stop = true;
	}
}

/* Attached to running processes or threads: are all of them gone? */
static bool targets_gone(const struct collect_opts *o)
{
	size_t i;

	if (!o->nr_pids && !o->nr_tids)
		return false;
	for (i = 0; i < o->nr_pids; i++)
		if (!kill(o->pids[i], 0) || errno == EPERM)
			return false;
	for (i = 0; i < o->nr_tids; i++)
		if (!kill(o->tids[i], 0) || errno == EPERM)
			return false;
	return true;
}

void collect_enable(struct collect *c, bool on)
{
	size_t i;

	for (i = 0; i < c->ev.nr_sets; i++)
		if (!c->ev.sets[i].closed && (!on || c->ev.sets[i].kind != EVSET_LATENT))
			evset_enable(&c->ev, i + 1, on);
}

/* One moment on each clock, so that times of other tools can be converted. */
static void clock_labels(const struct collect *c, const char *when)
{
	const struct { const char *clock; uint64_t value; } now[] = {
		{ "mono_ns", clock_mono_ns() }, { "realtime_ns", clock_real_ns() },
		{ "tsc", arch_cycle_counter() },
	};
	char key[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(now); i++) {
		snprintf(key, sizeof(key), "%s.%s", when, now[i].clock);
		trace_write_label(c->w, key, "%llu", (unsigned long long)now[i].value);
	}
}

/* Sampling starts: now, or after --delay. */
static void begin(struct run *r)
{
	struct collect *c = r->c;
	const struct collect_opts *o = c->o;

	if (o->start_ns)
		clock_labels(c, "start");	/* again: the delay is no part of what is recorded */
	if (c->sched)
		sched_begins(c, o->start_ns || r->child.pid <= 0 ? clock_mono_ns() : r->spawned_ns);

	/* a program's begin with its exec */
	if (o->start_ns || o->system_wide || r->child.pid <= 0)
		collect_enable(c, true);
	c->begun_ns = clock_mono_ns();
	r->loop.due_ns = o->duration_ns ? c->begun_ns + o->duration_ns : 0;
}

static void on_due(void *ctx)
{
	struct run *r = ctx;

	if (r->c->begun_ns)
		r->loop.stop = true;	/* that was the recording's time */
	else
		begin(r);
}

/* The program is not to suffer from a full disk: it runs on, without samples. */
static void check_writer(struct run *r)
{
	if (r->failed || !trace_writer_error(r->c->w))
		return;
	r->failed = true;
	collect_enable(r->c, false);
	if (r->child.pid <= 0)
		r->loop.stop = true;
}

static void on_check(void *ctx)
{
	struct run *r = ctx;

	check_writer(r);
	if (r->c->stop_asked || targets_gone(r->c->o))
		r->loop.stop = true;
}

static void tell_status(struct run *r)
{
	struct collect *c = r->c;
	uint64_t now = clock_mono_ns();
	struct collect_status s = {
		.elapsed_ns = c->begun_ns ? now - c->begun_ns : 0, .nr_samples = c->res->nr_samples,
		.nr_lost = c->res->nr_lost, .nr_bytes = trace_writer_bytes(c->w),
	};

	if (!c->o->status || now - r->status_ns < STATUS_NS)
		return;
	r->status_ns = now;
	c->o->status(c->o->status_ctx, &s);
}

static void on_drain(void *ctx, uint64_t now_ns)
{
	struct run *r = ctx;

	drain(r->c, now_ns, false);
	tell_status(r);
}

static void on_flush(void *ctx)
{
	struct run *r = ctx;

	trace_writer_flush(r->c->w);
}

static int on_command(void *ctx, const char *command, struct buf *reply, struct err *e)
{
	struct run *r = ctx;

	return collect_command(r->c, command, reply, e);
}

static const struct loop_ops loop_ops = {
	.signal = on_signal, .child = reap, .command = on_command, .drain = on_drain, .flush = on_flush,
	.check = on_check, .due = on_due,
};

/*
 * A ring whose task is gone reports a hang-up for ever, hence the edges: each turn looks at all rings
 * anyway.
 */
static int open_loop(struct run *r, struct err *e)
{
	struct collect *c = r->c;
	int ret = loop_open(&r->loop, &loop_ops, r, e);
	size_t i;

	if (ret)
		return ret;
	if (c->o->callflow.layout.flags & CALLFLOW_EVENTS)
		r->loop.most_ms = EVENTS_POLL_MS;
	for (i = 0; i < c->ev.nr_rings && !ret; i++)
		ret = loop_watch(&r->loop, c->ev.rings[i].fd, EPOLLIN | EPOLLET);
	if (!ret && c->jvm)
		ret = loop_watch_jvms(&r->loop, c->jvm);
	return ret ? err_errno(e, "cannot wait for events") : 0;
}

/* The program outlived the recording's time: it is asked to end, and its status is ours. */
static void end_child(struct run *r)
{
	if (r->child.pid <= 0)
		return;
	reap(r);
	if (!r->child_gone)
		r->c->res->ended_program = !kill(r->child.pid, SIGTERM);
	r->ending = true;
	while (!r->child_gone) {
		loop_wait_signal(&r->loop);
		reap(r);
	}
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool kernel_refused(const struct collect *c)
{
	return c->ev.conf.exclude_kernel && !c->o->ev.exclude_kernel;
}

static void event_labels(const struct collect *c)
{
	const struct evconf *ev = &c->ev.conf;
	static const char *const graphs[] = { "dwarf", "fp", "no" };
	size_t i;

	for (i = 0; i < ev->nr_events; i++) {
		const struct ev_rate *rate = &ev->rates[i];
		char key[64];

		snprintf(key, sizeof(key), "event.%zu", i);
		trace_write_label(c->w, key, "%s", ev->events[i].name);
		snprintf(key, sizeof(key), "event.%zu.unit", i);
		trace_write_label(c->w, key, "%s", ev->events[i].unit);
		snprintf(key, sizeof(key), "event.%zu.%s", i, rate->freq_hz ? "freq_hz" : "period");
		trace_write_label(c->w, key, "%llu",
				  (unsigned long long)(rate->freq_hz ? rate->freq_hz : rate->period));
	}
	trace_write_label(c->w, "callgraph", "%s", graphs[ev->callgraph]);
	if (kernel_refused(c))
		trace_write_label(c->w, "refused.0", "kernel code (kernel.perf_event_paranoid)");
}

static void host_labels(const struct collect *c)
{
	labels_origin(c->w, c->o->version, c->o->command_line);
	trace_write_label(c->w, "cpus", "%zu", c->ev.conf.nr_events ? c->ev.nr_sampled : c->ev.nr_cpus);
	trace_write_label(c->w, "n", "%s", c->o->callflow.on && !c->ev.conf.nr_events ? "calls" : "samples");
	trace_write_label(c->w, "scope", "%s", c->o->system_wide ? "system" : "processes");
}

static void start_labels(const struct collect *c)
{
	clock_labels(c, "start");
	trace_writer_flush(c->w);
}

/* The only mode whose code is sampled; NULL: both are. */
static const char *sampled_mode(const struct evconf *ev)
{
	const struct perf_event_attr *a = &ev->events[0].attr;

	if (ev->exclude_kernel || a->exclude_kernel)
		return "user";
	return ev->exclude_user || a->exclude_user ? "kernel" : NULL;
}

/*
 * Samples per second of CPU time. A clock also ticks in code that is not sampled: nobody knows how
 * much of its time was in the other mode, so that the rate is the one that was set.
 */
static double sampling_rate(const struct collect *c, const char *mode)
{
	const struct ev_rate *set = &c->ev.conf.rates[0];

	if (!mode)
		return (double)c->res->nr_samples * 1e9 / (double)c->ev.counts[0];
	return set->freq_hz ? (double)set->freq_hz : 1e9 / (double)MAX(set->period, (uint64_t)1);
}

static void end_labels(struct collect *c)
{
	size_t i;

	for (i = 0; i < c->ev.conf.nr_events; i++) {
		char key[64];

		snprintf(key, sizeof(key), "event.%zu.count", i);
		trace_write_label(c->w, key, "%llu", (unsigned long long)c->ev.counts[i]);
	}
	if (c->ev.conf.nr_events == 1 && c->ev.conf.events[0].clock && c->ev.counts[0]) {
		c->res->rate_mode = sampled_mode(&c->ev.conf);
		c->res->rate_hz = sampling_rate(c, c->res->rate_mode);
		trace_write_label(c->w, "event.0.rate_hz", "%.3f", c->res->rate_hz);
		if (c->res->rate_mode)
			trace_write_label(c->w, "event.0.mode", "%s", c->res->rate_mode);
	}
}

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

			again = true;
			th->evset = c->main_set;
			r = evsets_watch(&c->ev, th->tid, e);
			if (!r && c->sched)
				r = sched_watch(c->sched, &c->ev, th->tid, e);
			if (!r)
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
		r = evsets_watch(&c->ev, c->o->tids[i], e);
		if (!r && c->sched)
			r = sched_watch(c->sched, &c->ev, c->o->tids[i], e);
		if (!r)
			r = evset_add(&c->ev, c->main_set, c->o->tids[i], false, e);
		if (r == -ESRCH)
			r = err_set(e, ESRCH, "no thread %d", c->o->tids[i]);
	}
	return r;
}

/* Names and maps of everything that runs already. */
static void scan_system(struct collect *c)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	struct err e;

	tasks_get(&c->tasks, 0, 0, clock_mono_ns());
	while (dir && (d = readdir(dir))) {
		int pid = atoi(d->d_name);

		if (pid > 0 && pid != getpid())
			tasks_scan(&c->tasks, pid, &e);
	}
	if (dir)
		closedir(dir);
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

static int open_events(struct collect *c, const struct spawn *child, struct err *e)
{
	int r = 0;

	c->main_set = evset_new(&c->ev, EVSET_MAIN);
	if (c->sched && (r = sched_open(c->sched, &c->ev, MAX(child->pid, 0), e)))
		return r;
	if (c->timer_ns)
		return scan_all(c, e);
	if (c->o->system_wide) {
		scan_system(c);
		return evset_add(&c->ev, c->main_set, -1, false, e);
	}
	if (child->pid > 0) {
		struct thread *th = tasks_get(&c->tasks, child->pid, child->pid, clock_mono_ns());

		th->evset = c->main_set;
		r = evset_add(&c->ev, c->main_set, child->pid, !c->o->start_ns, e);
	}
	return r ? r : attach_all(c, e);
}

/* Samples a second; nobody knows that of things like page faults, which come in bursts. */
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

/* Samples of 32 ms: so long may the recorder be kept from a CPU. */
static uint32_t ring_samples(const struct evconf *ev)
{
	return MAX(collect_expected_hz(ev) * 32 / 1000, (uint64_t)16);
}

/*
 * A power of two that holds four times as many with their stack copies, as far as 256 MB for all
 * CPUs go: a busy machine keeps the recorder waiting longer than 32 ms now and then.
 */
static size_t ring_bytes(const struct collect_opts *o, const struct evconf *ev, size_t nr_cpus)
{
	uint64_t a_sample = 1024 + (ev->callgraph == CALLGRAPH_DWARF ? ev->stack_bytes : 0);
	uint64_t most = MAX(MIN((256ull << 20) / MAX(nr_cpus, (size_t)1), 16ull << 20), 4ull << 20);
	uint64_t want = o->ring_bytes ? o->ring_bytes : MIN(4 * ev->ring_samples * a_sample, most);
	uint64_t bytes = o->ring_bytes ? 64 << 10 : 1 << 20;

	if (o->ring_bytes)
		most = 64 << 20;
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

static int open_rings(struct collect *c, int target, struct err *e)
{
	const struct cpus *sampled;
	struct cpus online = { 0 }, none = { 0 };
	struct evconf ev = c->o->ev;
	int r;

	cpus_online(&online);
	ev.ring_samples = ring_samples(&ev);
	sampled = !ev.nr_events ? &none : c->o->cpus.nr_cpu ? &c->o->cpus : &online;
	r = check_cpus(sampled, &online, e);
	if (!r && c->o->sched)
		c->sched = sched_new(c->o->irq, target == -1, c->o->ring_bytes, online.nr_cpu, &ev);
	if (!r)
		r = evsets_open(&c->ev, &ev, &online, sampled, target,
				ring_bytes(c->o, &ev, sampled->nr_cpu), e);
	cpus_release(&online);
	return r;
}

static void refused_metrics(struct collect *c)
{
	const struct callflow_opts *o = &c->o->callflow;
	uint32_t m;

	for (m = 0; m < o->layout.nr_metrics; m++)
		if (c->res->calls.refused_threads[m])
			refused_metric(&c->refused, o->layout.metrics[m].kind, o->names[m],
				       c->res->calls.refused_threads[m]);
}

static void turned_away(struct collect *c)
{
	const struct jvm_refusals *r = c->jvm ? jvm_server_refusals(c->jvm) : NULL;

	if (!r)
		return;
	c->res->nr_foreign = jvm_server_nr_foreign(c->jvm);
	c->res->nr_turned_away = r->strangers + r->crowd + r->silent;
	refused_peers(&c->refused, r);
}

/* After the last drain: names, counts, labels. */
static void finish(struct collect *c)
{
	struct symbols_result sym;
	struct proc *p;

	callflows_finish(&c->calls);
	turned_away(c);
	for (p = c->tasks.procs; p; p = p->next) {
		c->res->nr_strange_jvms += !p->had_agent && p->has_libjvm && p->has_anon_hits;
		if (!p->had_agent && p->has_anon_hits)
			symbols_write_perf_map(c->w, p);
	}
	agents_write_lines(c);
	symbols_write(&c->modules, c->w, c->o->lines, &sym);
	trace_write_label(c->w, "symbols", "complete");
	refused_metrics(c);
	refused_labels(&c->refused, c->w, kernel_refused(c) || c->timer_ns);
	c->res->kernel_hidden = sym.kernel_hidden;
	c->res->nr_procs = c->tasks.nr_procs;
	c->res->nr_threads = c->tasks.nr_threads;
	c->res->user_only = c->ev.conf.exclude_kernel && !c->o->ev.exclude_kernel;
}

/*
 * A full ring says what it lost with the next record that fits: what was lost after the last
 * one only the events know.
 */
static void lost_untold(struct collect *c)
{
	struct rec_lost r = { .time_ns = clock_mono_ns(), .cause = LOST_RING, .stream = UINT32_MAX };

	if (c->ev.nr_lost <= c->nr_lost_told)
		return;
	r.count = c->ev.nr_lost - c->nr_lost_told;
	trace_write_lost(c->w, &r);
	c->res->nr_lost += r.count;
}

static void stop_sched(struct collect *c)
{
	struct rec_lost r = { .time_ns = clock_mono_ns(), .cause = LOST_SCHED, .stream = UINT32_MAX };
	uint64_t lost = sched_close_events(c->sched);

	if (lost > c->res->nr_lost_sched) {
		r.count = lost - c->res->nr_lost_sched;
		trace_write_lost(c->w, &r);
		c->res->nr_lost_sched = lost;
	}
}

static void stop_events(struct collect *c)
{
	size_t i;

	if (c->sched)
		sched_ends(c, clock_mono_ns());
	collect_enable(c, false);
	drain(c, clock_mono_ns(), true);
	if (c->sched)
		stop_sched(c);
	for (i = 0; i < c->ev.nr_sets; i++)
		if (!c->ev.sets[i].closed)
			evset_close(&c->ev, i + 1);
	lost_untold(c);
}

/* It ends without running anything. */
static void never_let_go(struct spawn *child)
{
	if (child->pid <= 0)
		return;
	close(child->go_fd);
	waitpid(child->pid, NULL, 0);
}

/*
 * The program runs from here on. The trace gets its name only now: a program that does not exist costs
 * no older trace.
 */
static int let_go(struct run *r, struct err *e)
{
	int ret = r->child.pid > 0 ? spawn_go(&r->child, r->c->o->argv[0], e) : 0;

	if (ret)
		return ret;
	ret = trace_writer_commit(r->c->w, e);
	if (ret)
		end_child(r);
	privileges_drop();	/* after the commit, which may be in somebody else's folder */
	return ret;
}

/* The program runs; until it has ended, or the recording is to. */
static void run(struct run *r)
{
	struct collect *c = r->c;

	if (c->o->start_ns)
		r->loop.due_ns = clock_mono_ns() + c->o->start_ns;
	else
		begin(r);
	tell_status(r);
	reap(r);
	loop_run(&r->loop);
	if (c->begun_ns)
		c->res->duration_ns = clock_mono_ns() - c->begun_ns;
	clock_labels(c, "end");		/* what stopping takes is no part of what was recorded */
	stop_events(c);
	end_child(r);
	c->res->status = r->child.pid > 0 ? shell_status(r->status) : 0;
	end_labels(c);
	finish(c);
}

static int record(struct run *r, struct err *e)
{
	struct collect *c = r->c;
	int ret;

	host_labels(c);
	event_labels(c);
	callflows_labels(&c->calls);
	if (c->sched)
		sched_labels(c);
	ret = open_loop(r, e);
	if (ret) {
		never_let_go(&r->child);
	} else {
		start_labels(c);
		r->spawned_ns = c->drained_ns = clock_mono_ns();
		ret = let_go(r, e);
		if (!ret)
			run(r);
	}
	loop_close(&r->loop);
	return ret;
}

static void close_trace(struct collect *c)
{
	struct collect_result *res = c->res;
	struct err e;

	trace_writer_flush(c->w);
	res->nr_bytes = trace_writer_bytes(c->w);
	res->nr_lost += trace_writer_lost_samples(c->w);
	res->nr_lost_sched += trace_writer_lost_sched(c->w);
	res->nr_samples -= MIN(res->nr_samples, trace_writer_lost_samples(c->w));
	if (trace_writer_close(c->w, &e))
		res->write_error = e.code;
}

int collect_run(const struct collect_opts *o, struct collect_result *res, struct err *e)
{
	struct collect *c = xcalloc(1, sizeof(*c));
	struct run run = { .c = c };
	int r;

	memset(res, 0, sizeof(*res));
	c->o = o;
	c->res = res;
	r = trace_writer_open(&c->w, o->output, &o->trace, e);
	if (!r)
		agents_watch_frames(c);
	if (r)
		goto out;
	modules_init(&c->modules, c->w, !c->o->no_cache);
	tasks_init(&c->tasks, c->w, &c->modules);
	if (o->callflow.on)
		callflows_init(&c->calls, &o->callflow, &c->tasks, c->w, &res->calls);
	r = agents_open(c, e);
	if (!r && o->argv)
		r = spawn_start(&run.child, o->argv, e);
	c->child_pid = MAX(run.child.pid, 0);
	privileges_raise();	/* not those of the program */
	if (!r)
		r = open_rings(c, o->system_wide ? -1 : o->argv ? run.child.pid : 0, e);
	if (r && timers_take_over(c, e))
		r = 0;
	if (!r)
		r = open_events(c, &run.child, e);
	if (!r)
		r = agents_attach(c, e);
	if (!r)
		r = record(&run, e);
	else
		never_let_go(&run.child);
	callflows_release(&c->calls);
	agents_close(c);
	sched_free(c->sched);
	evsets_close(&c->ev);
	if (r)
		trace_writer_discard(c->w);
	else
		close_trace(c);
	tasks_release(&c->tasks);
	modules_release(&c->modules);
	refused_release(&c->refused);
out:
	free(c);
	return r;
}
