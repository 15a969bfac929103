// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_meta.c - the description of types in a JFR file: a tree of elements with attributes, whose
 * strings are in a table before it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jfr/write.h"

enum field_flags {
	POOL = 1 << 0,		/* the value is a number in the table of its type */
	ARRAY = 1 << 1,
	TICKS = 1 << 2,		/* a time */
	MILLIS = 1 << 3,	/* a time since 1970 */
	SPAN_MILLIS = 1 << 4,
	SPAN_NANOS = 1 << 5,
	BYTES = 1 << 6,
	COUNT = 1 << 7,
};

struct field {
	const char *name, *label;
	unsigned int type, flags;
};

struct type {
	unsigned int id;
	const char *name, *label;
	const char *super;
	bool simple;		/* its only field is the value itself */
	const char *category[2];
	struct field fields[9];
};

#define EVENT "jdk.jfr.Event"
#define ANNOTATION "java.lang.annotation.Annotation"
#define START { "startTime", "Start Time", JFR_LONG, TICKS }
#define STACK { "stackTrace", "Stack Trace", JFR_STACK_TRACE, POOL }
#define VALUE { { "value", NULL, JFR_STRING, 0 } }

/* In structs that converters read without asking for names the first fields are those of the JDK. */
static const struct type types[] = {
	{ JFR_BOOLEAN, "boolean" },
	{ JFR_INT, "int" },
	{ JFR_LONG, "long" },
	{ JFR_STRING, "java.lang.String" },
	{ JFR_CLASS, "java.lang.Class", "Java Class", .fields = {
		{ "classLoader", "Class Loader", JFR_CLASS_LOADER, POOL },
		{ "name", "Name", JFR_SYMBOL, POOL },
		{ "package", "Package", JFR_PACKAGE, POOL },
		{ "modifiers", "Access Modifiers", JFR_INT, 0 } } },
	{ JFR_THREAD, "java.lang.Thread", "Thread", .fields = {
		{ "osName", "OS Thread Name", JFR_STRING, 0 },
		{ "osThreadId", "OS Thread Id", JFR_LONG, 0 },
		{ "javaName", "Java Thread Name", JFR_STRING, 0 },
		{ "javaThreadId", "Java Thread Id", JFR_LONG, 0 },
		{ "group", "Java Thread Group", JFR_THREAD_GROUP, POOL } } },
	{ JFR_THREAD_GROUP, "jdk.types.ThreadGroup", "Thread Group", .fields = {
		{ "parent", "Parent", JFR_THREAD_GROUP, POOL },
		{ "name", "Name", JFR_STRING, 0 },
		{ "processName", "Process Name", JFR_STRING, 0 },
		{ "pid", "Process Identifier", JFR_LONG, 0 } } },
	{ JFR_CLASS_LOADER, "jdk.types.ClassLoader", "Java Class Loader", .fields = {
		{ "type", "Type", JFR_CLASS, POOL },
		{ "name", "Name", JFR_SYMBOL, POOL } } },
	{ JFR_FRAME_TYPE, "jdk.types.FrameType", "Frame Type", .simple = true, .fields = {
		{ "description", "Description", JFR_STRING, 0 } } },
	{ JFR_THREAD_STATE, "jdk.types.ThreadState", "Java Thread State", .simple = true, .fields = {
		{ "name", "Name", JFR_STRING, 0 } } },
	{ JFR_STACK_TRACE, "jdk.types.StackTrace", "Stack Trace", .fields = {
		{ "truncated", "Truncated", JFR_BOOLEAN, 0 },
		{ "frames", "Stack Frames", JFR_STACK_FRAME, ARRAY } } },
	{ JFR_STACK_FRAME, "jdk.types.StackFrame", .fields = {
		{ "method", "Java Method", JFR_METHOD, POOL },
		{ "lineNumber", "Line Number", JFR_INT, 0 },
		{ "bytecodeIndex", "Bytecode Index", JFR_INT, 0 },
		{ "type", "Frame Type", JFR_FRAME_TYPE, POOL } } },
	{ JFR_METHOD, "jdk.types.Method", "Java Method", .fields = {
		{ "type", "Type", JFR_CLASS, POOL },
		{ "name", "Name", JFR_SYMBOL, POOL },
		{ "descriptor", "Descriptor", JFR_SYMBOL, POOL },
		{ "modifiers", "Access Modifiers", JFR_INT, 0 },
		{ "hidden", "Hidden", JFR_BOOLEAN, 0 } } },
	{ JFR_PACKAGE, "jdk.types.Package", "Package", .fields = {
		{ "name", "Name", JFR_SYMBOL, POOL },
		{ "module", "Module", JFR_MODULE, POOL } } },
	{ JFR_MODULE, "jdk.types.Module", "Module", .fields = {
		{ "name", "Name", JFR_SYMBOL, POOL },
		{ "version", "Version", JFR_SYMBOL, POOL },
		{ "location", "Location", JFR_SYMBOL, POOL } } },
	{ JFR_SYMBOL, "jdk.types.Symbol", "Symbol", .simple = true, .fields = {
		{ "string", "String", JFR_STRING, 0 } } },
	{ JFR_ACTIVE_RECORDING, "jdk.ActiveRecording", "Recording", EVENT,
	  .category = { "Flight Recorder" }, .fields = {
		START,
		{ "id", "Id", JFR_LONG, 0 },
		{ "name", "Name", JFR_STRING, 0 },
		{ "recordingStart", "Start Time", JFR_LONG, MILLIS },
		{ "recordingDuration", "Recording Duration", JFR_LONG, SPAN_MILLIS } } },
	{ JFR_ACTIVE_SETTING, "jdk.ActiveSetting", "Recording Setting", EVENT,
	  .category = { "Flight Recorder" }, .fields = {
		START,
		{ "id", "Event Id", JFR_LONG, 0 },
		{ "name", "Setting Name", JFR_STRING, 0 },
		{ "value", "Setting Value", JFR_STRING, 0 } } },
	{ JFR_CPU_INFORMATION, "jdk.CPUInformation", "CPU Information", EVENT,
	  .category = { "Operating System", "Processor" }, .fields = {
		START,
		{ "cpu", "Type", JFR_STRING, 0 },
		{ "hwThreads", "Hardware Threads", JFR_INT, COUNT } } },
	{ JFR_LABEL, "jdk.jfr.Label", NULL, ANNOTATION, .fields = VALUE },
	{ JFR_CATEGORY, "jdk.jfr.Category", NULL, ANNOTATION, .fields = {
		{ "value", NULL, JFR_STRING, ARRAY } } },
	{ JFR_CONTENT_TYPE, "jdk.jfr.ContentType", "Content Type", ANNOTATION },
	{ JFR_TIMESTAMP, "jdk.jfr.Timestamp", "Timestamp", ANNOTATION, .fields = VALUE },
	{ JFR_TIMESPAN, "jdk.jfr.Timespan", "Timespan", ANNOTATION, .fields = VALUE },
	{ JFR_DATA_AMOUNT, "jdk.jfr.DataAmount", "Data Amount", ANNOTATION, .fields = VALUE },
	{ JFR_UNSIGNED, "jdk.jfr.Unsigned", "Unsigned Value", ANNOTATION },
};

