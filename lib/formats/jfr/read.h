/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - a recording of Java Flight Recorder: between read.c, which reads its chunks and samples,
 * read_events.c, which has all other events, read_types.c, which reads how they are described, and
 * read_tables.c, which finds what they refer to.
 *
 * Documentation/technical/jfr.adoc describes the format and where that is from.  Structs are read by their
 * description: a field is found by its name (its slot), and one that nobody asks for is skipped.
 */
#ifndef FORMATS_JFR_READ_H
#define FORMATS_JFR_READ_H

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "formats/sink.h"

/* The fields that are read, by name: read_types.c. */
enum jfr_slot {
	JFR_OTHER,
	JFR_START, JFR_DURATION, JFR_THREAD, JFR_STACK, JFR_OBJECT_CLASS, JFR_WEIGHT, JFR_TLAB_SIZE,
	JFR_STATE, JFR_SAMPLES, JFR_MALLOC_SIZE, JFR_LOST_SAMPLES, JFR_LOST_BYTES,
	JFR_ID, JFR_NAME, JFR_VALUE, JFR_PID, JFR_ARGUMENTS,
	JFR_TYPE, JFR_DESCRIPTOR, JFR_MODIFIERS, JFR_PACKAGE, JFR_MODULE, JFR_LOCATION,
	JFR_TRUNCATED, JFR_FRAMES, JFR_METHOD, JFR_LINE,
	JFR_OS_NAME, JFR_OS_ID, JFR_JAVA_NAME, JFR_JAVA_ID, JFR_GROUP, JFR_PROCESS_NAME,
	JFR_NR_SLOTS
};

enum jfr_kind { JFR_STRUCT, JFR_BYTE, JFR_SHORT, JFR_INT, JFR_LONG, JFR_RAW4, JFR_RAW8, JFR_STRING };

enum jfr_weights { JFR_SAMPLE_WEIGHTS, JFR_WALL_WEIGHTS, JFR_NR_WEIGHTS };

enum jfr_unit { JFR_NO_UNIT, JFR_TICKS, JFR_NS, JFR_US, JFR_MS, JFR_S, JFR_BYTES };

struct jfr_field {
	uint64_t type_id;
	uint32_t type;			/* index in types */
	uint8_t slot, unit;
	bool pool, array;		/* a number in the table of its type; several */
	bool is_unsigned;
	struct import_text name, label;
};

struct jfr_type {
	uint64_t id;
	struct import_text name;
	uint8_t kind;			/* enum jfr_kind */
	bool has_table;			/* its table is needed */
	uint32_t first_field, nr_fields;
	bool has_stack;			/* its events can have one */
	bool has_labels;		/* jfr_is_label() of a field */
	bool is_listed;			/* its events are those of read_events.c */
	uint32_t source;		/* of its events: index in sources, from 1; 0: none yet */
	struct map table;		/* number -> index in places */
};

/* how much may still be made of the file's bytes; real files stay far below */
struct jfr_limits {
	uint64_t frames, text_bytes;
	bool exceeded;
};

/* a chunk, and all that was allocated for it */
struct jfr_chunk {
	const uint8_t *data;		/* of the chunk, with its header */
	size_t len;
	uint64_t tables_at, types_at;	/* offsets */
	uint64_t start_ns, duration_ns, start_ticks, ticks_per_s;
	bool compressed;
	bool is_open;			/* the JVM had not ended it */
	struct jfr_type *types;
	size_t nr_types, alloc_types;
	/* of arcprof's events that say what samples weigh: of execution, of wall-clock time; NULL: none */
	const struct jfr_type *weights[JFR_NR_WEIGHTS];
	struct jfr_field *fields;
	size_t nr_fields, alloc_fields;
	struct map type_of;		/* id -> index in types */
	struct map strings;		/* the table of strings */
	const uint8_t **places;		/* of constants */
	size_t nr_places, alloc_places;
	struct map functions, threads;	/* what was looked up */
	struct map names;		/* the same of jfr_name_of(): index in name_list */
	struct import_text *name_list;
	size_t nr_name_list, alloc_name_list;
	struct arena text;
	struct jfr_limits *left;
	struct buf name, part;		/* scratch */
};

struct jfr_value {
	uint64_t num;			/* an integer, or a number in a table */
	const uint8_t *at;		/* where it begins */
	const struct jfr_field *field;
};

