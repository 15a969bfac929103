/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - a file of callgrind as read_file.c takes it apart: a graph of functions, for
 * read.c.
 */
#ifndef FORMATS_CALLGRIND_READ_H
#define FORMATS_CALLGRIND_READ_H

#include "base/hash.h"
#include "formats/sink.h"

enum { CALLGRIND_MAX_EVENTS = 32 };

/* Numbers of texts; 0: none. */
struct callgrind_function {
	uint32_t name, module;
	uint32_t costs, arcs;		/* the first one's index + 1; 0: none */
	uint32_t group;			/* functions that call each other in a circle have the same */
};

/* the costs of a function itself, in a line */
struct callgrind_cost {
	uint32_t next;			/* of the function: index + 1 */
	uint32_t file, line;
	uint32_t values;		/* in values: what is consumed, of each event */
};

/* all calls from one function to another */
struct callgrind_arc {
	uint32_t next;			/* of the caller: index + 1 */
	uint32_t to;
	uint64_t calls;
	uint32_t values;		/* with what was called from there */
};

struct callgrind {
	struct strtab texts;
	struct import_text events[CALLGRIND_MAX_EVENTS];
	const char *units[CALLGRIND_MAX_EVENTS];
	size_t nr_events;
	struct import_text command;
	uint64_t said[2];		/* of the first event, by all summaries and totals of parts */
	struct callgrind_function *functions;
	size_t nr_functions, alloc_functions;
	struct callgrind_cost *costs;
	size_t nr_costs, alloc_costs;
	struct callgrind_arc *arcs;
	size_t nr_arcs, alloc_arcs;
	uint64_t *values;		/* nr_events for each cost and arc */
	size_t nr_values, alloc_values;
	struct map function_of, cost_of, arc_of;
};

/* -EINVAL: the line that is wrong. Release it also then. */
int callgrind_parse(struct callgrind *c, const char *data, size_t len, struct err *e);
void callgrind_release(struct callgrind *c);

#endif
