// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_jvm.c - what JVMs and programs tell in time, as events of the JDK where it has such: collections,
 * safepoints, compilations, classes, threads, exceptions; marks, and labels of threads.
 *
 * Source: metadata.xml of JDK 17 to 25.  What an event of the JDK has and a trace has not is "N/A" or null.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "formats/jfr/write.h"

#define VM "Java Virtual Machine"
#define GC_ID { "gcId", "GC Identifier", JFR_INT, JFR_COUNT }
#define SAFEPOINT_ID { "safepointId", "Safepoint Identifier", JFR_LONG, JFR_COUNT }
#define COMPILE_ID { "compileId", "Compilation Identifier", JFR_INT, JFR_COUNT }
#define COMPILER { "compiler", "Compiler", JFR_COMPILER, JFR_POOL }
#define METHOD { "method", "Java Method", JFR_METHOD, JFR_POOL }
#define LOADER(name, label) { (name), (label), JFR_CLASS_LOADER, JFR_POOL }
#define NAME { "name", "Name", JFR_STRING, 0 }

const struct jfr_desc jfr_jvm_types[] = {
	{ JFR_GC_PAUSE, "jdk.GCPhasePause", "GC Phase Pause", JFR_EVENT,
	  .category = { VM, "GC", "Phases" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, GC_ID, NAME } },
	{ JFR_GC_CONCURRENT, "jdk.GCPhaseConcurrent", "GC Phase Concurrent", JFR_EVENT,
	  .category = { VM, "GC", "Phases" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, GC_ID, NAME } },
	{ JFR_COLLECTION, "jdk.GarbageCollection", "Garbage Collection", JFR_EVENT,
	  .category = { VM, "GC", "Collector" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, GC_ID,
		{ "name", "Name", JFR_GC_NAME, JFR_POOL },
		{ "cause", "Cause", JFR_GC_CAUSE, JFR_POOL },
		{ "sumOfPauses", "Sum of Pauses", JFR_LONG, JFR_SPAN_TICKS },
		{ "longestPause", "Longest Pause", JFR_LONG, JFR_SPAN_TICKS } } },
	{ JFR_YOUNG_COLLECTION, "jdk.YoungGarbageCollection", "Young Garbage Collection", JFR_EVENT,
	  .category = { VM, "GC", "Collector" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, GC_ID,
		{ "tenuringThreshold", "Tenuring Threshold", JFR_INT, JFR_COUNT } } },
	{ JFR_OLD_COLLECTION, "jdk.OldGarbageCollection", "Old Garbage Collection", JFR_EVENT,
	  .category = { VM, "GC", "Collector" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, GC_ID } },
	{ JFR_HEAP_SUMMARY, "jdk.GCHeapSummary", "Heap Summary", JFR_EVENT,
	  .category = { VM, "GC", "Heap" }, .fields = {
		JFR_FIELD_START, GC_ID,
		{ "when", "When", JFR_GC_WHEN, JFR_POOL },
		{ "heapSpace", "Heap Space", JFR_VIRTUAL_SPACE, 0 },
		{ "heapUsed", "Heap Used", JFR_LONG, JFR_BYTES | JFR_COUNT } } },
	{ JFR_SAFEPOINT_BEGIN, "jdk.SafepointBegin", "Safepoint Begin", JFR_EVENT,
	  .category = { VM, "Runtime", "Safepoint" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, SAFEPOINT_ID,
		{ "totalThreadCount", "Total Threads", JFR_INT, 0 },
		{ "jniCriticalThreadCount", "JNI Critical Threads", JFR_INT, 0 } } },
	{ JFR_SAFEPOINT_SYNC, "jdk.SafepointStateSynchronization", "Safepoint State Synchronization",
	  JFR_EVENT, .category = { VM, "Runtime", "Safepoint" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, SAFEPOINT_ID,
		{ "initialThreadCount", "Initial Threads", JFR_INT, 0 },
		{ "runningThreadCount", "Running Threads", JFR_INT, 0 },
		{ "iterations", "Iterations", JFR_INT, 0 } } },
	{ JFR_SAFEPOINT_END, "jdk.SafepointEnd", "Safepoint End", JFR_EVENT,
	  .category = { VM, "Runtime", "Safepoint" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, SAFEPOINT_ID } },
	{ JFR_VM_OPERATION_EVENT, "jdk.ExecuteVMOperation", "VM Operation", JFR_EVENT,
	  .category = { VM, "Runtime" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD,
		{ "operation", "Operation", JFR_VM_OPERATION, JFR_POOL },
		{ "safepoint", "At Safepoint", JFR_BOOLEAN, 0 },
		{ "blocking", "Caller Blocked", JFR_BOOLEAN, 0 },
		{ "caller", "Caller", JFR_THREAD, JFR_POOL },
		SAFEPOINT_ID } },
	{ JFR_COMPILATION, "jdk.Compilation", "Compilation", JFR_EVENT,
	  .category = { VM, "Compiler" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, COMPILE_ID, COMPILER, METHOD,
		{ "compileLevel", "Compilation Level", JFR_SHORT, JFR_COUNT },
		{ "succeded", "Succeeded", JFR_BOOLEAN, 0 },
		{ "isOsr", "On Stack Replacement", JFR_BOOLEAN, 0 },
		{ "codeSize", "Compiled Code Size", JFR_LONG, JFR_BYTES | JFR_COUNT },
		{ "inlinedBytes", "Inlined Code Size", JFR_LONG, JFR_BYTES | JFR_COUNT } } },
	{ JFR_COMPILATION_FAILURE, "jdk.CompilationFailure", "Compilation Failure", JFR_EVENT,
	  .category = { VM, "Compiler" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD,
		{ "failureMessage", "Failure Message", JFR_STRING, 0 },
		COMPILE_ID } },
	{ JFR_DEOPTIMIZATION, "jdk.Deoptimization", "Deoptimization", JFR_EVENT,
	  .category = { VM, "Compiler" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD, JFR_FIELD_STACK, COMPILE_ID, COMPILER, METHOD,
		{ "lineNumber", "Line Number", JFR_INT, 0 },
		{ "bci", "Bytecode Index", JFR_INT, 0 },
		{ "reason", "Reason", JFR_DEOPT_REASON, JFR_POOL },
		{ "action", "Action", JFR_DEOPT_ACTION, JFR_POOL } } },
	{ JFR_CLASS_LOAD, "jdk.ClassLoad", "Class Load", JFR_EVENT,
	  .category = { VM, "Class Loading" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "loadedClass", "Loaded Class", JFR_CLASS, JFR_POOL },
		LOADER("definingClassLoader", "Defining Class Loader"),
		LOADER("initiatingClassLoader", "Initiating Class Loader") } },
	{ JFR_CLASS_UNLOAD, "jdk.ClassUnload", "Class Unload", JFR_EVENT,
	  .category = { VM, "Class Loading" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD,
		{ "unloadedClass", "Unloaded Class", JFR_CLASS, JFR_POOL },
		LOADER("definingClassLoader", "Defining Class Loader") } },
	{ JFR_THREAD_START, "jdk.ThreadStart", "Java Thread Start", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD, JFR_FIELD_STACK,
		{ "thread", "New Java Thread", JFR_THREAD, JFR_POOL },
		{ "parentThread", "Parent Java Thread", JFR_THREAD, JFR_POOL } } },
	{ JFR_THREAD_END, "jdk.ThreadEnd", "Java Thread End", JFR_EVENT,
	  .category = { "Java Application" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_THREAD,
		{ "thread", "Java Thread", JFR_THREAD, JFR_POOL } } },
	{ JFR_MARK, "arcprof.Mark", "Mark or Phase of the Program", JFR_EVENT,
	  .category = { "arcprof" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, NAME,
		{ "fields", "Values", JFR_STRING, 0 } } },
	{ JFR_OTHER_EVENT, "arcprof.Event", "Other Event", JFR_EVENT,
	  .category = { "arcprof" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD,
		{ "kind", "Kind", JFR_STRING, 0 },
		{ "what", "What", JFR_STRING, 0 },
		{ "cause", "Cause", JFR_STRING, 0 } } },
	{ JFR_THREAD_LABELS, "arcprof.Labels", "Labels of a Thread", JFR_EVENT,
	  .category = { "arcprof" }, .fields = {
		JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD,
		{ "labels", "Labels", JFR_STRING, 0 } } },
	{ 0 }
};

