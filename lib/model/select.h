/* SPDX-License-Identifier: GPL-2.0-or-later */
/* select.h - selects moments, processes, threads, modules and functions. */
#ifndef MODEL_SELECT_H
#define MODEL_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "flow/model.h"

struct rules;

/* Moments of CLOCK_MONOTONIC: [from_ns, to_ns). */
struct window {
	uint64_t from_ns, to_ns;
	uint64_t reset_ns;	/* what is older was dropped, by "arcprof ctl reset" */
};

static inline bool window_has(const struct window *w, uint64_t time_ns)
{
	return time_ns >= w->from_ns && time_ns < w->to_ns;
}

/*
 * The selection by the options of these names; zeroed, it selects all. A path must have one of each list
 * of processes, threads and functions that is not empty.
 */
struct selection {
	struct opt_list pids, tids, comms, threads, modules, symbols;
	bool off_cpu;		/* and end in a reason to wait */
	/* extended regular expressions for names of functions: one on the path must fit, or none */
	const char *focus, *ignore;
	/* of processes and levels of labels: key=value, the value a pattern; one of each key must be there */
	struct opt_list labels;
	/* of processes: patterns of paths, or groups above; of ids, or how these begin */
	struct opt_list cgroups, containers;
	/* applied where a trace is read: samples on these CPUs, */
	struct opt_list cpus;
	/* what is between these times since the start (to_ns 0: no end), or since the trace's zero point, */
	uint64_t from_ns, to_ns;
	bool from_zero;		/* which "arcprof ctl zero" set last */
	/* and of events and samples what these rules keep: model/filter.h; NULL: all. */
	const struct rules *filter;
};

enum select_bits {		/* the lists of a selection */
	SELECT_PID = 1 << 0,
	SELECT_COMM = 1 << 1,
	SELECT_TID = 1 << 2,
	SELECT_THREAD = 1 << 3,
	SELECT_MODULE = 1 << 4,
	SELECT_SYMBOL = 1 << 5,
	SELECT_OFF_CPU = 1 << 6,
	SELECT_LABEL = 1 << 7,	/* of the first key; of each further one the next bit */
	SELECT_LABELS = 0x3fffff80,
	SELECT_GROUP = 1 << 30,		/* a control group, and a container */
	SELECT_BY_THREAD = SELECT_PID | SELECT_COMM | SELECT_TID | SELECT_THREAD | SELECT_LABELS |
			   SELECT_GROUP,
};

enum { SELECT_MAX_LABELS = 23 };	/* keys */

/* Lists of numbers, and of names with the shell's patterns; an empty list selects all. */
bool select_number(const struct opt_list *l, uint32_t nr);
bool select_name(const struct opt_list *l, const char *name);
/* Do the same for a module, by its path or the last part of that. */
bool select_module(const struct opt_list *l, const char *path);

/*
 * Return whether it is the end of a stack of the source "wall" in which the thread waited, and neither ran
 * nor was ready to.
 */
bool consumer_is_wait(const struct model *m, uint32_t consumer);

/*
 * Match a function by the last parts of its name, as debuggers do: "toJson" and "Json.toJson" are
 * "com.x.Json.toJson", "f" is "ns::f(int)". Patterns are not matched so.
 */
bool select_function_part(const struct opt_list *l, const char *name);

/* Match the labels "key=value,..." that something has: of each key in the list one must fit. */
bool select_labels(const struct opt_list *l, const char *labels);

/* Return whether only a part of the recording's time is selected. */
static inline bool selection_has_window(const struct selection *s)
{
	return s->from_ns || s->from_zero || s->to_ns;
}

/*
 * Return whether its numbers and names of processes and threads select these; its labels and groups are
 * not used.
 */
bool selection_has_names(const struct selection *s, uint32_t pid, uint32_t tid, const char *comm,
			 const char *thread);
/* Return the lists that are not empty, as enum select_bits. */
uint32_t selection_wants(const struct selection *s);
/* Return the lists that the consumer is in; a function is in modules, too. */
uint32_t selection_has(const struct selection *s, const struct model *m, uint32_t consumer);
/* Return whether the lists of processes and threads select this process and thread of the model. */
bool selection_has_thread(const struct selection *s, const struct model *m, uint32_t process,
			  uint32_t thread);

#endif
