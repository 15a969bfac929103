// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * collect.c - the life of a recording: open the events, start the program, drain until it
 * ends, resolve the addresses.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/mem.h"
#include "collect/control/rates.h"
#include "collect/engine/loop.h"
#include "collect/engine/privileges.h"
#include "collect/engine/program.h"
#include "collect/engine/recording.h"
#include "collect/engine/uprobes.h"
#include "collect/files/labels.h"
#include "collect/jvm/outside.h"

enum {
	COUNTS_MS = 500,		/* agents have it for telling what JVMs count */
	EVENTS_POLL_MS = 2, STATUS_NS = 500000000, JVMS_NS = 1000000000,
	GRACE_NS = 1000000000,		/* a program has it to end after a signal, */
	END_NS = 500000000,		/* and all that the recording's end waits for, this */
};

/* The state of a recording that only this file needs. */
struct run {
	struct collect *c;
	struct loop loop;
	struct program program;
	bool failed;			/* the trace cannot be written any more */
	uint64_t status_ns;
	uint64_t jvms_ns;		/* when JVMs were last looked for */
	uint64_t spawned_ns;		/* just before the program was let go */
	uint64_t gone_ns;		/* when the program had ended */
	uint64_t signal_ns;		/* the first one that ends the recording came then; 0: none */
};

static void on_child(void *ctx)
{
	struct run *r = ctx;

	if (!program_reap(&r->program))
		return;
	r->loop.stop = !r->c->o->wait;
	r->gone_ns = clock_mono_ns();
	if (!r->program.nr_signals)	/* else it was asked to end */
		triggers_ended(r->c, r->program.status);
}

static void collect_on_signal(void *ctx, int sig, bool from_terminal)
{
	struct run *r = ctx;

	if (triggers_signal(r->c, sig))
		return;
	if (program_signal(&r->program, sig, from_terminal))
		r->loop.stop = true;
	if (r->signal_ns)
		return;
	r->signal_ns = clock_mono_ns();
	if (!r->loop.due_ns || r->loop.due_ns > r->signal_ns + GRACE_NS)
		r->loop.due_ns = r->signal_ns + GRACE_NS;
}

/* Without perf events there is no record of a fork, and no other process is known. */
static bool is_started_by_program(const struct collect *c, const struct proc *p)
{
	return p->pid != c->child_pid && (c->only_jvms || p->descends);
}

/* Counts processes that the program has started, and that go on. */
static uint32_t count_left(const struct collect *c, const struct proc **one)
{
	const struct proc *p;
	uint32_t nr = 0;

	for (p = c->tasks.procs; p; p = p->next)
		if (p->nr_live && !p->replaced_ns && is_started_by_program(c, p) && tasks_is_alive(p)) {
			nr++;
			*one = p;
		}
	return nr;
}

/* Return whether the program and everything that it started, as far as that is known, have ended. */
static bool all_gone(const struct run *r)
{
	const struct proc *one;

	return r->c->o->wait && r->program.gone && r->c->merged_ns > r->gone_ns && !count_left(r->c, &one);
}

/* Note the last name of a program that ended, and the processes it left behind if it ended by itself. */
static void note_left(struct run *r)
{
	struct collect_result *res = r->c->res;
	const struct proc *one = NULL;
	const struct thread *th;

	if (!r->program.gone)
		return;
	th = tasks_any(&r->c->tasks, r->c->child_pid);
	snprintf(res->program_name, sizeof(res->program_name), "%s", th ? th->comm : "");
	if (r->program.nr_signals && !r->c->o->wait)
		return;
	res->nr_left = count_left(r->c, &one);
	if (!one)
		return;
	th = tasks_any(&r->c->tasks, one->pid);
	res->a_left_pid = one->pid;
	snprintf(res->a_left_name, sizeof(res->a_left_name), "%s", th ? th->comm : "?");
}

/* Return whether all attached processes or threads have ended. */
static bool targets_gone(const struct collect *c)
{
	const struct collect_opts *o = c->o;
	size_t i;

	if (!o->nr_pids && !o->nr_tids)
		return false;
	/* one that has ended keeps its number until its parent asks how */
	for (i = 0; i < o->nr_pids; i++)
		if (!crashes_has_ended(&c->named, o->pids[i]) && (!kill(o->pids[i], 0) || errno == EPERM))
			return false;
	for (i = 0; i < o->nr_tids; i++)
		if (!kill(o->tids[i], 0) || errno == EPERM)
			return false;
	return true;
}

