// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "collect/jvmevents.h"
#include "jvm/proto.h"
#include "trace/record.h"

static const struct {
	const char *name;
	uint32_t tell;
} names[] = {
	{ "gc", JVM_TELL_GC },
	{ "safepoint", JVM_TELL_SAFEPOINT },
	{ "jit", JVM_TELL_JIT },
	{ "class", JVM_TELL_CLASS },
	{ "exception", JVM_TELL_EXCEPTION },
	{ "thread", JVM_TELL_THREAD },
	{ "mark", JVM_TELL_MARK },
	{ "label", JVM_TELL_LABEL },
	{ "oom", JVM_TELL_OOM },
	{ "class-time", JVM_TELL_CLASS_TIME },
	{ "safepoint-last", JVM_TELL_LAST },
	/* what costs next to nothing: an exception does, in programs that throw many */
	{ "jvm", JVM_TELL_GC | JVM_TELL_SAFEPOINT | JVM_TELL_JIT | JVM_TELL_CLASS | JVM_TELL_THREAD },
};

/* The agent's numbers are those of the trace. */
_Static_assert(JVM_EVENT_GC == (int)EVENT_GC && JVM_EVENT_DEOPT == (int)EVENT_DEOPT &&
	       JVM_EVENT_OUT_OF_MEMORY == (int)EVENT_OUT_OF_MEMORY && JVM_EVENT_NR <= (int)EVENT_NR, "kinds of events");

uint32_t jvmevents_of(uint32_t kind)
{
	static const uint32_t tells[] = {
		[JVM_EVENT_GC] = JVM_TELL_GC, [JVM_EVENT_GC_CONCURRENT] = JVM_TELL_GC,
		[JVM_EVENT_SAFEPOINT] = JVM_TELL_SAFEPOINT, [JVM_EVENT_COMPILE] = JVM_TELL_JIT,
		[JVM_EVENT_NOT_COMPILED] = JVM_TELL_JIT, [JVM_EVENT_INVALIDATE] = JVM_TELL_JIT,
		[JVM_EVENT_DEOPT] = JVM_TELL_JIT, [JVM_EVENT_CLASS_LOAD] = JVM_TELL_CLASS,
		[JVM_EVENT_CLASS_UNLOAD] = JVM_TELL_CLASS, [JVM_EVENT_EXCEPTION] = JVM_TELL_EXCEPTION,
		[JVM_EVENT_THREAD_START] = JVM_TELL_THREAD, [JVM_EVENT_THREAD_END] = JVM_TELL_THREAD,
		[JVM_EVENT_MARK] = JVM_TELL_MARK, [JVM_EVENT_PHASE] = JVM_TELL_MARK,
		[JVM_EVENT_OUT_OF_MEMORY] = JVM_TELL_OOM, [JVM_EVENT_CLASS_TIME] = JVM_TELL_CLASS_TIME,
	};

	return kind < ARRAY_SIZE(tells) ? tells[kind] : 0;
}

uint32_t jvmevents_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].tell;
	return 0;
}

uint32_t jvmevents_with(uint32_t tell)
{
	return tell | (tell & JVM_TELL_CLASS_TIME ? JVM_TELL_CLASS : 0) |
	       (tell & JVM_TELL_LAST ? JVM_TELL_SAFEPOINT : 0);
}

void jvmevents_names(uint32_t tell, struct buf *b)
{
	const char *comma = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && strcmp(names[i].name, "jvm"); i++) {
		if (!(tell & names[i].tell))
			continue;
		buf_fmt(b, "%s%s", comma, names[i].name);
		comma = ",";
	}
}

void jvmevents_refused(struct refused *f, int pid, const struct jvm_no_event *r)
{
	struct buf b = BUF_INIT;

	if (r->tell == JVM_TELL_DEOPT)
		buf_str(&b, "deoptimisations");
	else
		buf_str(&b, "events ");
	jvmevents_names(r->tell, &b);
	refused_source(f, b.data, pid, r->why);
	buf_release(&b);
}
