/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples.h - samples become nodes of a model: below process and thread the frames outermost first, inlined
 * ones in their places; a mark stands where outer frames are missing.  n counts samples, at the innermost
 * context of each; base is the sum of their weights.
 */
#ifndef MODEL_SAMPLES_H
#define MODEL_SAMPLES_H

#include "base/mem.h"
#include "model/account.h"
#include "model/columns.h"

struct filter;
struct graft;

struct samples_opts {
	const struct event_columns *columns;
	const struct window *window;
	const struct opt_list *cpus;	/* NULL or empty: all */
	const struct opt_list *labels;	/* NULL or empty: all; else only of threads that have these */
	const char *by_label;		/* NULL, or the key of labels that are a level below threads */
	bool all_labels;		/* all that a thread has are such a level, if it has any */
	struct graft *graft;		/* samples go into a tree of calls; NULL: they are alone */
	bool times;			/* each is in the model's times, too, */
	bool untimed;			/* also one whose time is not known */
	struct filter *filter;		/* NULL: all are wanted */
	/* gets what samples of each thread are; NULL: nobody asks */
	const struct account_samples *sampled;
};

/* what was seen */
struct samples_seen {
	uint64_t nr_read;		/* of the first metric, before the selection by time and CPU */
	uint64_t nr_unknown;		/* of events the trace does not name */
	uint64_t nr_left_out;		/* by the filter, of all metrics wanted */
	uint64_t weight_of_event[ACCOUNT_MAX_EVENTS];	/* before any selection */
	uint64_t own_ns;		/* of the event wall, left out as they are of arcprof's own threads */
	uint64_t nr_missing;		/* in contexts that the tree of calls does not have */
	uint64_t nr_of_event[ARRAY_SIZE(((struct event_columns *)NULL)->column_of)];
	bool has_event[ARRAY_SIZE(((struct event_columns *)NULL)->column_of)];	/* also without a number */
	uint64_t first_ns, last_ns;
};

struct samples;

/*
 * Prepare; x must be read; o->columns, o->labels, o->by_label and o->graft are borrowed until samples_free().
 * -EINVAL: invalid CPU in the list.
 */
int samples_new(struct samples **out, struct names *x, const struct samples_opts *o, struct err *e);
/* Take samples, as a callback for trace_sink.samples; ctx is the struct samples. */
int samples_take(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep);
/* Put all samples into the model; more may come. */
void samples_flush(struct samples *s);
/*
 * Give the model a new, empty tree for what comes, after samples_flush(). What frames stand for stays
 * known. Not with a graft.
 */
void samples_new_tree(struct samples *s);
/* Put all samples into the model, whose tree is not finished by that, and free s. */
void samples_free(struct samples *s, struct samples_seen *seen);

#endif
