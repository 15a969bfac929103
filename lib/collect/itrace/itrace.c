// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * itrace.c - the life of an instruction trace: the engine steps, its branches go to the file as they
 * come, and their addresses are resolved at the end.
 *
 * A mapping is in the file before the branches that ran in it, and branches that ran before a
 * mapping changed are in the file before the change: the writer is flushed in between.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/calls/refused.h"
#include "collect/engine/loop.h"
#include "collect/engine/symbols.h"
#include "collect/files/labels.h"
#include "collect/itrace/itrace.h"
#include "collect/itrace/itrace_java.h"
#include "jvm/inject.h"

enum { SIZE_RESERVE = 64 << 10, READS_MAX = 8 };

struct run {
	const struct itrace_run_opts *o;
	struct itrace_result *res;
	struct trace_writer *w;
	struct modules modules;
	struct tasks tasks;
	struct itrace *it;
	struct itrace_java java;
	bool dirty;			/* branches were written since the last flush */
	bool begun, named, stopping, stopped;
	uint64_t pending_bytes;		/* of branches not flushed yet */
	uint64_t begun_ns;
	struct loop loop;
	int got;			/* what the engine's read() gave last */
	struct err *e;			/* for it */
};

/* ---- what the engine tells ---- */

static void flush(struct run *r)
{
	trace_writer_flush(r->w);
	r->dirty = false;
	r->pending_bytes = 0;
}

/* Flush before a change that previous branches do not know of. */
static void before_change(struct run *r)
{
	if (r->dirty)
		flush(r);
}

static void itrace_run_stop(struct run *r, enum itrace_why why)
{
	if (r->stopping || r->stopped)
		return;
	r->stopping = true;
	r->res->why = why;
	r->o->engine->stop(r->it);
}

/*
 * Give the file its name, now that there is something to keep; an older one is moved aside. A program that
 * cannot be executed leaves that as it was.
 */
static void name_file(struct run *r)
{
	struct err e;

	if (r->named)
		return;
	r->named = true;
	if (!trace_writer_commit(r->w, &e))
		return;
	r->res->write_error = e.code;
	itrace_run_stop(r, ITRACE_WHY_DISK);
}

static void on_thread(void *ctx, uint64_t time_ns, int pid, int tid, int ppid)
{
	struct run *r = ctx;

	if (!r->begun) {	/* threads are reported when the tracer has them */
		r->begun = true;
		brackets_open(&r->java.brackets);
	}
	if (ppid && tasks_find(&r->tasks, pid == tid ? ppid : pid))
		tasks_fork(&r->tasks, pid, pid == tid ? ppid : pid, tid, pid == tid ? ppid : pid, time_ns);
	else
		tasks_get(&r->tasks, pid, tid, time_ns);
}

static void on_exec(void *ctx, uint64_t time_ns, int pid, int old_tid, const char *comm)
{
	struct run *r = ctx;

	name_file(r);
	before_change(r);
	tasks_comm(&r->tasks, pid, pid, comm, true, time_ns);
}

static void on_maps(void *ctx, uint64_t time_ns, int pid, char *text)
{
	struct run *r = ctx;

	before_change(r);
	tasks_maps_text(&r->tasks, pid, text, time_ns);
}

static void on_gone(void *ctx, uint64_t time_ns, int pid, int tid)
{
	struct run *r = ctx;

	tasks_exit(&r->tasks, pid, tid, time_ns);
}

static struct thread *itrace_run_thread_of(struct run *r, int tid, uint64_t time_ns)
{
	struct thread *th = tasks_find(&r->tasks, tid);

	return th ? th : tasks_get(&r->tasks, tid, tid, time_ns);
}

static void itrace_run_on_code(void *ctx, int tid, const struct rec_branch_code *told)
{
	struct run *r = ctx;
	struct rec_branch_code code = *told;

	code.proc = itrace_run_thread_of(r, tid, told->time_ns)->proc->id;
	trace_write_branch_code(r->w, &code);
	r->dirty = true;
	r->pending_bytes += code.len;
}

static void note_address(struct run *r, struct proc *p, uint64_t addr)
{
	const struct map_entry *m = maps_find(&p->maps, addr);

	if (m && m->module)
		trace_writer_note(r->w, &(struct frame){
			FRAME_NATIVE, .module = m->module, .off = map_entry_off(m, addr) });
}

