// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * itrace_java.c - the agent of each JVM names code, and asks for a trace of the calls that it is
 * told to: what runs when is the tracer's to say.
 */
#include <string.h>

#include "base/clock.h"
#include "collect/itrace_java.h"
#include "jvm/inject.h"
#include "jvm/launcher.h"
#include "jvm/target.h"

enum { RING_BYTES = 1 << 20 };

static uint32_t proc_of(struct jvm *jvm)
{
	const struct proc *p = jvm_user(jvm);

	return p ? p->id : 0;
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

/* All processes that are known are traced. */
static bool on_admit(void *ctx, int pid, uint64_t start_ns)
{
	struct itrace_java *j = ctx;

	j->catch_up(j->ctx);
	return tasks_leader(j->tasks, pid, start_ns) ||
	       (j->tasks->procs && tasks_descends(pid, j->tasks->procs->pid));
}

static bool on_hello(void *ctx, struct jvm *jvm, int pid, int tid)
{
	struct itrace_java *j = ctx;

	j->catch_up(j->ctx);
	jvm_set_user(jvm, tasks_get(j->tasks, pid, tid, clock_mono_ns())->proc);
	return false;
}

static void on_method(void *ctx, struct jvm *jvm, const struct jvm_method *m)
{
	struct itrace_java *j = ctx;
	const struct rec_method r = {
		.time_ns = m->time_ns, .proc = proc_of(jvm), .method = m->method,
		.class_name = m->class_name, .class_len = strlen(m->class_name),
		.name = m->name, .name_len = strlen(m->name),
		.sig = m->sig, .sig_len = strlen(m->sig),
		.source = m->source, .source_len = strlen(m->source),
	};

	trace_write_method(j->w, &r);
}

static void on_code(void *ctx, struct jvm *jvm, const struct jvm_code *c)
{
	struct itrace_java *j = ctx;
	const struct rec_code r = {
		.time_ns = c->time_ns, .proc = proc_of(jvm), .method = c->method, .compile_id = c->compile_id,
		.level = c->level, .addr = c->addr, .size = c->size, .inl = c->inl, .inl_len = c->inl_len,
	};

	trace_write_code(j->w, &r);
}

static void on_code_gone(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t compile_id, uint64_t addr)
{
	struct itrace_java *j = ctx;
	const struct rec_code_gone r = {
		.time_ns = time_ns, .proc = proc_of(jvm), .compile_id = compile_id, .addr = addr,
	};

	trace_write_code_gone(j->w, &r);
}

static void on_stub(void *ctx, struct jvm *jvm, uint64_t time_ns, uint64_t addr, uint64_t size,
		    const char *name)
{
	struct itrace_java *j = ctx;
	const struct rec_stub r = {
		.time_ns = time_ns, .proc = proc_of(jvm), .addr = addr, .size = size, .name = name,
		.name_len = strlen(name),
	};

	trace_write_stub(j->w, &r);
}

/* Names of virtual threads come with samples only. */
static void on_thread_name(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t tid, uint64_t vthread,
			   const char *name)
{
	struct itrace_java *j = ctx;
	struct proc *p = jvm_user(jvm);

	if (p && !vthread)
		tasks_java_name(j->tasks, tasks_get_at(j->tasks, p, tid, time_ns), name, time_ns);
}

static void on_bracket(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t tid, uint32_t method)
{
	struct itrace_java *j = ctx;
	struct proc *p = jvm_user(jvm);
	struct rec_bracket r = { .time_ns = time_ns, .method = method };

	if (!p)
		return;
	r.proc = p->id;
	r.thread = tasks_get_at(j->tasks, p, tid, time_ns)->id;
	trace_write_bracket(j->w, &r);
}

/* The agent speaks of names only: none of them is a sample. */
static void on_sample(void *ctx, struct jvm *jvm, const struct jvm_sample *s)
{
}

static void on_lost(void *ctx, struct jvm *jvm, uint64_t nr)
{
	struct itrace_java *j = ctx;

	j->nr_lost += nr;
}

static void on_gone(void *ctx, struct jvm *jvm)
{
	jvm_set_user(jvm, NULL);
}

static const struct jvm_callbacks callbacks = {
	.admit = on_admit, .callflow = on_callflow, .callflow_gone = on_callflow_gone, .refused = on_refused,
	.bracket = on_bracket,
	.hello = on_hello, .sample = on_sample, .method = on_method, .code = on_code,
	.code_gone = on_code_gone,
	.stub = on_stub, .thread_name = on_thread_name, .lost = on_lost, .gone = on_gone,
};

static bool is_ours(int pid)
{
	return target_is_jvm(pid) && inject_possible();
}

bool itrace_java_wanted(const struct itrace_opts *o, bool methods)
{
	uint32_t i;

	for (i = 0; i < o->nr_pids; i++)
		if (is_ours(o->pids[i]))
			return true;
	return o->argv && inject_possible() && (methods || launcher_names_jvm(o->argv[0]));
}

int itrace_java_open(struct itrace_java *j, struct tasks *tasks, struct trace_writer *w, struct err *e)
{
	const struct jvm_server_opts o = {
		.sample = false, .max_depth = 8, .ring_bytes = RING_BYTES, .callflow = j->brackets.layout,
	};

	j->tasks = tasks;
	j->w = w;
	return jvm_server_open(&j->server, &o, &callbacks, j, e);
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
		if (is_ours(o->pids[i]))
			r = jvm_server_attach(j->server, o->pids[i], e);
	if (r)
		err_hint(e, "--no-java traces it all the same, without names of Java code");
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