/* Label a moment of this file only. */
static void label_moment(struct collect *c, const char *when)
{
	trace_writer_keep(c->w, false);
	labels_clock(c, when);
	trace_writer_keep(c->w, true);
}

/* Return the earlier of two moments, such as when the next turn must begin; 0: never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static uint64_t turn_due_ns(const struct collect *c, uint64_t now_ns)
{
	uint64_t due = earlier(parts_due_ns(c), segments_turn_ns(c, switches_due_ns(c)));

	return earlier(stackrest_due_ns(&c->rest, now_ns), due);
}

/* Start sampling: now, or after --delay. */
static void collect_begin(struct run *r)
{
	struct collect *c = r->c;
	const struct collect_opts *o = c->o;
	const bool later = o->delay_ns || o->start_mark;
	bool with_program = program_exists(&r->program) && !later;

	if (later)
		label_moment(c, "start");	/* again: the delay is not part of what is recorded */
	parts_begin(c, with_program ? r->spawned_ns : clock_mono_ns());
	switches_begin(c, with_program ? r->spawned_ns : clock_mono_ns());
	/* a program's begin with its exec */
	if (!with_program || o->system_wide)
		collect_enable(c, true);
	c->begun_ns = clock_mono_ns();
	segments_begin(c, c->begun_ns);
	switches_begin_parts(c, with_program ? r->spawned_ns : c->begun_ns);
	r->loop.due_ns = o->duration_ns ? c->begun_ns + o->duration_ns : 0;
	r->loop.turn_ns = turn_due_ns(c, clock_mono_ns());
}

static void on_due(void *ctx)
{
	struct run *r = ctx;

	if (r->c->begun_ns || r->signal_ns)
		r->loop.stop = true;	/* that was the recording's time, or the program's after a signal */
	else
		collect_begin(r);
}

/* Check for write errors: on a full disk the program runs on, without samples. */
static void check_writer(struct run *r)
{
	if (r->failed || !trace_writer_error(r->c->w) || segments_wait(r->c))
		return;
	r->failed = true;
	collect_enable(r->c, false);
	if (!program_exists(&r->program))
		r->loop.stop = true;
}

static struct collect_status status_at(const struct collect *c, uint64_t now_ns)
{
	return (struct collect_status){
		.elapsed_ns = c->begun_ns ? now_ns - c->begun_ns : 0, .nr_samples = c->res->nr_samples,
		.nr_lost = c->res->nr_lost, .nr_bytes = trace_writer_bytes(c->w),
	};
}

/* Give the watcher what was not stored yet. */
static void collect_store(struct collect *c, bool end)
{
	const struct collect_watcher *v = c->o->watcher;
	struct collect_status s = status_at(c, clock_mono_ns());

	if (!end) {
		collect_name_anonymous_hits(c);
		collect_name_hits(c, false, false);
	}
	trace_writer_flush(c->w);
	v->stored(v->ctx, &s, end);
}

static void ask_watcher(struct run *r)
{
	const struct collect_watcher *v = r->c->o->watcher;

	switch (v->turn(v->ctx, clock_mono_ns())) {
	case COLLECT_STORE:
		collect_store(r->c, false);
		if (r->c->o->all_jvms)
			agents_attach_jvms(r->c);
		break;
	case COLLECT_STOP:
		r->loop.stop = true;
		break;
	case COLLECT_GO_ON:
		break;
	}
}

/* Look for JVMs that were started since the last look; where there is a watcher, it says when. */
static void look_for_jvms(struct run *r)
{
	uint64_t now = clock_mono_ns();

	if (!r->c->o->all_jvms || r->c->o->watcher || r->loop.stop || now - r->jvms_ns < JVMS_NS)
		return;
	agents_attach_jvms(r->c);
	r->jvms_ns = clock_mono_ns();
}

static void on_check(void *ctx)
{
	struct run *r = ctx;

	check_writer(r);
	if (r->c->stop_asked || targets_gone(r->c) || all_gone(r))
		r->loop.stop = true;
	if (r->c->o->watcher && !r->loop.stop && r->c->begun_ns)
		ask_watcher(r);
	look_for_jvms(r);
}

