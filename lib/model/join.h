/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.h - requests that cross processes: models in which a label, such as a trace id, is a level below
 * threads (profile_opts.by_label) are joined before they are merged.
 *
 * What a thread did for a value of the label goes below the context of an earlier model that had the same
 * value: below a node [rpc], with its process and thread, which say whose it is. The context is the one that
 * waited longest with that value, of the source wall; else the deepest that all samples of the value passed
 * through and none ended in. Of several models that have the value it is the last one before. Contexts are
 * moved, never copied: the values of the result add up to those of the models. The level of labels is gone.
 *
 * A value "IN>OUT" is of a thread that serves the call IN, and waits for the call OUT, either of which may
 * be missing: it goes below the context of IN, and what has OUT as its IN goes below its context. Any other
 * value is both.
 */
#ifndef MODEL_JOIN_H
#define MODEL_JOIN_H

#include "base/hash.h"
#include "flow/model.h"

#define JOIN_NODE "[rpc]"

struct join {
	const char *key;		/* borrowed */
	struct model places;		/* contexts of earlier models, from the root on */
	struct map place_of;		/* strtab id of "key=OUT" in places -> node of it */
	/*
	 * Counts of the last model: values of the label with an IN, and how many of them an earlier model
	 * has;
	 */
	size_t nr_values, nr_joined;
	bool is_labelled;		/* whether it has the label at all */
};

void join_init(struct join *j, const char *key);
/* Rewrites the model, which is finished before and after. Who calls comes before who is called. */
void join_model(struct join *j, struct model *m);
void join_release(struct join *j);

#endif
