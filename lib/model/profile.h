/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - from a trace to a model: process and thread are the two top levels, then functions,
 * outermost first.  A trace with call trees gives those, an instruction trace the calls that its branches
 * make, any other its samples.  Samples beside calls are grafted into their trees, and counted by a metric
 * of their own: a call is not a sample.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include "base/rules.h"
#include "model/names.h"
#include "model/origin.h"
#include "model/select.h"

/* The options of the first group have these names. */
struct profile_opts {
	struct resolve_opts names;
	struct opt_list metrics;	/* empty: what calls consumed, and the first event */
	const char *by_label;		/* the key of the labels that are a level below threads; NULL: none */
	bool all_labels;		/* without by_label all of a thread are such a level; of samples */
	bool collapse_plt;		/* instruction traces: linkage stubs are part of their callers */
	bool blocks;			/* instruction traces: the blocks of functions are consumers, too */
	bool replay;			/* trees from the events of a call trace */
	bool calibrate;			/* exact calls without what counting them cost */
	bool samples;			/* and not the calls, if the trace has them */
	bool not_sampled;		/* the tree has the CPU time that no sample has; of all of it */

	/*
	 * The selection by CPUs, times and filter, and of samples by labels, where the trace has labels
	 * of threads. The rest of it belongs to the view (report/report.h). NULL: all.
	 */
	const struct selection *select;
	bool deltas;			/* what counting calls cost as metrics, where there is room */
	bool needs_deltas;		/* without room nothing is calibrated */
	bool prefer_samples;		/* as samples, if it has any */
	bool no_samples;		/* none beside calls */
	bool times;			/* each sample is in the model's times, too, */
	bool untimed;			/* also one whose time is not known */
	bool whole_functions;		/* instruction traces: no lines or kinds of code, n counts calls */
	bool all_events;		/* without metrics: as many events as fit */
	bool n_of_first;		/* more of them, but n is of the first alone: columns.h */
	const char *const *events;	/* without metrics: these, as columns.h has it */
};

/*
 * Read a model. Initialises x and m, also on failure; fills *origin, whose strings live as long as x. The
 * file is read several times, names first. Returns 0 also if the trace is damaged. -EINVAL: the trace lacks a
 * requested metric; -ENODATA: it did not record other requested data.
 */
int profile_read(struct names *x, struct model *m, struct origin *origin, struct trace_reader *t,
		 const struct profile_opts *o, struct err *e);

#endif