static void tell_status(struct run *r)
{
	struct collect *c = r->c;
	uint64_t now = clock_mono_ns();
	struct collect_status s = status_at(c, now);

	if (!c->o->status || now - r->status_ns < STATUS_NS)
		return;
	r->status_ns = now;
	c->o->status(c->o->status_ctx, &s);
}

static void on_drain(void *ctx, uint64_t now_ns)
{
	struct run *r = ctx;

	collect_drain(r->c, now_ns, false);
	if (!r->c->begun_ns && r->c->switches.marked && !r->loop.due_ns)
		r->loop.due_ns = now_ns + r->c->o->delay_ns;
	switches_turn(r->c, now_ns);
	traps_turn(r->c);
	outside_turn(r->c);
	if (r->c->res->nr_outside)		/* what is read later may have changed */
		r->loop.most_ms = MIN(r->loop.most_ms, OUTSIDE_MS);
	parts_turn(r->c, now_ns);
	segments_turn(r->c, now_ns);
	flight_turn(r->c, now_ns);
	collect_name_new_code(r->c, now_ns);
	cleanup_turn(r->c, now_ns);
	r->loop.turn_ns = turn_due_ns(r->c, now_ns);
	r->loop.jvm_ms = agents_turn_ms(r->c);
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
	.signal = collect_on_signal, .child = on_child, .command = on_command, .drain = on_drain,
	.flush = on_flush, .check = on_check, .due = on_due,
};

/*
 * A ring whose task has ended reports a hang-up for ever, so it is watched for edges: each turn reads all
 * rings anyway.
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
	if (c->o->watcher)
		r->loop.most_ms = MIN(r->loop.most_ms, (int)c->o->watcher->most_ms);
	if (c->o->watcher && c->o->watcher->fd >= 0)
		ret = loop_watch(&r->loop, c->o->watcher->fd, EPOLLIN);
	for (i = 0; i < c->ev.nr_rings && !ret; i++)
		ret = loop_watch(&r->loop, c->ev.rings[i].fd, EPOLLIN | EPOLLET);
	if (!ret && c->jvm)
		ret = loop_watch_jvms(&r->loop, c->jvm);
	for (i = 0; i < c->o->trigger.nr_conditions && !ret; i++)
		if (c->o->trigger.conditions[i].kind == CONDITION_SIGNAL)
			ret = loop_take_signal(&r->loop, (int)c->o->trigger.conditions[i].limit);
	for (i = 0; i < c->o->nr_pids && !ret; i++)
		if (triggers_fd(c, c->o->pids[i]) >= 0)
			ret = loop_watch(&r->loop, triggers_fd(c, c->o->pids[i]), EPOLLIN | EPOLLET);
	return ret ? err_errno(e, "cannot wait for events") : 0;
}

static bool hurries(void *ctx)
{
	const struct run *r = ctx;

	return collect_hurries(r->c);
}

/*
 * Ask a program that outlived the recording's time to end; its status is ours. If a signal has not ended it,
 * it may need long to shut down, or be stuck: it is left alone.
 */
static void end_program(struct run *r)
{
	struct program *p = &r->program;

	if (program_end(p, &r->loop, hurries, r))
		r->c->res->ended_program = true;
	r->c->res->left_pid = program_exists(p) && !p->gone ? p->child.pid : 0;
}

static void refused_metrics(struct collect *c)
{
	const struct callflow_opts *o = &c->o->callflow;
	uint32_t m;

	for (m = 0; m < o->layout.nr_metrics; m++)
		if (c->res->calls.refused_threads[m])
			refused_metric(&c->refused, o->layout.metrics[m].kind, o->names[m],
				       c->res->calls.refused_threads[m]);
	if (c->res->calls.merged_threads)
		refused_text(&c->refused, "a tree for itself of %" PRIu64 " thread%s: room was short (--call-memory), and each went on with the tree of one that had ended, below [several threads]",
			     c->res->calls.merged_threads, plural(c->res->calls.merged_threads));
}