struct jvm_writer {
	struct jfr_writer *w;
	struct jfr_pools *p;
	const struct events *v;
	const struct event *x;		/* that is written */
	size_t at;			/* its index */
	uint32_t thread;		/* of the file */
	struct buf b, text;
	uint32_t nr_collections, nr_safepoints;
	struct cycle {			/* the latest one that consists of phases and pauses */
		uint32_t process, id;
		uint64_t end_ns;
	} cycle;
	bool with_exceptions;
};

/* ---- fields ---- */

static void begin_jvm_event(struct jvm_writer *k, uint64_t time_ns)
{
	buf_reset(&k->b);
	jfr_put(&k->b, time_ns);
}

static void end_jvm_event(struct jvm_writer *k, uint32_t type)
{
	jfr_write_event(k->w, type, &k->b);
}

/* Append a number, "N/A" if it is not known. */
static void put_long(struct jvm_writer *k, uint64_t v)
{
	jfr_put(&k->b, v == EVENT_UNKNOWN ? JFR_NO_LONG : v);
}

static void put_int(struct jvm_writer *k, uint64_t v)
{
	jfr_put(&k->b, v == EVENT_UNKNOWN ? JFR_NO_INT : (uint32_t)v);
}

static const char *what(const struct jvm_writer *k)
{
	return events_str(k->v, k->x->what);
}

