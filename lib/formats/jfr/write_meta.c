// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_meta.c - the description of types in a JFR file: a tree of elements with attributes, whose
 * strings are in a table before it.
 */
#include <string.h>

#include "base/mem.h"
#include "formats/jfr/write.h"

#define ANNOTATION "java.lang.annotation.Annotation"
#define VALUE { { "value", NULL, JFR_STRING, 0 } }
#define TEXT(name, label) .simple = true, .fields = { { (name), (label), JFR_STRING, 0 } }

/* The first fields of structs that converters read by position are those of the JDK. */
static const struct jfr_desc types[] = {
	{ JFR_BOOLEAN, "boolean" },
	{ JFR_SHORT, "short" },
	{ JFR_INT, "int" },
	{ JFR_LONG, "long" },
	{ JFR_STRING, "java.lang.String" },
	{ JFR_CLASS, "java.lang.Class", "Java Class", .fields = {
		{ "classLoader", "Class Loader", JFR_CLASS_LOADER, JFR_POOL },
		{ "name", "Name", JFR_SYMBOL, JFR_POOL },
		{ "package", "Package", JFR_PACKAGE, JFR_POOL },
		{ "modifiers", "Access Modifiers", JFR_INT, 0 } } },
	{ JFR_THREAD, "java.lang.Thread", "Thread", .fields = {
		{ "osName", "OS Thread Name", JFR_STRING, 0 },
		{ "osThreadId", "OS Thread Id", JFR_LONG, 0 },
		{ "javaName", "Java Thread Name", JFR_STRING, 0 },
		{ "javaThreadId", "Java Thread Id", JFR_LONG, 0 },
		{ "group", "Java Thread Group", JFR_THREAD_GROUP, JFR_POOL } } },
	{ JFR_THREAD_GROUP, "jdk.types.ThreadGroup", "Thread Group", .fields = {
		{ "parent", "Parent", JFR_THREAD_GROUP, JFR_POOL },
		{ "name", "Name", JFR_STRING, 0 },
		{ "processName", "Process Name", JFR_STRING, 0 },
		{ "pid", "Process Identifier", JFR_LONG, 0 } } },
	{ JFR_CLASS_LOADER, "jdk.types.ClassLoader", "Java Class Loader", .fields = {
		{ "type", "Type", JFR_CLASS, JFR_POOL },
		{ "name", "Name", JFR_SYMBOL, JFR_POOL } } },
	{ JFR_FRAME_TYPE, "jdk.types.FrameType", "Frame Type", .simple = true, .fields = {
		{ "description", "Description", JFR_STRING, 0 } } },
	{ JFR_THREAD_STATE, "jdk.types.ThreadState", "Java Thread State", .simple = true, .fields = {
		{ "name", "Name", JFR_STRING, 0 } } },
	{ JFR_STACK_TRACE, "jdk.types.StackTrace", "Stack Trace", .fields = {
		{ "truncated", "Truncated", JFR_BOOLEAN, 0 },
		{ "frames", "Stack Frames", JFR_STACK_FRAME, JFR_ARRAY } } },
	{ JFR_STACK_FRAME, "jdk.types.StackFrame", .fields = {
		{ "method", "Java Method", JFR_METHOD, JFR_POOL },
		{ "lineNumber", "Line Number", JFR_INT, 0 },
		{ "bytecodeIndex", "Bytecode Index", JFR_INT, 0 },
		{ "type", "Frame Type", JFR_FRAME_TYPE, JFR_POOL } } },
	{ JFR_METHOD, "jdk.types.Method", "Java Method", .fields = {
		{ "type", "Type", JFR_CLASS, JFR_POOL },
		{ "name", "Name", JFR_SYMBOL, JFR_POOL },
		{ "descriptor", "Descriptor", JFR_SYMBOL, JFR_POOL },
		{ "modifiers", "Access Modifiers", JFR_INT, 0 },
		{ "hidden", "Hidden", JFR_BOOLEAN, 0 } } },
	{ JFR_PACKAGE, "jdk.types.Package", "Package", .fields = {
		{ "name", "Name", JFR_SYMBOL, JFR_POOL },
		{ "module", "Module", JFR_MODULE, JFR_POOL } } },
	{ JFR_MODULE, "jdk.types.Module", "Module", .fields = {
		{ "name", "Name", JFR_SYMBOL, JFR_POOL },
		{ "version", "Version", JFR_SYMBOL, JFR_POOL },
		{ "location", "Location", JFR_SYMBOL, JFR_POOL } } },
	{ JFR_SYMBOL, "jdk.types.Symbol", "Symbol", .simple = true, .fields = {
		{ "string", "String", JFR_STRING, 0 } } },
	{ JFR_VIRTUAL_SPACE, "jdk.types.VirtualSpace", .fields = {
		{ "start", "Start Address", JFR_LONG, JFR_ADDRESS | JFR_COUNT },
		{ "committedEnd", "Committed End Address", JFR_LONG, JFR_ADDRESS | JFR_COUNT },
		{ "committedSize", "Committed Size", JFR_LONG, JFR_BYTES | JFR_COUNT },
		{ "reservedEnd", "Reserved End Address", JFR_LONG, JFR_ADDRESS | JFR_COUNT },
		{ "reservedSize", "Reserved Size", JFR_LONG, JFR_BYTES | JFR_COUNT } } },
	{ JFR_GC_NAME, "jdk.types.GCName", "GC Name", TEXT("name", "Name") },
	{ JFR_GC_CAUSE, "jdk.types.GCCause", "GC Cause", TEXT("cause", "Cause") },
	{ JFR_GC_WHEN, "jdk.types.GCWhen", "GC When", TEXT("when", "When") },
	{ JFR_VM_OPERATION, "jdk.types.VMOperationType", "VM Operation Type", TEXT("type", "Type") },
	{ JFR_COMPILER, "jdk.types.CompilerType", "Compiler Type", TEXT("compiler", "Compiler") },
	{ JFR_DEOPT_REASON, "jdk.types.DeoptimizationReason", "Deoptimization Reason", TEXT("reason", "Reason") },
	{ JFR_DEOPT_ACTION, "jdk.types.DeoptimizationAction", "Deoptimization Action", TEXT("action", "Action") },
	{ JFR_ACTIVE_RECORDING, "jdk.ActiveRecording", "Recording", JFR_EVENT,
	  .category = { "Flight Recorder" }, .fields = {
		JFR_FIELD_START,
		{ "id", "Id", JFR_LONG, 0 },
		{ "name", "Name", JFR_STRING, 0 },
		{ "recordingStart", "Start Time", JFR_LONG, JFR_MILLIS },
		{ "recordingDuration", "Recording Duration", JFR_LONG, JFR_SPAN_MILLIS } } },
	{ JFR_ACTIVE_SETTING, "jdk.ActiveSetting", "Recording Setting", JFR_EVENT,
	  .category = { "Flight Recorder" }, .fields = {
		JFR_FIELD_START,
		{ "id", "Event Id", JFR_LONG, 0 },
		{ "name", "Setting Name", JFR_STRING, 0 },
		{ "value", "Setting Value", JFR_STRING, 0 } } },
	{ JFR_CPU_INFORMATION, "jdk.CPUInformation", "CPU Information", JFR_EVENT,
	  .category = { "Operating System", "Processor" }, .fields = {
		JFR_FIELD_START,
		{ "cpu", "Type", JFR_STRING, 0 },
		{ "hwThreads", "Hardware Threads", JFR_INT, JFR_COUNT } } },
	{ JFR_LABEL, "jdk.jfr.Label", NULL, ANNOTATION, .fields = VALUE },
	{ JFR_CATEGORY, "jdk.jfr.Category", NULL, ANNOTATION, .fields = {
		{ "value", NULL, JFR_STRING, JFR_ARRAY } } },
	{ JFR_CONTENT_TYPE, "jdk.jfr.ContentType", "Content Type", ANNOTATION },
	{ JFR_TIMESTAMP, "jdk.jfr.Timestamp", "Timestamp", ANNOTATION, .fields = VALUE },
	{ JFR_TIMESPAN, "jdk.jfr.Timespan", "Timespan", ANNOTATION, .fields = VALUE },
	{ JFR_DATA_AMOUNT, "jdk.jfr.DataAmount", "Data Amount", ANNOTATION, .fields = VALUE },
	{ JFR_MEMORY_ADDRESS, "jdk.jfr.MemoryAddress", "Memory Address", ANNOTATION },
	{ JFR_UNSIGNED, "jdk.jfr.Unsigned", "Unsigned Value", ANNOTATION },
	{ 0 }
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

/* Write an element; its nr_children follow. */
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
	if (category[1] && category[2])
		attribute(&x, "value-2", category[2]);
	put_element(m, &x, 0);
}

