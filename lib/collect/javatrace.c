// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/clock.h"
#include "collect/javatrace.h"

void javatrace_method(void *ctx, struct jvm *jvm, const struct jvm_method *m)
{
	const struct javatrace *t = ctx;
	const struct rec_method r = {
		.time_ns = m->time_ns, .proc = t->proc(jvm)->id, .method = m->method,
		.class_name = m->class_name, .class_len = strlen(m->class_name),
		.name = m->name, .name_len = strlen(m->name),
		.sig = m->sig, .sig_len = strlen(m->sig),
		.source = m->source, .source_len = strlen(m->source),
	};

	trace_write_method(t->w, &r);
}

void javatrace_code(void *ctx, struct jvm *jvm, const struct jvm_code *c)
{
	const struct javatrace *t = ctx;
	const struct rec_code r = {
		.time_ns = c->time_ns, .proc = t->proc(jvm)->id, .method = c->method,
		.compile_id = c->compile_id, .level = c->level, .addr = c->addr, .size = c->size,
		.inl = c->inl, .inl_len = c->inl_len,
	};

	trace_write_code(t->w, &r);
}

void javatrace_code_gone(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t compile_id, uint64_t addr)
{
	const struct javatrace *t = ctx;
	const struct rec_code_gone r = {
		.time_ns = time_ns, .proc = t->proc(jvm)->id, .compile_id = compile_id, .addr = addr,
	};

	trace_write_code_gone(t->w, &r);
}

void javatrace_stub(void *ctx, struct jvm *jvm, uint64_t time_ns, uint64_t addr, uint64_t size,
		    const char *name)
{
	const struct javatrace *t = ctx;
	const struct rec_stub r = {
		.time_ns = time_ns, .proc = t->proc(jvm)->id, .addr = addr, .size = size,
		.name = name, .name_len = strlen(name),
	};

	trace_write_stub(t->w, &r);
}

void javatrace_thread_name(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t tid, uint64_t vthread,
			   const char *name)
{
	const struct javatrace *t = ctx;
	struct proc *p = t->proc(jvm);

	if (vthread)
		tasks_virtual(t->tasks, p, vthread, name, time_ns);
	else
		tasks_java_name(t->tasks, tasks_get_at(t->tasks, p, tid, time_ns), name, time_ns);
}

void javatrace_lost(void *ctx, struct jvm *jvm, uint64_t nr)
{
	const struct javatrace *t = ctx;
	const struct rec_lost r = {
		.time_ns = clock_mono_ns(), .cause = LOST_AGENT, .stream = t->proc(jvm)->id, .count = nr,
	};

	trace_write_lost(t->w, &r);
}