static const char *cause(const struct jvm_writer *k)
{
	return events_str(k->v, k->x->cause);
}

static void put_str(struct jvm_writer *k, const char *s)
{
	jfr_put_text(&k->b, *s ? quote_str(&k->text, s) : NULL);
}

static void jvm_put_text(struct jvm_writer *k, uint32_t type, const char *s)
{
	jfr_put(&k->b, jfr_constant(k->p, type, s));
}

/* Begin an event with a duration and a thread. */
static void begin_lasting(struct jvm_writer *k, uint64_t time_ns, uint64_t duration_ns)
{
	begin_jvm_event(k, time_ns);
	put_long(k, duration_ns);
	jfr_put(&k->b, k->thread);
}

/* ---- collections ---- */

static bool has_sizes(const struct event *x)
{
	return event_value(x, VALUE_BEFORE) != EVENT_UNKNOWN;
}

static void put_heap(struct jvm_writer *k, uint64_t time_ns, uint32_t id, const char *when, uint64_t used)
{
	uint64_t capacity = event_value(k->x, VALUE_CAPACITY);

	begin_jvm_event(k, time_ns);
	jfr_put(&k->b, id);
	jvm_put_text(k, JFR_GC_WHEN, when);
	jfr_put(&k->b, 0);		/* start */
	jfr_put(&k->b, 0);
	put_long(k, capacity);
	jfr_put(&k->b, 0);
	put_long(k, EVENT_UNKNOWN);	/* reserved */
	put_long(k, used);
	end_jvm_event(k, JFR_HEAP_SUMMARY);
}

/* Sum the pauses of the process during a cycle. */
static void add_pauses(const struct jvm_writer *k, uint64_t *sum, uint64_t *longest)
{
	const struct event *x = k->x;
	size_t i;

	*sum = *longest = 0;
	for (i = k->at; i < k->v->nr && k->v->list[i].time_ns - x->time_ns < x->duration_ns; i++) {
		const struct event *y = &k->v->list[i];

		if (y->kind != EVENT_GC || y->process != x->process || y->duration_ns == EVENT_UNKNOWN)
			continue;
		*sum += y->duration_ns;
		*longest = MAX(*longest, y->duration_ns);
	}
}