static void on_branches(void *ctx, int tid, const struct rec_branches *told)
{
	struct run *r = ctx;
	struct rec_branches run = *told;
	struct thread *th = itrace_run_thread_of(r, tid, told->time_ns);
	struct branch_cursor c = branch_cursor(told);
	struct branch b;

	name_file(r);
	while (branch_next(&c, &b))
		note_address(r, th->proc, b.start);
	run.thread = th->id;
	trace_write_branches(r->w, &run);
	r->dirty = true;
	r->pending_bytes += run.len;
}

static void on_stopped(void *ctx, const struct itrace_totals *t)
{
	static const enum itrace_why whys[] = {
		[ITRACE_ALL_GONE] = ITRACE_WHY_GONE, [ITRACE_LIMIT] = ITRACE_WHY_LIMIT,
		[ITRACE_LAST_BRACKET] = ITRACE_WHY_CALLS,
	};
	struct run *r = ctx;

	r->stopped = true;
	brackets_close(&r->java.brackets);
	r->res->duration_ns = clock_mono_ns() - r->begun_ns;
	if (t->why != ITRACE_ASKED)
		r->res->why = whys[t->why];
}

static const struct itrace_sink sink = {
	.thread = on_thread, .exec = on_exec, .maps = on_maps, .gone = on_gone, .code = itrace_run_on_code,
	.branches = on_branches, .stopped = on_stopped,
};

/* ---- the loop ---- */

/*
 * End tracing at the first signal, and pass on what the terminal did not send to the program; once it runs
 * freely, it gets all.
 */
static void on_signal(void *ctx, int sig, bool from_terminal)
{
	struct run *r = ctx;

	itrace_run_stop(r, ITRACE_WHY_SIGNAL);
	if (!from_terminal)
		r->o->engine->signal(r->it, sig);
}

/* Read all that the engine has recorded by now, but not for ever. */
static void catch_up(void *ctx)
{
	struct run *r = ctx;
	struct pollfd fd = { .events = POLLIN };
	int i;

	if (!r->it)
		return;		/* nothing is traced yet */
	fd.fd = r->o->engine->fd(r->it);
	for (i = 0; i < READS_MAX && r->got > 0 && poll(&fd, 1, 0) > 0; i++)
		r->got = r->o->engine->read(r->it, &sink, r, r->e);
}

static void on_drain(void *ctx, uint64_t now_ns)
{
	struct run *r = ctx;

	itrace_java_drain(&r->java);
	catch_up(r);
	r->loop.stop = r->got <= 0;
}

static void on_flush(void *ctx)
{
	flush(ctx);
}

static void on_check(void *ctx)
{
	struct run *r = ctx;

	if (trace_writer_error(r->w))
		itrace_run_stop(r, ITRACE_WHY_DISK);
	if (r->o->max_bytes && trace_writer_bytes(r->w) + r->pending_bytes + SIZE_RESERVE > r->o->max_bytes) {
		flush(r);	/* it may shrink */
		if (trace_writer_bytes(r->w) + SIZE_RESERVE > r->o->max_bytes)
			itrace_run_stop(r, ITRACE_WHY_SIZE);
	}
}

static void on_due(void *ctx)
{
	itrace_run_stop(ctx, ITRACE_WHY_TIME);
}

static const struct loop_ops loop_ops = {
	.signal = on_signal, .drain = on_drain, .flush = on_flush, .check = on_check, .due = on_due,
};

static int run_loop(struct run *r, struct err *e)
{
	/* it is read a few times per turn: the rest must wake us again */
	if (loop_watch(&r->loop, r->o->engine->fd(r->it), EPOLLIN) ||
	    (r->java.server && loop_watch_jvms(&r->loop, r->java.server)))
		return err_errno(e, "cannot wait for events");
	r->loop.due_ns = r->o->duration_ns ? r->begun_ns + r->o->duration_ns : 0;
	r->got = 1;
	r->e = e;
	loop_run(&r->loop);
	return r->got;
}

/* ---- beginning and end ---- */

