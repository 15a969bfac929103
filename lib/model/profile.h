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

struct profile_opts {
	struct resolve_opts names;
	const struct opt_list *metrics;	/* NULL or empty: what calls consumed, and the first event */
	const struct opt_list *cpus;	/* NULL or empty: all */
	/* of samples: only of threads with these labels, where the trace has labels of threads; NULL: all */
	const struct opt_list *labels;
	const char *by_label;		/* and the key of those that are a level below threads; NULL: none */
	uint64_t from_ns, to_ns;	/* since the start, or SELECT_FROM_ZERO; to 0: no end */
	bool collapse_plt;		/* instruction traces: linkage stubs are part of their callers */
	bool replay;			/* trees from the events of a call trace */
	bool calibrate;			/* exact calls without what counting them cost */
	bool deltas;			/* and that as metrics of its own, where there is room */
	bool needs_deltas;		/* without room nothing is calibrated */
	bool samples;			/* and not the calls, if the trace has them */
	bool prefer_samples;		/* the same, if it has samples */
	bool no_samples;		/* nor samples beside calls */
	bool not_sampled;		/* the tree has the CPU time that no sample has; of all of it */
	bool times;			/* each sample is in the model's times, too */
	bool whole_functions;		/* instruction traces: no lines or kinds of code, n counts calls */
	bool all_events;		/* without metrics: as many events as fit */
	const char *const *events;	/* without metrics: these, as columns.h has it */
	const struct rules *filter;	/* of samples and calls; NULL or none: all */
};

/*
 * Initialises x and m, also when it fails; fills *origin, whose strings live as long as x.  The file is read
 * several times, names first.  0 also if the trace is damaged.  -EINVAL: the trace does not have a
 * requested metric; -ENODATA: or did not record other requested data.
 */
int profile_read(struct names *x, struct model *m, struct origin *origin, struct trace_reader *t,
		 const struct profile_opts *o, struct err *e);

#endif