static void turned_away(struct collect *c)
{
	const struct jvm_refusals *r = c->jvm ? jvm_server_refusals(c->jvm) : NULL;

	if (!r)
		return;
	c->res->nr_foreign = r->foreign_hooks;
	c->res->nr_unknown_jvms = r->unknown_vms;
	if (r->unknown_vms)
		refused_text(&c->refused, "what %" PRIu64 " JVM%s would have told: the agent knows too little of %s",
			     r->unknown_vms, plural(r->unknown_vms), r->unknown_vms == 1 ? "it" : "them");
	if (r->no_files)
		snprintf(c->res->no_agent, sizeof(c->res->no_agent), "%s", strerror(EMFILE));
	else if (r->clocks)
		snprintf(c->res->no_agent, sizeof(c->res->no_agent), "%s", OUTSIDE_OTHER_CLOCK);
	/* stacks are all that was asked for, and are known from outside */
	if (!c->res->nr_outside || outside_lacks(c))
		c->res->no_memory = r->no_memory;
	if (c->res->no_memory)
		refused_text(&c->refused, "what JVMs tell: there is no memory to share with them (memfd_create): %s",
			     strerror(r->no_memory));
	c->res->nr_turned_away = refused_peers(&c->refused, r);
}

/*
 * Report how a process ended: a recorder of others gets no exit status, and its user may believe that all
 * went well.
 */
static void on_named_end(void *ctx, const struct crash *x)
{
	struct collect_result *res = ctx;
	int sig = x->status < 0 ? 0 : crashes_signal(x->status);

	if (!sig && x->status >= 0 && WIFSIGNALED(x->status) && WTERMSIG(x->status) == SIGKILL)
		sig = SIGKILL;
	if ((!sig && !x->error_file) || res->nr_died++)
		return;
	snprintf(res->died, sizeof(res->died), "process %d %s%s%.150s", x->pid, sig ? "died of SIG" : "crashed",
		 sig ? sigabbrev_np(sig) : "", x->error_file ? ", and wrote " : "");
	if (x->error_file)
		strncat(res->died, x->error_file, sizeof(res->died) - 1 - strlen(res->died));
}

static void watch_named(struct collect *c)
{
	enum { MOST = 64 };
	size_t i;

	for (i = 0; i < c->o->nr_pids && i < MOST; i++)
		crashes_watch(&c->named, c->o->pids[i]);
}

void collect_finish(struct collect *c)
{
	crashes_look(&c->named, on_named_end, c->res);
	parts_end_file(c, UINT64_MAX, true);
	callflows_finish(&c->calls);
	switches_missing(c);
	turned_away(c);
	refused_metrics(c);
	collect_end_file(c, true);
	c->res->nr_procs = c->tasks.nr_procs;
	c->res->nr_threads = c->tasks.nr_threads;
	c->res->user_only = collect_kernel_refused(c);
}

/*
 * Write what was lost after the last record. A full ring reports losses with the next record that fits; later
 * ones are known to the events only.
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

static void stop_events(struct collect *c)
{
	size_t i;

	collect_ask_counts(c, COUNTS_MS);
	parts_end(c, clock_mono_ns());
	collect_enable(c, false);
	agents_end_waits(c, clock_mono_ns());
	collect_drain(c, clock_mono_ns(), true);
	parts_ended(c, clock_mono_ns());
	for (i = 0; i < c->ev.nr_sets; i++)
		if (!c->ev.sets[i].closed)
			evset_close(&c->ev, i + 1);
	lost_untold(c);
}

/*
 * Let the program run. The trace gets its name only now: a program that does not exist must not replace an
 * older trace.
 */
static int collect_let_go(struct run *r, struct err *e)
{
	int ret = program_exists(&r->program) ? spawn_go(&r->program.child, r->c->o->argv[0], e) : 0;

	if (ret)
		return ret;
	ret = trace_writer_commit(r->c->w, e);
	if (ret)
		end_program(r);
	/* after the commit, which may be in somebody else's folder */
	privileges_drop(r->c->segments && foreign_caller() != geteuid());
	return ret;
}

/* Answer commands, and make a requested dump, which must not wait either. */
static void collect_serve(void *ctx)
{
	struct run *r = ctx;

	loop_serve(&r->loop);
	flight_turn(r->c, clock_mono_ns());
}

/* Return whether it was asked to end before it began. A program ends it itself. */
static bool is_over_before(const struct run *r)
{
	return !program_exists(&r->program) && (r->c->stop_asked || loop_is_asked_to_end());
}

