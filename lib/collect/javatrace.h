/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * javatrace.h - what the agents of JVMs say, into the trace: methods, compiled code, stubs, names of
 * threads and what was lost. Recordings of samples and of instructions do so alike; what each does
 * beyond that, in callbacks of its own, is in agents.c and itrace_java.c.
 */
#ifndef COLLECT_JAVATRACE_H
#define COLLECT_JAVATRACE_H

#include "collect/tasks.h"
#include "jvm/server.h"
#include "trace/writer.h"

struct javatrace {
	struct trace_writer *w;
	struct tasks *tasks;
	/* Whose the JVM is, from what its hello() left as jvm_user(). */
	struct proc *(*proc)(const struct jvm *jvm);
};

/*
 * Callbacks for a server whose ctx is a struct javatrace, or a struct that begins with one. They come
 * after hello(), so the process is known.
 */
void javatrace_method(void *ctx, struct jvm *jvm, const struct jvm_method *m);
void javatrace_code(void *ctx, struct jvm *jvm, const struct jvm_code *c);
void javatrace_code_gone(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t compile_id, uint64_t addr);
void javatrace_stub(void *ctx, struct jvm *jvm, uint64_t time_ns, uint64_t addr, uint64_t size,
		    const char *name);
void javatrace_thread_name(void *ctx, struct jvm *jvm, uint64_t time_ns, uint32_t tid, uint64_t vthread,
			   const char *name);
void javatrace_lost(void *ctx, struct jvm *jvm, uint64_t nr);

#endif
