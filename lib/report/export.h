/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - a view as the formats of other programs want it: tables of modules, functions and
 * locations, values of contexts, and samples thread by thread.
 *
 * A location is a function together with the functions inlined into it.  It has no address, because
 * the tree of contexts has none.  Only what was asked for is in the tables.
 */
#ifndef REPORT_EXPORT_H
#define REPORT_EXPORT_H

#include "model/names.h"
#include "report/report.h"

struct export {
	const struct view *v;
	/* all names, with control characters and bytes that are not UTF-8 escaped */
	struct strtab strings;
	struct map module_of, function_of, location_of;		/* -> id, from 1 */
	struct strtab location_ids;	/* their bytes: no two are the same */
	struct export_module {		/* [id - 1], as all of these */
		uint32_t path;		/* id of a string */
		char build_id[2 * BUILD_ID_MAX + 1];	/* in hex; empty: not known */
	} *modules;
	size_t nr_modules, alloc_modules;
	struct export_function {
		uint32_t name, file;	/* ids of strings; file 0: not known */
	} *functions;
	size_t nr_functions, alloc_functions;
	struct export_location {
		uint32_t caller;	/* the location that it is inlined in; 0: in none */
		uint32_t function;
		uint32_t kind;		/* enum consumer_kind */
		uint32_t line;		/* 0: not known */
		uint32_t module;	/* where the code is; 0: in no file */
	} *locations;
	size_t nr_locations, alloc_locations;
	uint32_t *location_at;		/* [node] */
	struct buf escaped;
};

void export_init(struct export *x, const struct view *v);
void export_release(struct export *x);

/* Return the id of a text in x->strings; 0 is the empty one. */
uint32_t export_string(struct export *x, const char *s);
static inline const char *export_str(const struct export *x, uint32_t id)
{
	return strtab_get(&x->strings, id);
}
/* Return the location of a node; *caller becomes the first node outside it: FLOW_NONE, or a root. */
uint32_t export_location(struct export *x, uint32_t node, uint32_t *caller);

/*
 * Return whether a consumer is a process, a thread or a host rather than a function; labels count as roots
 * where the format has a place for them.
 */
bool export_is_root(const struct view *v, uint32_t consumer);
/* The labels that samples below a root have: of their thread, then of their process. */
struct export_labels {
	const struct view *v;
	uint32_t node;			/* where the next are looked for */
	bool own;			/* not of the process */
	const char *next;		/* labels of the node before it; NULL: none */
	struct buf key, value;		/* the label */
};
void export_labels_init(struct export_labels *l, const struct view *v, uint32_t root, bool own);
bool export_labels_next(struct export_labels *l);
void export_labels_release(struct export_labels *l);
/* Return the thread or process at or above the node: the root that is not a label. */
uint32_t export_thread(const struct view *v, uint32_t node);
/* Return the process at or above the node, or FLOW_NONE. */
uint32_t export_process(const struct view *v, uint32_t node);
/*
 * Append "java [pid 42] main [tid 43]": the roots from the outermost on, as reports name them; may be empty.
 */
void export_root_name(const struct view *v, uint32_t root, struct buf *b);
static inline uint32_t export_pid(const struct consumer *process)
{
	return process->key >> 32;
}
static inline uint32_t export_tid(const struct consumer *thread)
{
	return (uint32_t)thread->key;
}

/*
 * Return the number of values: the metrics, and n of all sources but the first. Calibrated costs are not
 * exported.
 */
unsigned int export_nr_values(const struct view *v);
/* Return whether n of the first source is exported, too: not if the first metric is that number. */
bool export_has_n(const struct view *v);
/* Return n of the node. In calls of a trace, a thread's root has a 1 for its start, which is not a call. */
uint64_t export_n(const struct view *v, uint32_t node);
/* Return the unit of a metric as pprof and formats after it call it: "nanoseconds", "count", "bytes". */
const char *export_unit(const char *unit);

/*
 * The samples of one metric, thread by thread as reports sort them, in each by time.  A metric that has
 * no times of samples has a sample for each context with a base, in the order of the tree.  Of a model
 * that consumed nothing, the weights are n, as in folded stacks.
 */
struct export_samples {
	bool timed, by_n;
	struct export_track {
		uint32_t root;		/* node of a process or thread; FLOW_NONE: of neither */
		size_t first, nr;
		uint64_t total;		/* of the weights */
	} *tracks;
	size_t nr_tracks, alloc_tracks;
	size_t nr;			/* of all tracks */
	uint32_t *track_of;		/* [node]: index in tracks */
	/* of timed ones the model's, by index; of others: */
	const struct flow_times *times;
	uint32_t *order;
	struct export_sample {
		uint64_t time_ns;	/* since the start; 0 unless timed */
		uint64_t weight;
		uint32_t node;
	} *list;
	size_t alloc_list;
};

/* Sorts the times of the model's samples. */
void export_samples_init(struct export_samples *s, const struct view *v, unsigned int metric);
void export_samples_release(struct export_samples *s);
struct export_sample export_sample(const struct export_samples *s, size_t i);
/* Brings those of a track whose nodes have the same rank together: [node]. */
void export_samples_regroup(struct export_samples *s, const uint32_t *rank);

/*
 * Stacks as a tree: the innermost frame, and the stack of its caller, which has a lower number.  What is
 * inlined is a frame of its own.
 */
struct export_stacks {
	struct export *x;		/* borrowed */
	struct map number_of;		/* number of the caller and location -> number, from 1 */
	struct export_stack {
		uint32_t caller;	/* 0: none */
		uint32_t location;
	} *list;			/* [number - 1] */
	size_t nr_list, alloc_list;
	uint32_t *at;			/* [node]: number; 0: not looked up */
};

void export_stacks_init(struct export_stacks *s, struct export *x);
void export_stacks_release(struct export_stacks *s);
/* Number of the node's stack; a process or thread that is in no function is a frame itself. */
uint32_t export_stack(struct export_stacks *s, uint32_t node);

/* Says what the format has no place for; the command tells the user. */
void export_lacks(struct view *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