static void labels(const struct run *r)
{
	labels_origin(r->w, r->o->version, r->o->command_line);
	trace_write_label(r->w, "n", "calls");
	trace_write_label(r->w, "itrace.engine", "%s", r->o->engine->name);
	if (r->o->steps.bracket)
		trace_write_label(r->w, "itrace.bracket", "yes");
	trace_write_label(r->w, "start.mono_ns", "%llu", (unsigned long long)clock_mono_ns());
	trace_write_label(r->w, "start.realtime_ns", "%llu", (unsigned long long)clock_real_ns());
	flush((struct run *)r);
}

static void end_labels(struct run *r)
{
	const struct itrace_totals *t = &r->res->totals;

	/* This time is before what stopping takes. */
	trace_write_label(r->w, "end.mono_ns", "%llu",
			  (unsigned long long)(r->begun_ns + r->res->duration_ns));
	trace_write_label(r->w, "itrace.instructions", "%llu", (unsigned long long)t->nr_insns);
	if (t->nr_stops) {
		trace_write_label(r->w, "itrace.stops", "%llu", (unsigned long long)t->nr_stops);
		trace_write_label(r->w, "itrace.breakpoints", t->breakpoints ? "yes" : "no");
	}
	trace_write_label(r->w, "itrace.branches", "%llu", (unsigned long long)t->nr_branches);
}

static void turned_away(struct run *r)
{
	const struct jvm_refusals *j = r->java.server ? jvm_server_refusals(r->java.server) : NULL;
	struct refused f = { 0 };

	if (!j)
		return;
	r->res->nr_turned_away = refused_peers(&f, j);
	refused_labels(&f, r->w, 0);
	refused_release(&f);
}

static void finish(struct run *r)
{
	struct symbols_result sym;

	r->res->totals = *r->o->engine->totals(r->it);
	r->res->status = MAX(r->res->totals.status, 0);
	flush(r);
	turned_away(r);
	end_labels(r);
	r->modules.fetch = true;
	symbols_write_modules(&r->modules, r->w, r->o->lines, NULL, NULL, &sym);
	trace_write_label(r->w, "symbols", "complete");
}

static int open_java(struct run *r, struct err *e)
{
	const struct itrace_run_opts *o = r->o;
	int ret;

	r->java.brackets = (struct brackets){ .layout = o->methods.flags ? &o->methods : NULL,
		.res = &r->res->methods };
	r->java.catch_up = catch_up;
	r->java.ctx = r;
	if (!o->java || !itrace_java_wanted(&o->steps, o->methods.flags))
		return !o->methods.flags ? 0 : err_set(e, ENOTSUP, inject_possible() ?
			"--method: none of the processes is a JVM" :
			"--method: this arcprof has no JVM agent: there is none for this CPU yet");
	ret = itrace_java_open(&r->java, &r->tasks, r->w, e);
	return ret ? ret : itrace_java_prepare(&r->java, &o->steps, e);
}

static int trace(struct run *r, struct err *e)
{
	int ret;

	r->begun_ns = clock_mono_ns();
	ret = run_loop(r, e);
	itrace_java_drain(&r->java);
	if (!ret)
		finish(r);
	return ret;
}

static void close_trace(struct run *r)
{
	struct err e;

	trace_writer_flush(r->w);
	r->res->nr_bytes = trace_writer_bytes(r->w);
	if (trace_writer_close(r->w, &e))
		r->res->write_error = e.code;
}

int itrace_run(const struct itrace_run_opts *o, struct itrace_result *res, struct err *e)
{
	struct trace_writer_opts wo = { .mode = TRACE_CONTINUOUS, .compress = o->compress };
	struct run r = { .o = o, .res = res };
	int ret;

	memset(res, 0, sizeof(*res));
	ret = trace_writer_open(&r.w, o->output, &wo, e);
	if (ret)
		return ret;
	labels(&r);
	modules_init(&r.modules, r.w, r.o->cache);
	tasks_init(&r.tasks, r.w, &r.modules);
	ret = loop_open(&r.loop, &loop_ops, &r, e);
	if (!ret)
		ret = open_java(&r, e);
	if (!ret)
		ret = o->engine->start(&r.it, &o->steps, e);
	if (!ret) {
		if (!o->steps.argv)
			name_file(&r);
		ret = trace(&r, e);
		o->engine->close(r.it);
	}
	itrace_java_close(&r.java);
	loop_close(&r.loop);
	if (!ret || r.named)
		close_trace(&r);
	else
		trace_writer_discard(r.w);
	tasks_release(&r.tasks);
	modules_release(&r.modules);
	return ret;
}
