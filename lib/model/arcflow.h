/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arcflow.h - from the branches of an instruction trace to a model: n counts calls, the metric is
 * instructions.  Documentation/technical/instruction-trace.adoc says how calls and
 * returns are matched.
 */
#ifndef MODEL_ARCFLOW_H
#define MODEL_ARCFLOW_H

#include "model/branches.h"
#include "model/names.h"
#include "model/origin.h"

struct arcflow_frame {
	uint32_t node;
	uint32_t block;		/* the node of the block that ran in it last; 0: blocks have none */
	uint32_t function;	/* consumer */
	uint64_t ret;		/* where its caller goes on; 0 unknown */
	bool handler;		/* entered by a signal */
	bool bracket;		/* the method whose call is traced, in whatever code it runs */
};

struct arcflow_thread {
	uint32_t root;		/* the thread's node */
	uint32_t process, thread;	/* consumers */
	struct arcflow_frame *stack;
	size_t nr_stack, alloc_stack;
	enum branch_kind last;	/* how the block before ended; BRANCH_STOP at first */
	uint64_t last_end, last_to;
};

struct arcflow {
	struct model *m;
	struct names *names;
	bool collapse_plt;		/* a linkage stub is part of its caller */
	bool blocks;		/* each block of a function is a node below it, and above what it calls */
	bool brackets;		/* pieces: what called them is not known, and not the same each time */
	struct arcflow_thread *threads;
	size_t nr_threads, alloc_threads;
	struct map thread_of;	/* number of the trace -> index in threads */
	struct flow_repairs repairs;
	uint64_t nr_insns;
};

/* Prepare to build the tree of m anew; names' strings are m's. */
void arcflow_init(struct arcflow *a, struct names *names, bool collapse_plt, bool blocks);
int arcflow_block(void *a, const struct block *b);	/* a block_fn */
void arcflow_finish(struct arcflow *a);
void arcflow_release(struct arcflow *a);

/* ---- the model of an instruction trace, for profile_read() ---- */

struct profile_opts;

/*
 * x is filled, and does not show inlined functions from here on: n counts calls, the metric is
 * instructions.  Fills *origin.  Of o it knows collapse_plt and blocks, with which a second metric counts how
 * often each ran.
 */
int itrace_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct window *w,
		const struct profile_opts *o, struct err *e);

#endif
