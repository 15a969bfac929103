/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * javatrace.h - what the agents of JVMs say, into the trace: methods, compiled code, stubs, names of
 * threads and what was lost. Recordings of samples and of instructions do so alike; what each does
 * beyond that, in callbacks of its own, is in agents.c and itrace_java.c.
 */
#ifndef COLLECT_JAVATRACE_H
#define COLLECT_JAVATRACE_H

#include "collect/engine/tasks.h"
#include "jvm/server.h"
#include "trace/writer.h"

struct javatrace {
	struct trace_writer *w;
	struct tasks *tasks;
	/* Returns the process of a JVM, from what hello() left as jvm_user(). */
	struct proc *(*proc)(const struct jvm *jvm);
};

/*
 * Callbacks for a server whose ctx is a struct javatrace, or a struct that begins with one. They come
 * after hello(), so the process is known.
 */

/* javatrace_method(), javatrace_code() and so on: records that the trace has as well. */
#define TRACED(s) void javatrace_##s(void *ctx, struct jvm *jvm, const struct jvm_##s *r);
#define OWN(s)
#define RECORD(s, to, ...) to(s)
#include "jvm/table.h"

void javatrace_event(void *ctx, struct jvm *jvm, const struct jvm_event *r);
void javatrace_marked(void *ctx, struct jvm *jvm, const struct jvm_marked *r);
void javatrace_lost(void *ctx, struct jvm *jvm, uint64_t nr);
/* Sets those of them that are still NULL. */
void javatrace_complete(struct jvm_callbacks *cb);

#endif
