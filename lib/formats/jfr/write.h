/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.h - a file of Java Flight Recorder: between write.c, which writes its events, write_meta.c, which
 * describes them, and write_pools.c, which writes the tables that they refer to.
 *
 * Source of the format: OpenJDK's readers (jdk.jfr.internal.consumer.ChunkHeader, ChunkParser,
 * StringParser, jdk.jfr.internal.MetadataReader) and writers (jfrChunkWriter.cpp), and what
 * async-profiler writes for native code.  Documentation/technical/jfr.adoc has it in words.
 */
#ifndef FORMATS_JFR_WRITE_H
#define FORMATS_JFR_WRITE_H

#include "base/hash.h"
#include "report/report.h"

/* Numbers of types.  The file defines all but the first two: others than these would do as well. */
enum jfr_type_id {
	JFR_METADATA = 0,
	JFR_CHECKPOINT = 1,
	JFR_BOOLEAN = 4, JFR_INT, JFR_LONG,
	JFR_STRING = 20, JFR_CLASS, JFR_THREAD, JFR_CLASS_LOADER, JFR_FRAME_TYPE, JFR_THREAD_STATE,
	JFR_STACK_TRACE, JFR_STACK_FRAME, JFR_METHOD, JFR_PACKAGE, JFR_MODULE, JFR_SYMBOL, JFR_THREAD_GROUP,
	JFR_ACTIVE_RECORDING = 100, JFR_ACTIVE_SETTING, JFR_CPU_INFORMATION, JFR_EXECUTION_SAMPLE, JFR_WEIGHT,
	JFR_SAMPLE = 110,		/* and on: of further metrics */
	JFR_LABEL = 200, JFR_CATEGORY, JFR_CONTENT_TYPE, JFR_TIMESTAMP, JFR_TIMESPAN, JFR_DATA_AMOUNT,
	JFR_UNSIGNED,
};

enum { JFR_HEADER_SIZE = 68, JFR_STATE_RUNNABLE = 1 };

/* Frame types: numbers and names are the JDK's, then async-profiler's; converters know them by number. */
#define JFR_FRAME_TYPES { "Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled" }
enum jfr_frame_type {
	JFR_FRAME_INTERPRETED, JFR_FRAME_COMPILED, JFR_FRAME_INLINED, JFR_FRAME_NATIVE, JFR_FRAME_CPP,
	JFR_FRAME_KERNEL, JFR_FRAME_C1,
};

/* What there is no frame type for, in bits of a method's modifiers that Java has no use for. */
enum jfr_function_kind {
	JFR_KIND_OF_FRAME, JFR_KIND_JAVA, JFR_KIND_STUB, JFR_KIND_UNRESOLVED, JFR_KIND_FOLDED, JFR_KIND_MARK,
};
enum { JFR_KIND_SHIFT = 16, JFR_KIND_BITS = 3 };

struct jfr_writer {
	FILE *out;			/* NULL: only the length is wanted */
	uint64_t len;
	uint64_t checkpoint;		/* where the last one begins; 0: none */
	uint64_t start_ticks;
	struct buf event;		/* scratch */
};

/* A long as the file has it: LEB128, but a ninth byte has eight bits. */
void jfr_put(struct buf *b, uint64_t v);
void jfr_put_text(struct buf *b, const char *s);	/* NULL is null */
/* Size, type and content. */
void jfr_write_event(struct jfr_writer *w, uint32_t type, const struct buf *content);

/* ---- write_meta.c ---- */

/*
 * The type of events of a metric: the first one of execution has those of the JVM's sampler, and what they
 * weigh is in events of JFR_WEIGHT.
 */
struct jfr_metric {
	uint32_t type;			/* number */
	const char *name, *unit;	/* of the metric */
};

/* The content of the metadata event after its time and duration. */
void jfr_metadata(struct buf *b, const struct jfr_metric *metrics, unsigned int nr_metrics);

/* ---- write_pools.c ---- */

struct jfr_pools {
	const struct view *v;
	struct strtab symbols;
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
	struct jfr_thread { uint32_t process, thread; bool java; } *thread_list;
	size_t nr_thread_list, alloc_thread_list;
	uint32_t *group_list;		/* consumer of the process */
	size_t nr_group_list, alloc_group_list;
	uint32_t *thread_at;		/* [node]: number of its thread, 0: in none */
	bool *has_sample;		/* [node] */
	struct buf text, escaped;
};

/* v->m->times says which nodes have samples. */
void jfr_pools_init(struct jfr_pools *p, const struct view *v);
void jfr_pools_release(struct jfr_pools *p);
/* The stack of a node with samples: 0 if it has none. */
uint32_t jfr_stack(const struct jfr_pools *p, uint32_t node);
void jfr_pools_write(struct jfr_pools *p, struct jfr_writer *w);

#endif
