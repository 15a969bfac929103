/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - what happened in time (struct rec_event): collections, safepoints, compilations, classes,
 * exceptions, threads. What the members of an event mean is a row of event_kinds[].
 */
#ifndef MODEL_EVENTS_H
#define MODEL_EVENTS_H

#include "base/buf.h"
#include "base/rules.h"
#include "model/loads.h"
#include "model/names.h"

/* Keys of values, the same for all kinds; JSON and CSV have them as they are. */
enum event_value {
	VALUE_NONE,
	VALUE_BEFORE,		/* bytes in use */
	VALUE_AFTER,
	VALUE_CAPACITY,
	VALUE_REACH,		/* ns until all threads had stopped */
	VALUE_STOPPED,		/* ns that they were */
	VALUE_TIER,
	VALUE_BYTECODE,		/* bytes */
	VALUE_BCI,
	VALUE_COMPILE_ID,
	VALUE_CAUGHT,		/* whether by Java code; 0 no */
	VALUE_VALUE,		/* of a mark, whatever it means */
	VALUE_OWN,		/* ns of the duration that no load within it took */
	VALUE_LAST,		/* tid of the thread that was the last to stop */
	VALUE_NR
};

extern const char *const event_value_keys[VALUE_NR];

struct event_kind_row {
	const char *name;	/* for --log=KIND, and shown */
	const char *group;	/* of "record -e" */
	bool lasts;		/* it has a duration */
	bool has_class;		/* event.what is the name of a class */
	uint8_t values[3];	/* enum event_value: what rec_event.values[] are */
};

extern const struct event_kind_row event_kinds[EVENT_NR];

/* Sets a bit (1 << enum event_kind) for each kind of that name, or of that group; 0: there is none. */
uint32_t event_kinds_named(const char *name, size_t len);

struct event {
	uint64_t time_ns, duration_ns;	/* EVENT_UNKNOWN: it has none, or it is not known */
	uint64_t values[3];
	uint32_t kind;
	uint32_t process, thread;	/* consumers; thread 0: none */
	uint32_t tid;
	uint32_t proc_number, thread_number;	/* those of the trace */
	uint32_t what, cause;		/* strings of the model; cause may be "" */
	uint32_t labels;		/* that its thread had, as threadlabels_at() has them */
	uint32_t fields_len;		/* of a mark with named values, else 0: */
	size_t fields_at;		/* in events.fields */
	/* Strings, or "": of a load, which method caused it, and where the class came from; */
	uint32_t by, source;
	uint32_t last;			/* of a safepoint, which thread was the last to stop */
	uint32_t carrier;		/* of a load, while they are read: the kernel's thread */
	uint8_t shown;			/* enum event_shown; while they are read */
};

enum event_shown { EVENT_SHOWN, EVENT_LEFT_OUT, EVENT_NOT_SELECTED };

/* all kinds that happen at their time, unlike what was present before */
#define EVENT_KINDS_HAPPEN (~(1u << EVENT_CLASS_PRESENT))

struct events_opts {
	uint32_t kinds;			/* bits; others are left out */
	const struct selection *select;	/* by time, process, thread and filter; NULL: all */
	bool labels;			/* for events_labels(): those of threads are enough, without events */
};

struct events {
	struct names names;		/* first: it is the context of names_sink, too */
	struct model strings;
	const struct events_opts *o;
	struct window window;
	struct event *list;		/* by time */
	size_t nr, alloc;
	struct load_parts parts;	/* until they are joined to their loads */
	struct buf fields;		/* of all of them, as base/fields.h says; valid */
	uint64_t nr_all;		/* of all kinds, before any selection */
	struct filter *kept;		/* while they are read; NULL: all */
	uint64_t nr_left_out;		/* by the filter, of those that were selected */
	uint64_t nr_strange;		/* of kinds that this version does not know */
	uint64_t trace_start_ns;	/* times are shown after this */
	uint64_t start_ns, end_ns;	/* of the window, within the recording */
};

/* -ENODATA: nothing of this was recorded. */
int events_read(struct events *v, struct trace_reader *t, const struct events_opts *o, struct err *e);
void events_release(struct events *v);

/*
 * Return the next span of labels of the selected threads, thread by thread: an event without a kind, with
 * x->labels. False: there are no more. *at is 0 at first.
 */
bool events_labels(struct events *v, size_t *at, struct event *x);

const char *events_str(const struct events *v, uint32_t string);
/* Return the named values of an event, x->fields_len bytes, valid until the next is read. */
const void *events_fields(const struct events *v, const struct event *x);
/* Return them as an object of JSON in one line, for the caller to free; NULL: it has none. */
char *events_fields_json(const struct events *v, const struct event *x);
/* Return the value of that meaning; EVENT_UNKNOWN: the kind has none, or it is not known. */
uint64_t event_value(const struct event *x, enum event_value v);
/* Return its duration without those of its kind within it. */
uint64_t event_own_ns(const struct event *x);
/* Return whether it belongs to all threads of its process, such as a pause, and to no single thread. */
bool event_is_for_all(uint32_t kind);
/* Return whether events of that kind have such a value, as a tier or a size. */
bool event_has_value(uint32_t kind, enum event_value v);

#endif
