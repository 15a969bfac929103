// SPDX-License-Identifier: GPL-2.0-or-later
/* javatrace.c - writes what agents report about code and threads to the trace (javatrace.h). */
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "collect/jvm/javatrace.h"

static uint32_t javatrace_thread_of(const struct javatrace *t, struct proc *p, uint32_t tid, uint64_t time_ns)
{
	return tid ? tasks_get_at(t->tasks, p, tid, time_ns)->id : 0;
}

/* Return the virtual thread, if there is one: its carrier at that moment does not matter. */
static uint32_t thread_of_both(const struct javatrace *t, struct proc *p, uint32_t tid, uint64_t vthread,
			       uint64_t time_ns)
{
	return vthread ? tasks_virtual(t->tasks, p, vthread, NULL, time_ns) :
			 javatrace_thread_of(t, p, tid, time_ns);
}

/* The same members with the same names, and the process. */
#define FIELD(type, m) to.m = r->m;
#define TID(m) to.m = javatrace_thread_of(t, p, r->m, r->time_ns);
#define ASIDE(type, m)
#define BYTES(m, l) to.m = r->m; to.l = r->l;
#define PAIRS(m, l)		/* javalines.h */
#define TRACED(s, fields) \
	void javatrace_##s(void *ctx, struct jvm *jvm, const struct jvm_##s *r) \
	{ \
		const struct javatrace *t = ctx; \
		struct proc *p = t->proc(jvm); \
		struct rec_##s to = { .time_ns = r->time_ns, .proc = p->id }; \
\
		fields \
		trace_write_##s(t->w, &to); \
	}
#define OWN(s, fields)
#define RECORD(s, to, fields) to(s, fields)
#include "jvm/table.h"

static void javatrace_thread(void *ctx, struct jvm *jvm, const struct jvm_thread *r)
{
	const struct javatrace *t = ctx;
	struct proc *p = t->proc(jvm);
	struct thread *th;

	if (r->vthread) {
		tasks_virtual(t->tasks, p, r->vthread, r->name, r->time_ns);
		return;
	}
	th = tasks_get_at(t->tasks, p, r->thread, r->time_ns);
	tasks_java_name(t->tasks, th, r->name, r->time_ns);
	if (*r->group)
		tasks_java_group(t->tasks, th, r->group, r->time_ns);
}

/*
 * Append Ljava/lang/String; or java/lang/String as java.lang.String, but LFoo.0x12; as Foo/0x12, as in Java.
 */
static void javatrace_put_class(struct buf *b, const char *s, size_t len)
{
	const char *end = s + len;
	const char *close = *s == 'L' && len ? memchr(s, ';', len) : NULL;

	for (s += close ? 1 : 0; s < end; s++) {
		bool hidden = end - s > 2 && *s == '.' && s[1] == '0' && s[2] == 'x';

		if (s != close)
			buf_putc(b, hidden ? '/' : *s == '/' ? '.' : *s);
	}
}

/* Return whether the agent's texts of that kind have classes in JNI's form. */
static bool has_classes(uint32_t kind)
{
	static const bool has[JVM_EVENT_NR] = {
#define EVENT(kind, name, group, lasts, told, text, ...) [JVM_EVENT_##kind] = (text) == TEXT_JNI_CLASS,
#include "base/eventkinds.h"
	};

	return kind < JVM_EVENT_NR && has[kind];
}

void javatrace_event(void *ctx, struct jvm *jvm, const struct jvm_event *r)
{
	const struct javatrace *t = ctx;
	struct proc *p = t->proc(jvm);
	struct rec_event to = {
		.time_ns = r->time_ns, .proc = p->id, .kind = r->kind, .duration_ns = r->duration_ns,
		.thread = thread_of_both(t, p, r->thread, r->vthread, r->time_ns),
		.values = { r->values[0], r->values[1], r->values[2] },
		.what = r->what, .what_len = r->what_len, .cause = r->cause, .cause_len = r->cause_len,
	};
	struct buf what = BUF_INIT, cause = BUF_INIT;

	if (has_classes(r->kind)) {
		javatrace_put_class(&what, r->what, r->what_len);
		javatrace_put_class(&cause, r->cause, r->cause_len);
		to.what = what.data ? what.data : "";
		to.what_len = what.len;
		to.cause = cause.data ? cause.data : "";
		to.cause_len = cause.len;
	}
	trace_write_event(t->w, &to);
	buf_release(&what);
	buf_release(&cause);
}

void javatrace_marked(void *ctx, struct jvm *jvm, const struct jvm_marked *r)
{
	const struct javatrace *t = ctx;
	struct proc *p = t->proc(jvm);

	trace_write_marked(t->w, &(struct rec_marked){
		.time_ns = r->time_ns, .proc = p->id, .duration_ns = r->duration_ns,
		.thread = thread_of_both(t, p, r->thread, r->vthread, r->time_ns),
		.name = r->name, .name_len = r->name_len, .fields = r->fields, .fields_len = r->fields_len,
	});
}

void javatrace_lost(void *ctx, struct jvm *jvm, uint64_t nr)
{
	const struct javatrace *t = ctx;
	const struct rec_lost r = {
		.time_ns = clock_mono_ns(), .cause = LOST_AGENT, .stream = t->proc(jvm)->id, .count = nr,
	};

	trace_write_lost(t->w, &r);
}

void javatrace_complete(struct jvm_callbacks *cb)
{
#define TRACED(s) cb->s = cb->s ? cb->s : javatrace_##s;
#define OWN(s)
#define RECORD(s, to, ...) to(s)
#include "jvm/table.h"
	cb->thread = cb->thread ? cb->thread : javatrace_thread;
	cb->event = cb->event ? cb->event : javatrace_event;
	cb->marked = cb->marked ? cb->marked : javatrace_marked;
	cb->lost = cb->lost ? cb->lost : javatrace_lost;
}
