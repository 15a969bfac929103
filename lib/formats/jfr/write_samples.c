// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_samples.c - samples as events of the JDK, or of async-profiler where the JDK has none: allocations,
 * locks, exceptions, wall-clock time.
 *
 * Types and the order of their fields are those of JDK 17 and later (jdk.jfr.internal, metadata.xml) and of
 * async-profiler (flightRecorder.cpp, jfrMetadata.cpp): some readers go by the order alone.  The innermost
 * frame of such a sample is the class that it is about, which is a field of the event.
 */
#include <string.h>

#include "base/mem.h"
#include "formats/jfr/write.h"
#include "trace/record.h"

#define SAMPLED_THREAD { "sampledThread", "Thread", JFR_THREAD, JFR_POOL }
#define STATE { "state", "Thread State", JFR_THREAD_STATE, JFR_POOL }
#define ADDRESS(label) { "address", (label), JFR_LONG, JFR_ADDRESS | JFR_COUNT }

const struct jfr_desc jfr_sample_types[] = {
	{ JFR_EXECUTION_SAMPLE, "jdk.ExecutionSample", "Method Profiling Sample", JFR_EVENT,
	  .category = { "Java Virtual Machine", "Profiling" }, .fields = {
		JFR_FIELD_START, SAMPLED_THREAD, JFR_FIELD_STACK, STATE } },
	{ JFR_ALLOCATION, "jdk.ObjectAllocationSample", "Object Allocation Sample", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "objectClass", "Object Class", JFR_CLASS, JFR_POOL },
		{ "weight", "Sample Weight", JFR_LONG, JFR_BYTES } } },
	{ JFR_LIVE_OBJECT, "profiler.LiveObject", "Live Object", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "objectClass", "Object Class", JFR_CLASS, JFR_POOL },
		{ "allocationSize", "Allocation Size", JFR_LONG, JFR_BYTES | JFR_COUNT },
		{ "allocationTime", "Allocation Time", JFR_LONG, JFR_TICKS } } },
	{ JFR_MONITOR_ENTER, "jdk.JavaMonitorEnter", "Java Monitor Blocked", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "monitorClass", "Monitor Class", JFR_CLASS, JFR_POOL },
		{ "previousOwner", "Previous Monitor Owner", JFR_THREAD, JFR_POOL },
		ADDRESS("Monitor Address") } },
	{ JFR_MONITOR_WAIT, "jdk.JavaMonitorWait", "Java Monitor Wait", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "monitorClass", "Monitor Class", JFR_CLASS, JFR_POOL },
		{ "notifier", "Notifier Thread", JFR_THREAD, JFR_POOL },
		{ "timeout", "Timeout", JFR_LONG, JFR_SPAN_MILLIS },
		{ "timedOut", "Timed Out", JFR_BOOLEAN, 0 },
		ADDRESS("Monitor Address") } },
	{ JFR_THREAD_PARK, "jdk.ThreadPark", "Java Thread Park", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "parkedClass", "Class Parked On", JFR_CLASS, JFR_POOL },
		{ "timeout", "Park Timeout", JFR_LONG, JFR_SPAN_NANOS },
		{ "until", "Park Until", JFR_LONG, JFR_MILLIS },
		ADDRESS("Address of Object Parked") } },
	{ JFR_EXCEPTION, "jdk.JavaExceptionThrow", "Java Exception", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "message", "Message", JFR_STRING, 0 },
		{ "thrownClass", "Class", JFR_CLASS, JFR_POOL } } },
	{ JFR_WALL_CLOCK, "profiler.WallClockSample", "Wall Clock Sample", JFR_EVENT,
	  .category = { "Java Virtual Machine", "Profiling" }, .fields = {
		JFR_FIELD_START, SAMPLED_THREAD, JFR_FIELD_STACK, STATE,
		{ "samples", "Samples", JFR_INT, JFR_COUNT } } },
	{ JFR_NATIVE_LOCK, "profiler.NativeLock", "Native Lock Sample", JFR_EVENT,
	  .category = { "Java Virtual Machine", "Native Lock" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		ADDRESS("Lock Address") } },
	{ JFR_MALLOC, "profiler.Malloc", "malloc", JFR_EVENT,
	  .category = { "Java Virtual Machine", "Native Memory" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD, JFR_FIELD_STACK, ADDRESS("Address"),
		{ "size", "Size", JFR_LONG, JFR_BYTES | JFR_COUNT } } },
	{ 0 }
};

