/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.h - a file of Java Flight Recorder: between write.c, which makes the file, write_samples.c and
 * write_jvm.c, which have its events, write_meta.c, which describes them, and write_pools.c, which writes the
 * tables that they refer to.
 *
 * Source of the format: OpenJDK's readers (jdk.jfr.internal.consumer.ChunkHeader, ChunkParser,
 * StringParser, jdk.jfr.internal.MetadataReader) and writers (jfrChunkWriter.cpp), and what
 * async-profiler writes for native code.  Documentation/technical/jfr.adoc has it in words.
 */
#ifndef FORMATS_JFR_WRITE_H
#define FORMATS_JFR_WRITE_H

#include "base/hash.h"
#include "model/events.h"
#include "report/report.h"

/* Numbers of types.  The file defines all but the first two: others than these would do as well. */
enum jfr_type_id {
	JFR_METADATA = 0,
	JFR_CHECKPOINT = 1,
	JFR_BOOLEAN = 4, JFR_SHORT, JFR_INT, JFR_LONG,
	JFR_STRING = 20, JFR_CLASS, JFR_THREAD, JFR_CLASS_LOADER, JFR_FRAME_TYPE, JFR_THREAD_STATE,
	JFR_STACK_TRACE, JFR_STACK_FRAME, JFR_METHOD, JFR_PACKAGE, JFR_MODULE, JFR_SYMBOL, JFR_THREAD_GROUP,
	JFR_VIRTUAL_SPACE,
	/* tables of texts: struct jfr_pools has one for each */
	JFR_TEXTS = 40,
	JFR_GC_NAME = JFR_TEXTS, JFR_GC_CAUSE, JFR_GC_WHEN, JFR_VM_OPERATION, JFR_COMPILER, JFR_DEOPT_REASON,
	JFR_DEOPT_ACTION,
	JFR_TEXTS_END,
	JFR_ACTIVE_RECORDING = 100, JFR_ACTIVE_SETTING, JFR_CPU_INFORMATION, JFR_EXECUTION_SAMPLE, JFR_WEIGHT,
	JFR_SAMPLE = 110,		/* and on: of metrics that the JDK has no events for */
	JFR_LABEL = 200, JFR_CATEGORY, JFR_CONTENT_TYPE, JFR_TIMESTAMP, JFR_TIMESPAN, JFR_DATA_AMOUNT,
	JFR_MEMORY_ADDRESS, JFR_UNSIGNED,
	/* samples */
	JFR_ALLOCATION = 300, JFR_LIVE_OBJECT, JFR_MONITOR_ENTER, JFR_MONITOR_WAIT, JFR_THREAD_PARK,
	JFR_NATIVE_LOCK, JFR_EXCEPTION, JFR_WALL_CLOCK, JFR_WALL_WEIGHT, JFR_MALLOC,
	/* what JVMs and programs tell */
	JFR_GC_PAUSE = 320, JFR_GC_CONCURRENT, JFR_COLLECTION, JFR_YOUNG_COLLECTION, JFR_OLD_COLLECTION,
	JFR_HEAP_SUMMARY, JFR_SAFEPOINT_BEGIN, JFR_SAFEPOINT_SYNC, JFR_SAFEPOINT_END, JFR_VM_OPERATION_EVENT,
	JFR_COMPILATION, JFR_COMPILATION_FAILURE, JFR_DEOPTIMIZATION, JFR_CLASS_LOAD, JFR_CLASS_UNLOAD,
	JFR_THREAD_START, JFR_THREAD_END, JFR_MARK, JFR_OTHER_EVENT, JFR_THREAD_LABELS,
	/* and on: types that are never written, for the queries of "jfr view" that name them */
	JFR_UNUSED = 360,
};

enum { JFR_HEADER_SIZE = 68, JFR_STATE_RUNNABLE = 1, JFR_STATE_SLEEPING, JFR_STATE_DEFAULT };

/* Frame types: numbers and names are the JDK's, then async-profiler's; converters know them by number. */
#define JFR_FRAME_TYPES { "Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled" }
enum jfr_frame_type {
	JFR_FRAME_INTERPRETED, JFR_FRAME_COMPILED, JFR_FRAME_INLINED, JFR_FRAME_NATIVE, JFR_FRAME_CPP,
	JFR_FRAME_KERNEL, JFR_FRAME_C1,
};

/* kinds without a frame type, in bits of a method's modifiers that Java does not use */
enum jfr_function_kind {
	JFR_KIND_OF_FRAME, JFR_KIND_JAVA, JFR_KIND_STUB, JFR_KIND_UNRESOLVED, JFR_KIND_FOLDED, JFR_KIND_MARK,
	JFR_KIND_REASON, JFR_KIND_FILE,
};
enum { JFR_KIND_SHIFT = 16, JFR_KIND_BITS = 3 };

struct jfr_writer {
	FILE *out;			/* NULL: only the length is wanted */
	uint64_t len;
	uint64_t checkpoint;		/* where the last one begins; 0: none */
	uint64_t start_ticks;
	struct buf event;		/* scratch */
};

/* Append a long as the file has it: LEB128, but a ninth byte has eight bits. */
void jfr_put(struct buf *b, uint64_t v);
void jfr_put_text(struct buf *b, const char *s);	/* NULL is null */
/* Write an event: size, type and content. */
void jfr_write_event(struct jfr_writer *w, uint32_t type, const struct buf *content);

/* what JDK's readers print as "N/A" */
#define JFR_NO_INT 0x80000000u
#define JFR_NO_LONG (1ull << 63)

