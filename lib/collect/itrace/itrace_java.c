// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * itrace_java.c - the agent of each JVM names code, and requests a trace of the selected calls;
 * the tracer decides what runs when.
 */
#include "base/clock.h"
#include "collect/itrace/itrace_java.h"
#include "jvm/inject.h"
#include "jvm/jdk.h"
#include "jvm/target.h"

enum { RING_BYTES = 1 << 20 };

static struct proc *itrace_java_proc_of(const struct jvm *jvm)
{
	return jvm_user(jvm);
}

static int on_callflow(void *ctx, struct jvm *jvm, int pid, bool program, uint64_t *bytes)
{
	struct itrace_java *j = ctx;

	return program ? -1 : brackets_new(&j->brackets, jvm, bytes);
}

static void on_callflow_gone(void *ctx, struct jvm *jvm)
{
	struct itrace_java *j = ctx;

	brackets_gone(&j->brackets, jvm);
}

static void on_refused(void *ctx, struct jvm *jvm, const struct jvm_refused *r)
{
	struct itrace_java *j = ctx;

	brackets_refused(&j->brackets, r);
}

/* Admit all processes that are traced. */
static bool on_admit(void *ctx, int pid, uint64_t start_ns)
{
	struct itrace_java *j = ctx;

	j->catch_up(j->ctx);
	return tasks_leader(j->trace.tasks, pid, start_ns) ||
	       (j->trace.tasks->procs && tasks_descends(pid, j->trace.tasks->procs->pid));
}

static bool on_hello(void *ctx, struct jvm *jvm, int pid, int tid)
{
	struct itrace_java *j = ctx;

	j->catch_up(j->ctx);
	jvm_set_user(jvm, tasks_get(j->trace.tasks, pid, tid, clock_mono_ns())->proc);
	return false;
}

/* There are no samples; the rest goes into the trace. */
static const struct jvm_callbacks callbacks = {
	.admit = on_admit,
	.callflow = on_callflow,
	.callflow_gone = on_callflow_gone,
	.hello = on_hello,
	.refused = on_refused,
};

static bool itrace_java_is_ours(int pid)
{
	return target_is_jvm(pid) && inject_possible();
}

bool itrace_java_wanted(const struct itrace_opts *o, bool methods)
{
	uint32_t i;

	for (i = 0; i < o->nr_pids; i++)
		if (itrace_java_is_ours(o->pids[i]))
			return true;
	return o->argv && inject_possible() && (methods || launcher_names_jvm(o->argv[0]));
}

int itrace_java_open(struct itrace_java *j, struct tasks *tasks, struct trace_writer *w, struct err *e)
{
	const struct jvm_server_opts o = {
		.sample = false, .max_depth = 8, .ring_bytes = RING_BYTES, .callflow = j->brackets.layout,
	};
	struct jvm_callbacks cb = callbacks;

	javatrace_complete(&cb);
	j->trace = (struct javatrace){ .w = w, .tasks = tasks, .proc = itrace_java_proc_of };
	return jvm_server_open(&j->server, &o, &cb, j, e);
}

int itrace_java_prepare(struct itrace_java *j, const struct itrace_opts *o, struct err *e)
{
	uint32_t i;
	int r = 0;

	if (o->argv) {
		r = jvm_server_setenv(j->server, e);
		/* a program need not be a JVM */
		return j->brackets.layout ? r : 0;
	}
	for (i = 0; i < o->nr_pids && !r; i++)
		if (itrace_java_is_ours(o->pids[i]))
			r = jvm_server_attach(j->server, o->pids[i], e);
	if (r)
		err_hint(e, "--no-java traces it anyway, without names of Java code");
	return r;
}

void itrace_java_close(struct itrace_java *j)
{
	if (j->server)
		jvm_server_close(j->server);
	j->server = NULL;
}

void itrace_java_drain(struct itrace_java *j)
{
	if (!j->server)
		return;
	jvm_server_poll(j->server);
	jvm_server_drain(j->server, false);
}
