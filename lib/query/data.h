/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.h - what tables show of a trace.  Each part is read when the first table that needs it is used,
 * and stays.
 *
 * Numbers of things: processes, threads and modules have those of the trace; functions are the consumers
 * of the model, and nodes its contexts in preorder from 0, children in the order of "report --xtree".
 */
#ifndef QUERY_DATA_H
#define QUERY_DATA_H

#include "base/buf.h"
#include "base/mem.h"
#include "flow/arcs.h"
#include "model/events.h"
#include "model/profile.h"
#include "model/sched.h"

struct query_life {		/* of a process or thread; CLOCK_MONOTONIC, 0: not known */
	uint64_t start_ns, end_ns;
	uint32_t number, parent;
	uint32_t function;	/* its consumer */
};

struct query_arc {		/* a row of a stanza */
	uint32_t stanza, row;
	uint8_t list;		/* QUERY_SELF, QUERY_RSELF, else enum arc_rows */
};
enum { QUERY_SELF = ARC_NR, QUERY_RSELF };

struct query_level {		/* a function of a frame */
	uint32_t frame, level;
	uint32_t consumer;
	uint32_t file, line;	/* strtab id in the model with lines; 0: not known */
};

struct query_call {
	uint64_t start_ns, end_ns;	/* 0: it did not end */
	uint64_t base, cum;		/* of the first metric of calls */
	uint32_t tree, function;
	uint32_t parent;		/* a call; MAP_NONE: none */
	uint32_t level;
	uint8_t how;			/* enum call_event_kind: CALL_ENTERED, it did not end */
	bool open;			/* it was entered before the trace, or a loss */
};

struct query_event {
	uint64_t time_ns, delta;
	uint32_t tree, thread;		/* as the kind is: timeline.h */
	uint32_t function;		/* of the trace */
	uint16_t cpu;
	uint8_t kind, state;
};

struct query_dispatch {
	uint64_t time_ns, ran_ns, waited_ns, blocked_ns;
	uint32_t out, in;		/* threads of the trace; 0: not covered, or idle */
	uint32_t cpu, intr;
	bool is_intr, ran_known, waited_known, out_known;
	uint8_t state;
};

struct query_heap;

struct query_data {
	struct trace_reader *t;
	struct query_heap *heap;	/* in place of the trace; NULL: there is a trace */
	const struct profile_opts *profile;
	uint64_t memory_bytes, *used_bytes;	/* of all that a query asks, together */
	struct buf scratch;		/* of a text that is made when it is asked for */
	uint64_t start_ns;		/* times are since then */

	/* the model, and with it the names */
	bool has_model;
	struct model model;
	struct names names;
	struct origin origin;
	uint32_t *order;		/* [node of a table] -> node of the model */
	uint32_t *rank;			/* the other way */
	uint32_t *last, *level;		/* [node of a table] */
	uint32_t *process, *thread;	/* [node of a table]: consumers; 0: none */
	uint32_t nr_nodes;
	uint64_t total_n, total[FLOW_MAX_METRICS];
	/*
	 * The functions in the model when it was made; what is resolved later is looked up among these by
	 * name.
	 */
	uint32_t nr_functions;		/* consumers from 1 on */
	struct map function_by_name;
	struct query_life *procs, *threads;	/* [index in names.procs, names.threads] */

	/* names.c */
	bool has_lives, has_sched;	/* times of lives are filled in */
	struct sched_model sched;	/* what dispatches say of threads, where they were recorded */

	/* nodes.c */
	bool has_flat, has_arcs;
	uint32_t *flat_consumers;
	uint64_t *flat_n, *flat_sums;	/* [consumer], and base, cum, cum2: [consumer][3][metric] */
	uint32_t nr_flat;
	struct arcs arcs;
	struct query_arc *arc_rows;
	uint32_t nr_arc_rows, alloc_arc_rows;

	/* samples.c */
	bool has_samples, has_stacks;
	struct query_stack {
		uint32_t parent, frame, level;	/* frame 0: of labels alone, which is not a frame */
		uint32_t labels;		/* strtab id; 0: it begins with none */
	} *stacks;			/* [id - 1] */
	uint32_t nr_stacks, alloc_stacks;
	struct frame *frames;		/* [id]; 0: none */
	uint32_t nr_frames, alloc_frames;
	struct query_level *levels;
	uint32_t nr_levels, alloc_levels;
	struct model line_model;
	struct names line_names;

	/* events.c */
	bool has_events, has_dispatches;
	uint64_t nr_odd;		/* returns without an entry */
	struct query_event *events;
	uint32_t nr_events, alloc_events;
	struct query_call *calls;
	uint32_t nr_calls, alloc_calls;
	struct query_tree {
		uint32_t thread;	/* of the trace; 0: a virtual one */
		uint32_t consumer;	/* of the thread */
		uint32_t *open;		/* calls, outermost first */
		uint32_t nr_open, alloc_open;
	} *trees;
	uint32_t nr_trees;
	struct query_dispatch *dispatches;
	uint32_t nr_dispatches, alloc_dispatches;

	/* log.c */
	bool has_log;
	struct events log;
	struct events_opts log_opts;
};

/* *used_bytes outlives d. */
void query_data_init(struct query_data *d, struct trace_reader *t, const struct profile_opts *o,
		     uint64_t memory_bytes, uint64_t *used_bytes);
void query_data_release(struct query_data *d);

/* Make the model with its names and numbered nodes. */
int query_data_model(struct query_data *d, struct err *e);
/* Return the number of metrics with columns of their own; 0 before there is a model. */
unsigned int query_data_nr_metrics(const struct query_data *d);

/* Return the function of a consumer, which may be a later one; 0: it is none. */
uint32_t query_data_function(const struct query_data *d, uint32_t consumer);

/* Must be called before keeping bytes more for rows. -ENOMEM: memory_bytes do not suffice. */
int query_data_charge(struct query_data *d, uint64_t bytes, struct err *e);

/* Get the time since the start; return false if it is not known. */
static inline bool query_data_time(const struct query_data *d, uint64_t time_ns, uint64_t *v)
{
	*v = time_ns > d->start_ns ? time_ns - d->start_ns : 0;
	return time_ns;
}

static inline const char *query_data_str(const struct query_data *d, uint32_t id)
{
	return id ? model_str(&d->model, id) : NULL;
}

/* Return the name of a consumer; NULL for none. */
static inline const char *query_data_name(const struct query_data *d, uint32_t consumer)
{
	return consumer ? query_data_str(d, d->model.consumers.items[consumer].name) : NULL;
}

/* Set the value of an identifier column; false: NULL. */
static inline bool query_data_id(uint32_t id, uint64_t *v)
{
	*v = id;
	return id;
}

/* Set n; false: NULL, as the profile may not have it when it is 0. */
static inline bool query_data_n(const struct query_data *d, uint64_t n, uint64_t *v)
{
	*v = n;
	return n || origin_knows(&d->origin, "sample counts");
}

/* Release what the other files read. */
void query_names_release(struct query_data *d);
void query_nodes_release(struct query_data *d);
void query_samples_release(struct query_data *d);
void query_events_release(struct query_data *d);
void query_log_release(struct query_data *d);

#endif