static void put_generation(struct jvm_writer *k, uint32_t id)
{
	bool young = !strncmp(what(k), "Pause Young", 11) || !strncmp(what(k), "Minor ", 6);
	bool old = !strncmp(what(k), "Pause Full", 10) || !strncmp(what(k), "Major ", 6);

	if (!young && !old)
		return;
	begin_jvm_event(k, k->x->time_ns);
	put_long(k, k->x->duration_ns);
	jfr_put(&k->b, id);
	if (young)
		put_int(k, EVENT_UNKNOWN);
	end_jvm_event(k, young ? JFR_YOUNG_COLLECTION : JFR_OLD_COLLECTION);
}

static void put_collection(struct jvm_writer *k, uint32_t id)
{
	uint64_t sum = k->x->duration_ns, longest = sum;

	if (k->x->kind != EVENT_GC && k->x->duration_ns != EVENT_UNKNOWN)
		add_pauses(k, &sum, &longest);
	begin_jvm_event(k, k->x->time_ns);
	put_long(k, k->x->duration_ns);
	jfr_put(&k->b, id);
	jvm_put_text(k, JFR_GC_NAME, what(k));
	jvm_put_text(k, JFR_GC_CAUSE, cause(k));
	put_long(k, sum);
	put_long(k, longest);
	end_jvm_event(k, JFR_COLLECTION);
	put_generation(k, id);
	put_heap(k, k->x->time_ns, id, "Before GC", event_value(k->x, VALUE_BEFORE));
	put_heap(k, k->x->time_ns + (k->x->duration_ns == EVENT_UNKNOWN ? 0 : k->x->duration_ns), id, "After GC",
		 event_value(k->x, VALUE_AFTER));
}

/* Write a pause or a cycle: with sizes it is a collection, else a phase of the cycle that it is in. */
static void put_gc(struct jvm_writer *k)
{
	const struct event *x = k->x;
	bool within = k->cycle.process == x->process && x->time_ns < k->cycle.end_ns, is_cycle;
	uint32_t id = within && !has_sizes(x) ? k->cycle.id : ++k->nr_collections;

	is_cycle = x->kind == EVENT_GC_CONCURRENT && has_sizes(x);
	if (has_sizes(x))
		put_collection(k, id);
	if (is_cycle && x->duration_ns != EVENT_UNKNOWN)
		k->cycle = (struct cycle){ x->process, id, x->time_ns + x->duration_ns };
	if (is_cycle)
		return;
	begin_lasting(k, x->time_ns, x->duration_ns);
	jfr_put(&k->b, id);
	put_str(k, what(k));
	end_jvm_event(k, x->kind == EVENT_GC ? JFR_GC_PAUSE : JFR_GC_CONCURRENT);
}

/* ---- safepoints ---- */

static uint64_t later(uint64_t time_ns, uint64_t ns)
{
	return ns == EVENT_UNKNOWN ? time_ns : time_ns + ns;
}

static void put_safepoint(struct jvm_writer *k)
{
	const struct event *x = k->x;
	uint64_t reach = event_value(x, VALUE_REACH), stopped = event_value(x, VALUE_STOPPED);
	uint32_t id = ++k->nr_safepoints;

	begin_lasting(k, x->time_ns, reach);
	jfr_put(&k->b, id);
	put_int(k, EVENT_UNKNOWN);
	put_int(k, EVENT_UNKNOWN);
	end_jvm_event(k, JFR_SAFEPOINT_BEGIN);
	if (reach != EVENT_UNKNOWN) {
		begin_lasting(k, x->time_ns, reach);
		jfr_put(&k->b, id);
		put_int(k, EVENT_UNKNOWN);
		put_int(k, EVENT_UNKNOWN);
		put_int(k, EVENT_UNKNOWN);
		end_jvm_event(k, JFR_SAFEPOINT_SYNC);
	}
	begin_lasting(k, later(x->time_ns, reach), stopped);
	jvm_put_text(k, JFR_VM_OPERATION, what(k));
	buf_u8(&k->b, true);
	buf_u8(&k->b, false);		/* not known */
	jfr_put(&k->b, 0);
	jfr_put(&k->b, id);
	end_jvm_event(k, JFR_VM_OPERATION_EVENT);
	begin_lasting(k, later(x->time_ns, x->duration_ns), 0);
	jfr_put(&k->b, id);
	end_jvm_event(k, JFR_SAFEPOINT_END);
}