static void put_field(struct meta *m, const struct jfr_desc_field *f)
{
	static const struct { unsigned int flag, annotation; const char *value; } contents[] = {
		{ JFR_TICKS, JFR_TIMESTAMP, "TICKS" },
		{ JFR_MILLIS, JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH" },
		{ JFR_SPAN_TICKS, JFR_TIMESPAN, "TICKS" },
		{ JFR_SPAN_MILLIS, JFR_TIMESPAN, "MILLISECONDS" },
		{ JFR_SPAN_NANOS, JFR_TIMESPAN, "NANOSECONDS" },
		{ JFR_BYTES, JFR_DATA_AMOUNT, "BYTES" },
		{ JFR_ADDRESS, JFR_MEMORY_ADDRESS, NULL },
		{ JFR_COUNT, JFR_UNSIGNED, NULL },
	};
	struct element x = { "field" };
	unsigned int i, nr = !!f->label;

	attribute(&x, "name", f->name);
	attribute_id(&x, "class", f->type);
	if (f->flags & JFR_POOL)
		attribute(&x, "constantPool", "true");
	if (f->flags & JFR_ARRAY)
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

static void put_type(struct meta *m, const struct jfr_desc *t)
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

/* Write a type for weights, where readers know the events by their layout. */
static void put_weight(struct meta *m, unsigned int id, const char *name, const struct jfr_desc_field *weight)
{
	put_type(m, &(struct jfr_desc){ id, name, "Weight of Samples that Follow", JFR_EVENT,
		.category = { "arcprof" }, .fields = { JFR_FIELD_START, *weight } });
}

/* "arcprof.cache_misses" */
static void put_own_type(struct meta *m, const struct jfr_metric *k, const struct jfr_desc_field *weight)
{
	struct buf name = BUF_INIT;
	const char *c;

	buf_str(&name, "arcprof.");
	for (c = k->name; *c; c++)
		buf_putc(&name, (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			 (*c >= '0' && *c <= '9' && c > k->name) ? *c : '_');
	put_type(m, &(struct jfr_desc){ k->type, name.data, k->name, JFR_EVENT, .category = { "arcprof" },
		.fields = { JFR_FIELD_START, JFR_FIELD_THREAD, JFR_FIELD_STACK, *weight } });
	buf_release(&name);
}

/*
 * Write the type of a metric. The label of a weight is the metric's name; no metric's own type has the name
 * of a type of weights.
 */
static void put_metric(struct meta *m, const struct jfr_metric *k)
{
	unsigned int unit = !strcmp(k->unit, "ns") ? JFR_SPAN_NANOS :
			    !strcmp(k->unit, "bytes") ? JFR_BYTES : JFR_COUNT;
	const struct jfr_desc_field weight = { "weight", k->name, JFR_LONG, unit };

	if (k->type == JFR_EXECUTION_SAMPLE)
		put_weight(m, JFR_WEIGHT, "arcprof.sample.Weight", &weight);
	else if (k->type == JFR_WALL_CLOCK)
		put_weight(m, JFR_WALL_WEIGHT, "arcprof.wall.Weight", &weight);
	else if (k->type >= JFR_SAMPLE && k->type < JFR_LABEL)
		put_own_type(m, k, &weight);
}

static bool is_described(const struct jfr_metric *k)
{
	return k->type == JFR_EXECUTION_SAMPLE || k->type == JFR_WALL_CLOCK ||
	       (k->type >= JFR_SAMPLE && k->type < JFR_LABEL);
}

/* Types without events, as a query of "jfr view" that names one fails if it is not there. */
static const struct { const char *name, *label; struct jfr_desc_field field; } unused[] = {
	{ "jdk.JavaErrorThrow", "Java Error", { "message", "Message", JFR_STRING, 0 } },
	{ "jdk.GCPhaseConcurrentLevel1", "GC Phase Concurrent Level 1", { "name", "Name", JFR_STRING, 0 } },
	{ "jdk.GCPhasePauseLevel1", "GC Phase Pause Level 1", { "name", "Name", JFR_STRING, 0 } },
	{ "jdk.GCPhasePauseLevel2", "GC Phase Pause Level 2", { "name", "Name", JFR_STRING, 0 } },
	{ "jdk.GCPhasePauseLevel3", "GC Phase Pause Level 3", { "name", "Name", JFR_STRING, 0 } },
	{ "jdk.GCPhasePauseLevel4", "GC Phase Pause Level 4", { "name", "Name", JFR_STRING, 0 } },
	{ "jdk.ThreadSleep", "Java Thread Sleep", { "time", "Sleep Time", JFR_LONG, JFR_SPAN_NANOS } },
	{ "jdk.SocketRead", "Socket Read", { "host", "Host", JFR_STRING, 0 } },
	{ "jdk.SocketWrite", "Socket Write", { "host", "Host", JFR_STRING, 0 } },
	{ "jdk.FileRead", "File Read", { "path", "Path", JFR_STRING, 0 } },
	{ "jdk.FileWrite", "File Write", { "path", "Path", JFR_STRING, 0 } },
};

static void put_unused(struct meta *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unused); i++)
		put_type(m, &(struct jfr_desc){ JFR_UNUSED + i, unused[i].name, unused[i].label, JFR_EVENT,
			.category = { "Java Application" }, .fields = {
				JFR_FIELD_START, JFR_FIELD_DURATION, JFR_FIELD_THREAD, JFR_FIELD_STACK,
				unused[i].field, { "thrownClass", "Class", JFR_CLASS, JFR_POOL } } });
}

/* Write all types of the JDK, even without events: so "jfr view" reports that there are none. */
static unsigned int put_types(struct meta *m, const struct jfr_desc *list)
{
	unsigned int nr;

	for (nr = 0; list[nr].name; nr++)
		if (m)
			put_type(m, &list[nr]);
	return nr;
}

void jfr_metadata(struct buf *b, const struct jfr_metric *metrics, unsigned int nr_metrics)
{
	struct element root = { "root" }, all = { "metadata" }, region = { "region" };
	unsigned int nr = put_types(NULL, types) + put_types(NULL, jfr_sample_types) +
			  put_types(NULL, jfr_jvm_types) + ARRAY_SIZE(unused);
	struct meta m = { .body = BUF_INIT };
	size_t i;

	for (i = 0; i < nr_metrics; i++)
		nr += is_described(&metrics[i]);
	strtab_init(&m.strings);
	put_element(&m, &root, 2);
	put_element(&m, &all, nr);
	put_types(&m, types);
	put_types(&m, jfr_sample_types);
	put_types(&m, jfr_jvm_types);
	put_unused(&m);
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