/* ---- write_meta.c ---- */

enum jfr_field_flags {
	JFR_POOL = 1 << 0,		/* the value is a number in the table of its type */
	JFR_ARRAY = 1 << 1,
	JFR_TICKS = 1 << 2,		/* a time */
	JFR_MILLIS = 1 << 3,		/* a time since 1970 */
	JFR_SPAN_TICKS = 1 << 4,
	JFR_SPAN_MILLIS = 1 << 5,
	JFR_SPAN_NANOS = 1 << 6,
	JFR_BYTES = 1 << 7,
	JFR_ADDRESS = 1 << 8,
	JFR_COUNT = 1 << 9,
};

struct jfr_desc_field {
	const char *name, *label;
	unsigned int type, flags;
};

/* The fields of an event are written in this order. */
struct jfr_desc {
	unsigned int id;
	const char *name, *label;
	const char *super;
	bool simple;			/* its only field is the value itself */
	const char *category[3];
	struct jfr_desc_field fields[11];
};

#define JFR_EVENT "jdk.jfr.Event"
#define JFR_FIELD_START { "startTime", "Start Time", JFR_LONG, JFR_TICKS }
#define JFR_FIELD_DURATION { "duration", "Duration", JFR_LONG, JFR_SPAN_TICKS }
#define JFR_FIELD_THREAD { "eventThread", "Event Thread", JFR_THREAD, JFR_POOL }
#define JFR_FIELD_STACK { "stackTrace", "Stack Trace", JFR_STACK_TRACE, JFR_POOL }

/*
 * A metric and the type of its events; those of a lock are of several. What jdk.ExecutionSample and
 * profiler.WallClockSample weigh is in events of JFR_WEIGHT and JFR_WALL_WEIGHT.
 */
struct jfr_metric {
	uint32_t type;			/* number */
	const char *name, *unit;	/* of the metric */
};

/* Append the content of the metadata event that follows its time and duration. */
void jfr_metadata(struct buf *b, const struct jfr_metric *metrics, unsigned int nr_metrics);

/* ---- write_pools.c ---- */

struct jfr_pools {
	const struct view *v;
	struct strtab symbols, names;	/* names: of threads and processes */
	struct strtab texts[JFR_TEXTS_END - JFR_TEXTS];
	struct map modules, packages, classes, named, methods;	/* key -> number, from 1 */
	struct jfr_module { uint32_t name, version, location; } *module_list;
	struct jfr_package { uint32_t name, module; } *package_list;
	struct jfr_class { uint32_t name, package; bool native; } *class_list;
	struct jfr_method { uint32_t class, name, descriptor, kind; } *method_list;
	size_t nr_module_list, alloc_module_list, nr_package_list, alloc_package_list;
	size_t nr_class_list, alloc_class_list, nr_method_list, alloc_method_list;
	struct jfr_place {		/* [consumer]; method 0: not needed yet */
		uint32_t method, line, bci;
		uint8_t type;		/* enum jfr_frame_type */
	} *places;
	struct map threads, groups;
	struct jfr_thread { uint32_t name, tid, group; bool java; } *thread_list;
	size_t nr_thread_list, alloc_thread_list;
	struct jfr_group { uint32_t name, pid, labels; } *group_list;
	size_t nr_group_list, alloc_group_list;
	uint32_t *thread_at;		/* [node]: number of its thread, 0: in none */
	bool *has_stack;		/* [node]: that an event refers to */
	struct buf text, escaped;
};

void jfr_pools_init(struct jfr_pools *p, const struct view *v);
void jfr_pools_release(struct jfr_pools *p);
/* Return the number of a node's stack in the file, for an event; 0 is nothing, as in the next functions. */
uint32_t jfr_stack(struct jfr_pools *p, uint32_t node);
/* Return the number of a process's thread with that tid; process is a consumer, or NULL. */
uint32_t jfr_thread(struct jfr_pools *p, const struct consumers *c, const struct consumer *process,
		    uint32_t tid, const char *name);
/*
 * Return the number of a class as Java writes it, "java.lang.String[]", or of a method,
 * "java.util.Map.get(Ljava/lang/Object;)...".
 */
uint32_t jfr_class(struct jfr_pools *p, const char *name);
uint32_t jfr_java_method(struct jfr_pools *p, const char *name);
/* Return the number of a text in the table of that type, from JFR_TEXTS on. */
uint32_t jfr_constant(struct jfr_pools *p, uint32_t type, const char *text);
/* Write the tables; after all events. */
void jfr_pools_write(struct jfr_pools *p, struct jfr_writer *w);

/*
 * ---- write_samples.c: samples of one metric each, in events of the JDK, of async-profiler or of our own
 * ----
 */

extern const struct jfr_desc jfr_sample_types[];	/* ends with a type without a name */
/* Return the type of a metric's events; 0: one of execution or, with *only_own set, its own. */
uint32_t jfr_sample_type(const char *metric, bool *only_own);
/* Append the content of an event of jfr_sample_type(); return its type. */
uint32_t jfr_put_sample(struct jfr_pools *p, uint32_t type, const struct flow_time *s, struct buf *b);

/* ---- write_jvm.c: events of JVMs and marks ---- */

extern const struct jfr_desc jfr_jvm_types[];		/* the same */
/* Write the events; with_exceptions: also thrown exceptions, which may be samples already. */
void jfr_write_jvm(struct jfr_writer *w, struct jfr_pools *p, const struct events *v, bool with_exceptions);
void jfr_write_labels(struct jfr_writer *w, struct jfr_pools *p, struct events *v);

#endif