/* ---- code ---- */

/* "c1" of tiers 1 to 3, as the JDK calls them; a native wrapper is of none. */
static const char *compiler(uint64_t tier)
{
	return tier >= 1 && tier <= 3 ? "c1" : tier == 4 ? "c2" : "";
}

static void put_compilation(struct jvm_writer *k)
{
	const struct event *x = k->x;
	uint64_t tier = event_value(x, VALUE_TIER);

	begin_lasting(k, x->time_ns, x->duration_ns);
	put_int(k, event_value(x, VALUE_COMPILE_ID));
	jvm_put_text(k, JFR_COMPILER, compiler(tier));
	jfr_put(&k->b, jfr_java_method(k->p, what(k)));
	jfr_put(&k->b, tier == EVENT_UNKNOWN ? 0 : (uint16_t)tier);
	buf_u8(&k->b, true);
	buf_u8(&k->b, !strcmp(cause(k), "OSR"));
	put_long(k, EVENT_UNKNOWN);
	put_long(k, EVENT_UNKNOWN);
	end_jvm_event(k, JFR_COMPILATION);
}

static void put_failure(struct jvm_writer *k)
{
	begin_jvm_event(k, k->x->time_ns);
	jfr_put(&k->b, k->thread);
	put_str(k, cause(k));
	put_int(k, event_value(k->x, VALUE_COMPILE_ID));
	end_jvm_event(k, JFR_COMPILATION_FAILURE);
}

/* Write a deoptimization; the cause is "unstable_if reinterpret": reason, then action. */
static void put_deoptimization(struct jvm_writer *k)
{
	const char *both = cause(k), *action = strchr(both, ' ');
	struct buf reason = BUF_INIT;

	buf_add(&reason, both, action ? (size_t)(action - both) : strlen(both));
	begin_jvm_event(k, k->x->time_ns);
	jfr_put(&k->b, k->thread);
	jfr_put(&k->b, 0);
	put_int(k, event_value(k->x, VALUE_COMPILE_ID));
	jvm_put_text(k, JFR_COMPILER, compiler(event_value(k->x, VALUE_TIER)));
	jfr_put(&k->b, jfr_java_method(k->p, what(k)));
	put_int(k, EVENT_UNKNOWN);
	put_int(k, event_value(k->x, VALUE_BCI));
	jvm_put_text(k, JFR_DEOPT_REASON, reason.len ? reason.data : "");
	jvm_put_text(k, JFR_DEOPT_ACTION, action ? action + 1 : "");
	end_jvm_event(k, JFR_DEOPTIMIZATION);
	buf_release(&reason);
}

static void put_class(struct jvm_writer *k)
{
	bool load = k->x->kind == EVENT_CLASS_LOAD;

	begin_jvm_event(k, k->x->time_ns);
	if (load)
		put_long(k, k->x->duration_ns);
	jfr_put(&k->b, k->thread);
	if (load)
		jfr_put(&k->b, 0);	/* stack */
	jfr_put(&k->b, jfr_class(k->p, what(k)));
	jfr_put(&k->b, 0);
	if (load)
		jfr_put(&k->b, 0);
	end_jvm_event(k, load ? JFR_CLASS_LOAD : JFR_CLASS_UNLOAD);
}

/* ---- threads and others ---- */