/*
 * Metrics as record names them, and as a JFR file that was imported does.  What has no type of the JDK counts
 * or weighs something else than execution: such metrics are never jdk.ExecutionSample.
 */
static const struct { const char *metric; uint32_t type; } metrics[] = {
	{ "alloc", JFR_ALLOCATION }, { "jdk.ObjectAllocationSample", JFR_ALLOCATION },
	{ "live", JFR_LIVE_OBJECT }, { "profiler.LiveObject", JFR_LIVE_OBJECT },
	{ "lock", JFR_MONITOR_ENTER }, { "jdk.JavaMonitorEnter", JFR_MONITOR_ENTER },
	{ "jdk.JavaMonitorWait", JFR_MONITOR_WAIT }, { "jdk.ThreadPark", JFR_THREAD_PARK },
	{ "profiler.NativeLock", JFR_NATIVE_LOCK }, { "throws", JFR_EXCEPTION }, { "jdk.JavaExceptionThrow", JFR_EXCEPTION },
	{ "wall", JFR_WALL_CLOCK }, { "profiler.WallClockSample", JFR_WALL_CLOCK },
	{ "native-memory", JFR_MALLOC }, { "profiler.Malloc", JFR_MALLOC },
	{ "objects", 0 }, { "live-objects", 0 }, { "survived", 0 }, { "freed", 0 }, { "live-unknown", 0 },
	{ "waits", 0 }, { "blame", 0 }, { "wakers", 0 }, { "virtual", 0 }, { "native-blocks", 0 },
	{ "http", 0 }, { "rmi", 0 }, { "grpc", 0 }, { "sql", 0 }, { "statements", 0 },
	{ "notify", 0 }, { "notified", 0 },
	{ "native-live", 0 }, { "native-live-blocks", 0 }, { "native-unknown", 0 },
};

uint32_t jfr_sample_type(const char *metric, bool *only_own)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		if (!strcmp(metrics[i].metric, metric)) {
			*only_own = !metrics[i].type;
			return metrics[i].type;
		}
	*only_own = false;
	return 0;
}

static const struct consumer *consumer_at(const struct jfr_pools *p, uint32_t node)
{
	return &p->v->m->consumers.items[p->v->m->flow.nodes[node].consumer];
}