/* Run until the program has ended, or the recording is to end. */
static void collect_run_loop(struct run *r)
{
	struct collect *c = r->c;

	if (c->o->delay_ns && !c->o->start_mark)
		r->loop.due_ns = clock_mono_ns() + c->o->delay_ns;
	else if (!c->o->start_mark && !is_over_before(r))
		collect_begin(r);
	tell_status(r);
	on_child(r);
	c->serve = collect_serve;
	c->serve_ctx = r;
	loop_run(&r->loop);
	c->serve = NULL;
	if (r->signal_ns)
		c->give_up_ns = clock_mono_ns() + END_NS;
	triggers_last(c);
	if (c->begun_ns)
		c->res->duration_ns = clock_mono_ns() - c->begun_ns;
	label_moment(c, "end");		/* what stopping takes is not part of what was recorded */
	stop_events(c);
	note_left(r);
	end_program(r);
	c->res->status = program_exit_status(&r->program);
	/* the kernel reports only those that the program has waited for */
	if (program_exists(&r->program) && !c->res->ended_program && !c->res->left_pid && !c->res->nr_left &&
	    !c->o->wait)
		c->program_used = &r->program.used;
	collect_finish(c);
}

static int collect_run_recording(struct run *r, struct err *e)
{
	struct collect *c = r->c;
	int ret;

	labels_host(c);
	segments_label(c);
	labels_events(c);
	parts_labels(c);
	callflows_labels(&c->calls);
	ret = open_loop(r, e);
	if (ret) {
		program_discard(&r->program);
	} else {
		filters_begin_file(c, clock_mono_ns());
		label_moment(c, "start");
		trace_writer_flush(c->w);
		r->spawned_ns = c->drained_ns = clock_mono_ns();
		/* no event begins with the program's exec then */
		if (c->ev.conf.side_of_all && !c->o->delay_ns)
			collect_enable(c, true);
		parts_ready(c);
		collect_ask_counts(c, COUNTS_MS);
		c->counted_ns = clock_mono_ns();
		/* collect_begin() would miss the program's first events */
		if (c->o->system_wide && program_exists(&r->program) && !c->o->delay_ns && !c->o->start_mark)
			collect_enable(c, true);
		ret = collect_let_go(r, e);
		if (!ret)
			collect_run_loop(r);
	}
	loop_close(&r->loop);
	return ret;
}

static void close_trace(struct collect *c)
{
	struct collect_result *res = c->res;
	uint64_t stopped_ns;
	struct err e;

	if (c->segments && !c->begun_ns) {
		trace_writer_discard(c->w);	/* nothing was recorded, and the folder has many others */
		return;
	}
	if (c->o->watcher)
		collect_store(c, true);
	trace_writer_flush(c->w);
	res->nr_bytes = trace_writer_bytes(c->w);
	res->nr_lost += trace_writer_lost_samples(c->w);
	res->nr_lost_sched += trace_writer_lost_sched(c->w);
	stopped_ns = trace_writer_stopped(c->w, &res->nr_after, &res->nr_after_sched);
	if (stopped_ns)
		res->stopped_ns = MAX(stopped_ns, c->begun_ns + 1) - c->begun_ns;
	res->nr_samples -= MIN(res->nr_samples, trace_writer_lost_samples(c->w) + res->nr_after);
	if (trace_writer_close(c->w, &e))
		res->write_error = e.code;
}

/* Return the target for evsets_open(). */
static int rings_target(const struct collect_opts *o, const struct program *p)
{
	if (o->groups)
		return 0;
	return o->system_wide ? -1 : o->argv ? p->child.pid : 0;
}

/*
 * Check that /proc is that of our PID namespace. With another, the kernel's records and our own number would
 * mean other processes than in /proc; without any, samples would have no stacks and no names.
 */
static int check_proc(struct err *e)
{
	char text[16] = "";
	bool known = readlink("/proc/self", text, sizeof(text) - 1) > 0;

	if (known && atoi(text) == getpid())
		return 0;
	err_set(e, ENOTSUP, known ? "/proc has the processes of another PID namespace" :
				    "/proc has no processes: it is not mounted");
	err_hint(e, "mount -t proc proc /proc%s",
		 known ? ", in a mount namespace of its own: unshare --pid --fork --mount-proc does" : "");
	return -e->code;
}

