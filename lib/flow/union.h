/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * union.h - several models become one, whose tree has every context of every input.
 *
 *	union_init(&u, &m, &opts);
 *	union_add(&u, &input, side, where, &e);	of each input, which may be released now
 *	union_finish(&u);			m is a model like any other
 *	union_release(&u);
 *
 * Contexts are the same when their consumers are, from the root down; opts->identify says who is the same
 * (lib/model/same.h does for models of traces). Contexts of one input that are the same are added.
 *
 * Added (merge): without names of sides. Metrics of the same name, unit and source are added, and so is n of
 * sources of the same name and kind; the others stand beside each other. The sums do not depend on the order
 * of inputs, nor on which are united first; only the order of nodes, metrics and sources does (calls always
 * come first). Memory is that of the result and of one input.
 *
 * Side by side (diff): with a name for each side; repeated runs of one side are added. Each side has metrics
 * and sources of its own, "cpu.A" beside "cpu.B", and union_column() finds them. Who needs single runs keeps
 * the inputs, and their where[].
 *
 * Joined (blend): without names, as the inputs have different sources: exact calls stand beside samples of
 * an undisturbed run. Each is a side all the same, and union_has() tells which contexts both have: what
 * a side consumed in the others is its unmatched share.
 *
 * Nothing of time is kept (struct flow_times), nor what calibration took: values are as the inputs show
 * them.
 */
#ifndef FLOW_UNION_H
#define FLOW_UNION_H

#include "base/err.h"
#include "flow/model.h"

#define UNION_MAX_SIDES 8

struct union_opts {
	const char *const *sides;	/* their names, borrowed; NULL: metrics of all sides are added */
	/*
	 * Fills *x with what all consumers that count as the same as that one of the model from have in
	 * common, with names in to. Applied again it must change nothing. NULL: all but equal ones
	 * differ.
	 */
	void (*identify)(const void *ctx, const struct model *from, uint32_t consumer, struct strtab *to,
			 struct consumer *x);
	const void *ctx;
};

struct model_union {
	struct model *m;
	struct union_opts o;
	struct flow flow;		/* rows of columns[], which union_finish() puts in order */
	struct union_source {
		uint32_t name;
		enum flow_n kind;
		unsigned int side;	/* 0 without names */
	} sources[FLOW_MAX_METRICS];
	unsigned int nr_sources;
	struct union_column {
		uint32_t name, unit;
		unsigned int source;
		bool is_n;		/* of the source, which is not the first */
	} columns[FLOW_MAX_METRICS];
	unsigned int nr_columns;
	/* The consumers of the result while they are identities: */
	struct consumer *shown;		/* [consumer]: with all that its members have in common */
	size_t nr_shown, alloc_shown;
	uint8_t *has;			/* [node]: bits of sides */
	size_t alloc_has;
	unsigned int nr_inputs;
};

/* Initialise u and m; m is a model after union_finish(), for the caller to release. */
void union_init(struct model_union *u, struct model *m, const struct union_opts *o);

/*
 * Adds a finished model to a side. where[from->flow.nr_nodes], unless NULL, becomes the node of the union for
 * each of its nodes; the numbers stay when others are added. -E2BIG: there are more metrics and sources than
 * a model can have; nothing was added.
 */
int union_add(struct model_union *u, const struct model *from, unsigned int side, uint32_t *where,
	      struct err *e);

/*
 * Finish the model, with the nodes as they were numbered. A consumer has the kind, module and key that all
 * its members had, else what identify() gave. Without inputs it is empty.
 */
void union_finish(struct model_union *u);
void union_release(struct model_union *u);

/* Return whether a side has that context. */
static inline bool union_has(const struct model_union *u, unsigned int side, uint32_t node)
{
	return u->has[node] >> side & 1;
}

/*
 * Return, after union_finish(), the metric of m that holds this metric of a side, as its inputs call it;
 * nr_shown: none.
 */
unsigned int union_column(const struct model_union *u, unsigned int side, const char *metric);

#endif