struct element {
	const char *name;
	struct attribute { char *key, *value; } list[5];
	unsigned int nr;
};

struct meta {
	struct strtab strings;	/* 0 is the empty one, there as here */
	struct buf body;
};

static void attribute(struct element *x, const char *key, const char *value)
{
	x->list[x->nr++] = (struct attribute){ xstrdup(key), xstrdup(value) };
}

static void attribute_id(struct element *x, const char *key, unsigned int id)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id);
	attribute(x, key, text);
}

/* Its nr_children follow. */
static void put_element(struct meta *m, struct element *x, unsigned int nr_children)
{
	unsigned int i;

	jfr_put(&m->body, strtab_adds(&m->strings, x->name));
	jfr_put(&m->body, x->nr);
	for (i = 0; i < x->nr; i++) {
		jfr_put(&m->body, strtab_adds(&m->strings, x->list[i].key));
		jfr_put(&m->body, strtab_adds(&m->strings, x->list[i].value));
		free(x->list[i].key);
		free(x->list[i].value);
	}
	jfr_put(&m->body, nr_children);
}

static void put_annotation(struct meta *m, unsigned int id, const char *value)
{
	struct element x = { "annotation" };

	attribute_id(&x, "class", id);
	if (value)
		attribute(&x, "value", value);
	put_element(m, &x, 0);
}

static void put_category(struct meta *m, const char *const *category)
{
	struct element x = { "annotation" };

	attribute_id(&x, "class", JFR_CATEGORY);
	attribute(&x, "value-0", category[0]);
	if (category[1])
		attribute(&x, "value-1", category[1]);
	put_element(m, &x, 0);
}