/* the slots of a struct */
struct jfr_values {
	uint64_t has;			/* bits */
	struct jfr_value v[JFR_NR_SLOTS];
};

static inline bool jfr_has(const struct jfr_values *v, enum jfr_slot slot)
{
	return v->has >> slot & 1;
}

/* 0 if there is no such field. */
static inline uint64_t jfr_num(const struct jfr_values *v, enum jfr_slot slot)
{
	return jfr_has(v, slot) ? v->v[slot].num : 0;
}

static inline bool jfr_is(const struct import_text *t, const char *s)
{
	return t->len == strlen(s) && !memcmp(t->s, s, t->len);
}

void jfr_chunk_release(struct jfr_chunk *c);

/* Read an integer: compressed, or of that many bytes. */
uint64_t jfr_integer(const struct jfr_chunk *c, struct span *s, int nr_bytes);
/* Read the struct; s->bad: it is truncated. */
void jfr_read_struct(const struct jfr_chunk *c, struct span *s, const struct jfr_type *t,
		     struct jfr_values *v);
/* Skip a value. */
void jfr_skip(const struct jfr_chunk *c, struct span *s, const struct jfr_field *f);
/* Read a string; those in the table of strings only after jfr_read_tables(). "" for null. */
struct import_text jfr_string(struct jfr_chunk *c, struct span *s);

/* Read the types. -EINVAL: the description is damaged. */
int jfr_read_types(struct jfr_chunk *c, struct err *e);
/* Read the tables. -EINVAL: they are damaged. */
int jfr_read_tables(struct jfr_chunk *c, struct err *e);

/* Read what the value refers to; return false if it is missing. */
bool jfr_lookup(const struct jfr_chunk *c, const struct jfr_values *v, enum jfr_slot slot,
		struct jfr_values *out);
/* Return the text of a string, or of a struct that has only one; "" if it is missing. */
struct import_text jfr_text(struct jfr_chunk *c, const struct jfr_values *v, enum jfr_slot slot);

/* Convert a duration from the unit of its field to ns. */
uint64_t jfr_span_ns(const struct jfr_chunk *c, const struct jfr_field *f, uint64_t v);

/* ---- read_names.c: what events refer to, converted for the trace ---- */

/* Frames, outermost first. */
struct jfr_stack {
	struct frame *frames;
	size_t nr_frames, alloc_frames;
	bool waits;			/* the thread did not run */
};

/*
 * Read the stack. The innermost frame is the class that the event names, if any, or the state of a thread
 * that did not run: "[sleeping]".
 */
void jfr_read_stack(struct jfr_chunk *c, struct import *im, const struct jfr_values *event,
		    struct jfr_stack *out);
/*
 * Return the name of the entry at at, with that number in its table: a class, a method, a thread, a text; or
 * "".
 */
struct import_text jfr_name_of(struct jfr_chunk *c, const struct jfr_field *f, const uint8_t *at,
			       uint64_t number);
/* Return the event's thread, 0 if it has none; proc: for threads without a process. */
uint32_t jfr_read_thread(struct jfr_chunk *c, struct import *im, uint32_t proc,
			 const struct jfr_values *event);

/* ---- read_events.c ---- */

struct jfr_events;

struct jfr_events *jfr_events_new(void);
void jfr_events_free(struct jfr_events *x);
/* Count an event in the first pass, before the events that it tells something about. s: after its type. */
void jfr_count_event(struct jfr_events *x, struct jfr_chunk *c, const struct jfr_type *t, struct span s);
/*
 * Return whether the field is a label of a sample: a text, or the number of something open, such as a span.
 */
bool jfr_is_label(const struct jfr_chunk *c, const struct jfr_field *f);
/* Add the labels of a sample. s: after its type. */
void jfr_read_labels(struct jfr_chunk *c, struct import *im, const struct jfr_type *t, struct span s,
		     struct buf *labels);
/* Write an event. r has its times, thread and process; the rest of r is scratch. */
void jfr_list_event(struct jfr_events *x, struct jfr_chunk *c, struct import *im, const struct jfr_type *t,
		     struct span s, struct rec_event *r);
/* Says which there were. */
void jfr_events_end(const struct jfr_events *x, struct import *im);

#endif