static void put_thread(struct jvm_writer *k)
{
	bool start = k->x->kind == EVENT_THREAD_START;

	begin_jvm_event(k, k->x->time_ns);
	jfr_put(&k->b, k->thread);
	if (start)
		jfr_put(&k->b, 0);	/* stack */
	jfr_put(&k->b, k->thread);
	if (start)
		jfr_put(&k->b, 0);	/* parent */
	end_jvm_event(k, start ? JFR_THREAD_START : JFR_THREAD_END);
}

static void put_exception(struct jvm_writer *k)
{
	if (!k->with_exceptions)
		return;
	begin_lasting(k, k->x->time_ns, 0);
	jfr_put(&k->b, 0);		/* stack */
	jfr_put_text(&k->b, NULL);
	jfr_put(&k->b, jfr_class(k->p, what(k)));
	end_jvm_event(k, JFR_EXCEPTION);
}

static void put_mark(struct jvm_writer *k)
{
	const struct event *x = k->x;
	char *json = events_fields_json(k->v, x);

	begin_lasting(k, x->time_ns, x->duration_ns == EVENT_UNKNOWN ? 0 : x->duration_ns);
	put_str(k, what(k));
	jfr_put_text(&k->b, json);
	free(json);
	end_jvm_event(k, JFR_MARK);
}

static void put_other(struct jvm_writer *k)
{
	begin_lasting(k, k->x->time_ns, k->x->duration_ns == EVENT_UNKNOWN ? 0 : k->x->duration_ns);
	put_str(k, event_kinds[k->x->kind].name);
	put_str(k, what(k));
	put_str(k, cause(k));
	end_jvm_event(k, JFR_OTHER_EVENT);
}

static void (*const writers[EVENT_NR])(struct jvm_writer *k) = {
	[EVENT_GC] = put_gc,
	[EVENT_GC_CONCURRENT] = put_gc,
	[EVENT_SAFEPOINT] = put_safepoint,
	[EVENT_COMPILE] = put_compilation,
	[EVENT_NOT_COMPILED] = put_failure,
	[EVENT_DEOPT] = put_deoptimization,
	[EVENT_CLASS_LOAD] = put_class,
	[EVENT_CLASS_UNLOAD] = put_class,
	[EVENT_EXCEPTION] = put_exception,
	[EVENT_THREAD_START] = put_thread,
	[EVENT_THREAD_END] = put_thread,
	[EVENT_MARK] = put_mark,
	[EVENT_PHASE] = put_mark,
};

static uint32_t jvm_thread_of(struct jfr_pools *p, const struct events *v, const struct event *x)
{
	const struct consumers *c = &v->strings.consumers;

	return x->thread ? jfr_thread(p, c, &c->items[x->process], x->tid,
				      strtab_get(&c->names, c->items[x->thread].name)) : 0;
}

void jfr_write_jvm(struct jfr_writer *w, struct jfr_pools *p, const struct events *v, bool with_exceptions)
{
	struct jvm_writer k = { .w = w, .p = p, .v = v, .with_exceptions = with_exceptions };
	size_t i;

	for (i = 0; i < v->nr; i++) {
		const struct event *x = k.x = &v->list[i];

		k.at = i;
		k.thread = jvm_thread_of(p, v, x);
		(writers[x->kind] ? writers[x->kind] : put_other)(&k);
	}
	buf_release(&k.b);
	buf_release(&k.text);
}

void jfr_write_labels(struct jfr_writer *w, struct jfr_pools *p, struct events *v)
{
	struct jvm_writer k = { .w = w, .p = p, .v = v };
	struct event x;
	size_t i = 0;

	while (events_labels(v, &i, &x)) {
		k.thread = jvm_thread_of(p, v, &x);
		begin_lasting(&k, x.time_ns, x.duration_ns);
		put_str(&k, events_str(v, x.labels));
		end_jvm_event(&k, JFR_THREAD_LABELS);
	}
	buf_release(&k.b);
	buf_release(&k.text);
}