static bool name_begins(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* Return the type of a wait from its innermost Java method. Native locks have no class. */
static uint32_t type_of_wait(const struct jfr_pools *p, uint32_t node, uint32_t class)
{
	const struct flow_node *nodes = p->v->m->flow.nodes;
	const char *name;

	if (!class)
		return JFR_NATIVE_LOCK;
	while (node && !kind_is(consumer_at(p, node)->kind, KIND_JAVA))
		node = nodes[node].parent;
	if (!node)
		return JFR_MONITOR_ENTER;
	name = model_str(p->v->m, consumer_at(p, node)->name);
	if (name_begins(name, "java.lang.Object.wait"))
		return JFR_MONITOR_WAIT;
	return name_begins(name, "jdk.internal.misc.Unsafe.park") || name_begins(name, "sun.misc.Unsafe.park") ||
	       name_begins(name, "java.util.concurrent.locks.LockSupport.park") || name_begins(name, "java.lang.VirtualThread.") ||
	       name_begins(name, "jdk.internal.vm.Continuation.") || name_begins(name, "java.lang.System$2.park") ?
		JFR_THREAD_PARK : JFR_MONITOR_ENTER;
}

/*
 * Remove the innermost frame if it is the reason of a wait, or a file beneath it, and return the thread's
 * state. Being on a CPU is a state as well; without a reason it ran.
 */
static uint32_t cut_state(const struct jfr_pools *p, uint32_t *node)
{
	const struct consumer *c = consumer_at(p, *node);

	if (c->kind == CONSUMER_WAIT_FILE)
		return JFR_STATE_SLEEPING;
	if (c->kind != CONSUMER_REASON)
		return JFR_STATE_RUNNABLE;
	if (!strcmp(model_str(p->v->m, c->name), REASON_ON_CPU)) {
		*node = p->v->m->flow.nodes[*node].parent;
		return JFR_STATE_RUNNABLE;
	}
	return strcmp(model_str(p->v->m, c->name), REASON_RUNNABLE) ? JFR_STATE_SLEEPING : JFR_STATE_RUNNABLE;
}

static uint32_t cut_class(struct jfr_pools *p, uint32_t *node)
{
	const struct consumer *c = consumer_at(p, *node);

	if (c->kind != CONSUMER_CLASS)
		return 0;
	*node = p->v->m->flow.nodes[*node].parent;
	return jfr_class(p, model_str(p->v->m, c->name));
}

/*
 * Write a wait. It lies before arcprof's sample, for as long as that weighs; the other fields of the JDK's
 * event are not known.
 */
static void put_wait(struct jfr_pools *p, uint32_t type, const struct flow_time *s, uint32_t node,
		     uint32_t class, struct buf *b)
{
	bool lasts = p->v->m->metrics[s->metric].lasts;

	jfr_put(b, s->time_ns - (lasts ? MIN(s->weight, s->time_ns) : 0));
	jfr_put(b, s->weight);
	jfr_put(b, p->thread_at[s->node]);
	jfr_put(b, jfr_stack(p, node));
	if (type != JFR_NATIVE_LOCK)
		jfr_put(b, class);
	if (type == JFR_MONITOR_ENTER) {
		jfr_put(b, 0);			/* owner */
	} else if (type == JFR_MONITOR_WAIT) {
		jfr_put(b, 0);			/* notifier */
		jfr_put(b, JFR_NO_LONG);
		buf_u8(b, 0);
	} else if (type == JFR_THREAD_PARK) {
		jfr_put(b, JFR_NO_LONG);
		jfr_put(b, JFR_NO_LONG);
	}
	jfr_put(b, 0);				/* address */
}

static void put_exception(struct jfr_pools *p, const struct flow_time *s, uint32_t node, uint32_t class,
			  struct buf *b)
{
	jfr_put(b, s->time_ns);
	jfr_put(b, 0);				/* duration */
	jfr_put(b, p->thread_at[s->node]);
	jfr_put(b, jfr_stack(p, node));
	jfr_put_text(b, NULL);
	jfr_put(b, class);
}

uint32_t jfr_put_sample(struct jfr_pools *p, uint32_t type, const struct flow_time *s, struct buf *b)
{
	uint32_t node = s->node, class = 0, state = 0;

	/* with "default" async-profiler tells what was sampled as it ran from the rest */
	if (type == JFR_EXECUTION_SAMPLE)
		state = JFR_STATE_DEFAULT;
	else if (type == JFR_WALL_CLOCK)
		state = cut_state(p, &node);
	else
		class = cut_class(p, &node);
	if (type == JFR_MONITOR_ENTER)
		type = type_of_wait(p, node, class);
	if (type >= JFR_MONITOR_ENTER && type <= JFR_NATIVE_LOCK) {
		put_wait(p, type, s, node, class, b);
		return type;
	}
	if (type == JFR_EXCEPTION) {
		put_exception(p, s, node, class, b);
		return type;
	}
	jfr_put(b, s->time_ns);
	jfr_put(b, p->thread_at[s->node]);
	jfr_put(b, jfr_stack(p, node));
	if (state)
		jfr_put(b, state);
	if (type == JFR_WALL_CLOCK)
		jfr_put(b, 1);
	if (type == JFR_MALLOC)
		jfr_put(b, 0);			/* address */
	if (type == JFR_ALLOCATION || type == JFR_LIVE_OBJECT)
		jfr_put(b, class);
	if (!state)
		jfr_put(b, s->weight);
	if (type == JFR_LIVE_OBJECT)
		jfr_put(b, s->time_ns);
	return type;
}