static void put_field(struct meta *m, const struct field *f)
{
	static const struct { unsigned int flag, annotation; const char *value; } contents[] = {
		{ TICKS, JFR_TIMESTAMP, "TICKS" },
		{ MILLIS, JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH" },
		{ SPAN_MILLIS, JFR_TIMESPAN, "MILLISECONDS" },
		{ SPAN_NANOS, JFR_TIMESPAN, "NANOSECONDS" },
		{ BYTES, JFR_DATA_AMOUNT, "BYTES" },
		{ COUNT, JFR_UNSIGNED, NULL },
	};
	struct element x = { "field" };
	unsigned int i, nr = !!f->label;

	attribute(&x, "name", f->name);
	attribute_id(&x, "class", f->type);
	if (f->flags & POOL)
		attribute(&x, "constantPool", "true");
	if (f->flags & ARRAY)
		attribute(&x, "dimension", "1");
	for (i = 0; i < ARRAY_SIZE(contents); i++)
		nr += !!(f->flags & contents[i].flag);
	put_element(m, &x, nr);
	if (f->label)
		put_annotation(m, JFR_LABEL, f->label);
	for (i = 0; i < ARRAY_SIZE(contents); i++)
		if (f->flags & contents[i].flag)
			put_annotation(m, contents[i].annotation, contents[i].value);
}

static void put_type(struct meta *m, const struct type *t)
{
	bool content = t->id >= JFR_TIMESTAMP && t->id <= JFR_UNSIGNED;
	struct element x = { "class" };
	unsigned int i, nr_fields = 0;

	while (nr_fields < ARRAY_SIZE(t->fields) && t->fields[nr_fields].name)
		nr_fields++;
	attribute(&x, "name", t->name);
	attribute_id(&x, "id", t->id);
	if (t->super)
		attribute(&x, "superType", t->super);
	if (t->simple)
		attribute(&x, "simpleType", "true");
	put_element(m, &x, nr_fields + !!t->label + !!t->category[0] + content);
	if (t->label)
		put_annotation(m, JFR_LABEL, t->label);
	if (t->category[0])
		put_category(m, t->category);
	if (content)
		put_annotation(m, JFR_CONTENT_TYPE, NULL);
	for (i = 0; i < nr_fields; i++)
		put_field(m, &t->fields[i]);
}

/*
 * jdk.ExecutionSample of the first metric of execution, "arcprof.cache_misses" of others.  The former has the
 * JVM's fields and no other, which converters rely on: what its events weigh is in a type that no metric is
 * called like.  The label of a weight is the metric's name.
 */
static void put_metric(struct meta *m, const struct jfr_metric *k)
{
	bool first = k->type == JFR_EXECUTION_SAMPLE;
	unsigned int unit = !strcmp(k->unit, "ns") ? SPAN_NANOS : !strcmp(k->unit, "bytes") ? BYTES : COUNT;
	const struct field weight = { "weight", k->name, JFR_LONG, unit };
	struct type t = { k->type, "jdk.ExecutionSample", "Method Profiling Sample", EVENT,
		.category = { "Java Virtual Machine", "Profiling" }, .fields = {
			START,
			{ "sampledThread", "Thread", JFR_THREAD, POOL },
			STACK,
			{ "state", "Thread State", JFR_THREAD_STATE, POOL } } };
	struct buf name = BUF_INIT;
	const char *c;

	if (!first) {
		buf_str(&name, "arcprof.");
		for (c = k->name; *c; c++)
			buf_putc(&name, (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
				 (*c >= '0' && *c <= '9' && c > k->name) ? *c : '_');
		t = (struct type){ k->type, name.data, k->name, EVENT, .category = { "arcprof" }, .fields = {
			START, { "eventThread", "Thread", JFR_THREAD, POOL }, STACK, weight } };
	}
	put_type(m, &t);
	if (first)
		put_type(m, &(struct type){ JFR_WEIGHT, "arcprof.sample.Weight", "Weight of Samples that Follow", EVENT,
			.category = { "arcprof" }, .fields = { START, weight } });
	buf_release(&name);
}

static unsigned int nr_types(const struct jfr_metric *metrics, unsigned int nr_metrics)
{
	unsigned int nr = ARRAY_SIZE(types) + nr_metrics, i;

	for (i = 0; i < nr_metrics; i++)
		nr += metrics[i].type == JFR_EXECUTION_SAMPLE;
	return nr;
}

void jfr_metadata(struct buf *b, const struct jfr_metric *metrics, unsigned int nr_metrics)
{
	struct element root = { "root" }, all = { "metadata" }, region = { "region" };
	struct meta m = { .body = BUF_INIT };
	size_t i;

	strtab_init(&m.strings);
	put_element(&m, &root, 2);
	put_element(&m, &all, nr_types(metrics, nr_metrics));
	for (i = 0; i < ARRAY_SIZE(types); i++)
		put_type(&m, &types[i]);
	for (i = 0; i < nr_metrics; i++)
		put_metric(&m, &metrics[i]);
	attribute(&region, "locale", "en_US");
	attribute(&region, "gmtOffset", "0");
	put_element(&m, &region, 0);
	jfr_put(b, 1);		/* the number of this description */
	jfr_put(b, m.strings.nr_entries);
	for (i = 0; i < m.strings.nr_entries; i++)
		jfr_put_text(b, m.strings.entries[i].s);
	buf_add(b, m.body.data, m.body.len);
	strtab_release(&m.strings);
	buf_release(&m.body);
}