/* Check that our times can be compared with the kernel's, which knows no time namespaces. */
static int check_clock(struct err *e)
{
	if (!clock_ahead_ns(getpid()))
		return 0;
	err_set(e, ENOTSUP, "the clock of this time namespace is not the kernel's (time_namespaces(7))");
	err_hint(e, "record from outside of it: 'arcprof record -p PID' does");
	return -e->code;
}

/* Open all after the program exists: without it nothing would have to be taken over. */
static int open_sampling(struct run *run, struct err *e)
{
	struct collect *c = run->c;
	int r = parts_open(c, e);

	if (!r)
		r = collect_open_rings(c, rings_target(c->o, &run->program), e);
	return r && timers_take_over(c, e) ? 0 : r;
}

/*
 * Open the trace. From when there is a file, signals to end wait until it is closed or removed; a pipe may
 * have no reader for long.
 */
static int open_trace(struct collect *c, struct err *e)
{
	int r;

	if (c->segments)
		loop_hold_signals();
	r = trace_writer_open(&c->w, c->o->output, &c->o->trace, e);
	loop_hold_signals();
	return r;
}

static int collect_run_and_close(const struct collect_opts *o, struct collect_result *res, struct err *e)
{
	struct collect *c;
	struct run run = { .c = NULL };
	int r;

	run.c = c = xcalloc(1, sizeof(*c));
	c->opts = *o;
	memcpy(c->source_room, o->sources, o->nr_sources * sizeof(*o->sources));
	c->opts.sources = c->source_room;
	c->o = &c->opts;
	c->nr_code_left = JAVACODE_TRACE_MAX;
	c->res = res;
	r = switches_init(c, e);
	if (!r)
		r = filters_init(c, e);
	if (!r)
		r = flight_open(c, e);
	if (!r)
		r = segments_open(c, e);
	if (!r)
		flight_begin(c);
	if (!r)
		r = open_trace(c, e);
	if (!r)
		agents_watch_frames(c);
	if (r)
		goto out;
	modules_init(&c->modules, c->w, c->o->cache);
	tasks_init(&c->tasks, c->w, &c->modules);
	c->tasks.filters = &c->filters;
	parts_init(c);
	c->record = collect_record;
	c->hear_agents = agents_drain;
	c->tasks.cgroups = o->cgroups;
	if (o->callflow.on)
		callflows_init(&c->calls, &o->callflow, &c->tasks, &c->modules, c->w, &res->calls);
	c->calls.sources = &c->sources;
	c->calls.shut = o->callflow.on && !switches_calls_from_start(c);
	if (o->callflow.on && c->segments)
		callflows_in_files(&c->calls);
	timedcalls_open(c);
	r = agents_open(c, e);
	if (!r && o->argv)
		r = spawn_start(&run.program.child, o->argv, e);
	c->child_pid = c->tasks.program = MAX(run.program.child.pid, 0);
	triggers_open(c);
	watch_named(c);
	privileges_raise();	/* not those of the program */
	if (!r)
		r = uprobes_open(c, e);
	if (!r)
		r = open_sampling(&run, e);
	if (!r)
		r = collect_open_events(c, e);
	if (!r)
		r = agents_attach(c, e);
	if (!r)
		r = collect_run_recording(&run, e);
	else
		program_discard(&run.program);
	callflows_release(&c->calls);
	agents_close(c);
	parts_close(c);
	evsets_close(&c->ev);
	uprobes_close(c);
	if (r)
		trace_writer_discard(c->w);
	else
		close_trace(c);
	tasks_release(&c->tasks);
	modules_release(&c->modules);
	refused_release(&c->refused);
	switches_release(&c->switches);
	filters_release(&c->filters);
	rates_release(c);
	free(c->exited);
	free(c->since.counts);
	free(c->since.next_counts);
	crashes_release(&c->named);
out:
	segments_close(c);
	flight_close(c);
	free(c);
	return r;
}

int collect_run(const struct collect_opts *o, struct collect_result *res, struct err *e)
{
	sigset_t before;
	int r;

	memset(res, 0, sizeof(*res));
	r = check_proc(e);
	if (!r)
		r = check_clock(e);
	if (r)
		return r;
	sigprocmask(SIG_BLOCK, NULL, &before);
	r = collect_run_and_close(o, res, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
